import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { diskFullError, isDiskFull } from './full-disk.ts';
import { canReach } from './postgres/postgres-binaries.ts';
import { sharedDirectory } from './shared-directory.ts';
import { errorCode, StackError } from './stack-error.ts';
import { userForPostgres } from './postgres/unprivileged-user.ts';

/** Passwords, logs and workflows are nobody else's. Root's Postgres runs as another user, who must get through to its data. */
const STATE_MODE = process.getuid?.() === 0 ? 0o711 : 0o700;

/**
 * Makes a folder that others cannot read; a refusal of the system becomes one clear message.
 * @throws StackError `disk_full`, `directory_unusable`
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await makeWithParents(path);
    // A folder that was there for something else keeps its mode.
    if (existsSync(join(path, 'stack.json'))) await chmod(path, STATE_MODE);
  } catch (error) {
    throw directoryRefused(path, error);
  }
}

/** Not by `recursive`, with which Node 20 never returns for a path in /proc: `mkdir` says there that a parent is missing. */
async function makeWithParents(path: string): Promise<void> {
  try {
    await mkdir(path);
    // The umask may have taken more away.
    await chmod(path, STATE_MODE);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    await makeWithParents(dirname(path));
    await makeWithParents(path);
  }
}

/** What the system's refusal to write in a folder means for the user; an error that is no refusal comes back as it is. */
export function directoryRefused(path: string, error: unknown): unknown {
  const code = errorCode(error);
  if (error instanceof StackError || code === null) return error;
  if (isDiskFull(error)) return diskFullError(path, error);
  const reason = code === 'EEXIST' ? 'it is a file' : code;
  return new StackError(
    'directory_unusable',
    `${path} cannot be the folder of the local stack (${reason}).`,
    'Name one that you may write, with --directory or HOLDFAST_DIRECTORY, or run in another folder.',
    { cause: error },
  );
}

/**
 * Folder of the local Postgres's data: `postgres` in the state folder. When root runs the stack in a place that is closed to the
 * unprivileged user (a clone in /root), a folder of the system's that the user can reach, named after the state folder.
 *
 * @param remembered where the data of an earlier start lies: it is never abandoned for an empty folder elsewhere.
 * @throws StackError `no_permission` when the remembered data can no longer be reached.
 */
export async function postgresDataDirectory(stateDirectory: string, remembered: string | null): Promise<string> {
  const user = await userForPostgres();
  if (remembered !== null && existsSync(join(remembered, 'PG_VERSION'))) {
    if (user === null || canReach(user, dirname(remembered))) return remembered;
    throw new StackError(
      'no_permission',
      `The user ${user.name}, as whom Postgres runs, can no longer reach its data in ${remembered}.`,
      `Open the folders above it (chmod o+x), or move the data away to start with an empty database.`,
    );
  }
  if (user === null || canReach(user, stateDirectory)) return join(stateDirectory, 'postgres');
  const digest = createHash('sha256').update(stateDirectory).digest('hex').slice(0, 8);
  const directory = join(await sharedDirectory(), `${basename(dirname(stateDirectory))}-${digest}`);
  await makeDirectory(directory);
  return join(directory, 'postgres');
}
