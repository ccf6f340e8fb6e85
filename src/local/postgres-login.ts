import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_HOST } from './ports.ts';

/** Owner of everything in the local stack's own Postgres. */
export const LOCAL_SUPERUSER = 'holdfast';

/** In the cluster's folder, readable by its owner only: the password is stored nowhere else. */
export const PASSWORD_FILE = 'holdfast-password';

/** Connection URL of a database of the local Postgres, with the password: for connecting, not for printing or storing. */
export function localDatabaseUrl(dataDirectory: string, port: number, database: string): string {
  const password = readFileSync(join(dataDirectory, PASSWORD_FILE), 'utf8').trim();
  return `postgresql://${LOCAL_SUPERUSER}:${password}@${LOCAL_HOST}:${port}/${encodeURIComponent(database)}`;
}
