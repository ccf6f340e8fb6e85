import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { STATE_FOLDER, readStack } from '../src/local/stack-file.ts';
import { isStackRunning } from '../src/local/stack.ts';
import { makeDirectory } from '../src/local/state-directory.ts';
import type { Database } from '../src/store/database/database.ts';

/** Marks a folder that stays until somebody deletes it. */
export const KEPT_MARK = 'kept';

/** Servers of the user's own are not for programs that kill, fill and delete. */
const SERVER_VARIABLES = /^(?:DATABASE_URL|TEMPORAL_.*|HOLDFAST_(?!TEMPORAL_CLI$|RUN$|COMPATIBLE_).*)$/u;

export function withoutServers(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !SERVER_VARIABLES.test(name)));
}

/** An empty folder in the state folder of the project, for servers of this process's own. Folders that killed processes left are removed. */
export async function makeOwnDirectory(prefix: string): Promise<string> {
  const state = join(process.cwd(), STATE_FOLDER);
  await makeDirectory(state);
  for (const name of (await readdir(state)).filter((each) => each.startsWith(prefix))) {
    const directory = join(state, name);
    const isKept = (await readdir(directory)).includes(KEPT_MARK);
    if (!isKept && !isStackRunning(directory) && !isAlive(Number(name.slice(prefix.length))))
      await removeOwnDirectory(directory);
  }
  const directory = join(state, `${prefix}${process.pid}`);
  await removeOwnDirectory(directory);
  await mkdir(directory, { mode: 0o755 });
  return directory;
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    // No such process, or one of another user's, which is none of ours.
    return false;
  }
}

/** Waits until Postgres has been up for ten seconds: before that nobody takes a killed worker for dead (`renewSession`). */
export async function untilDeathsCount(database: Database): Promise<void> {
  await database`select pg_sleep_until(pg_postmaster_start_time() + interval '10 seconds')`;
}

/** Removes the folder, and Postgres's data where the stack had to put it elsewhere. */
export async function removeOwnDirectory(directory: string): Promise<void> {
  const data = readStack(directory)?.postgres?.dataDirectory ?? null;
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  if (data !== null && !data.startsWith(directory)) {
    await rm(dirname(data), { recursive: true, force: true, maxRetries: 3 });
  }
}
