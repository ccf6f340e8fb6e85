import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Folder of the local stack's state, inside a project. */
export const STATE_FOLDER = '.holdfast';

/**
 * The state folder that a command means: `HOLDFAST_DIRECTORY`, else `.holdfast` in the nearest folder upwards that has one, as
 * git does it, else `.holdfast` here.
 */
export function stateDirectory(environment: NodeJS.ProcessEnv = process.env, from: string = process.cwd()): string {
  const named = environment['HOLDFAST_DIRECTORY'];
  if (named !== undefined && named !== '') return resolve(named);
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (existsSync(join(folder, STATE_FOLDER, 'stack.json'))) return join(folder, STATE_FOLDER);
    if (dirname(folder) === folder) return join(resolve(from), STATE_FOLDER);
  }
}

export function stackFilePath(directory: string): string {
  return join(directory, 'stack.json');
}
