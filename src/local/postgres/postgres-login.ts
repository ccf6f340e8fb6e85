import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_HOST } from '../ports.ts';

/** Owner of everything in the local stack's own Postgres. */
export const LOCAL_SUPERUSER = 'holdfast';

/** In the cluster's folder, readable by its owner only: the password is stored nowhere else. */
export const PASSWORD_FILE = 'holdfast-password';

/**
 * What a connection URL ends with so that its connections run as the role of the application: it owns nothing, and its log is
 * append-only. The login must be a member of the role, as a superuser is.
 */
export const AS_APPLICATION = '?options=-c%20role%3Dholdfast_app';

/** Connection URL of a database of the local Postgres as its superuser, with the password: for connecting, not for printing or storing. */
export function localDatabaseUrl(dataDirectory: string, port: number, database: string): string {
  const password = readFileSync(join(dataDirectory, PASSWORD_FILE), 'utf8').trim();
  return `postgresql://${LOCAL_SUPERUSER}:${password}@${LOCAL_HOST}:${port}/${encodeURIComponent(database)}`;
}
