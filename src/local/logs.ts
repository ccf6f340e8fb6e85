import { readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** One older file is kept per service, so the logs of a service take at most about twice this. */
const LARGEST_LOG_BYTES = 10_000_000;

/** Before a start: moves logs that have grown large to `<name>.log.1`. */
export async function rotateLogs(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    if (name.endsWith('.log') && (await stat(path)).size > LARGEST_LOG_BYTES) await rename(path, `${path}.1`);
  }
}
