import { chmod, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StackError } from './stack-error.ts';

/** Where root keeps what an unprivileged user must reach: state that survives a restart, by each system's convention. */
const SYSTEM_STATE_DIRECTORY = process.platform === 'darwin' ? '/usr/local/var/holdfast' : '/var/lib/holdfast';

/** Everyone may pass through, and nobody but its owner sees what is in it. */
const MODE = 0o711;

/**
 * A folder of root's that every user can pass through, for a project in a closed home directory. Falls back to the temporary
 * folder where the system's own state folder is read-only (some containers).
 *
 * @param candidates paths to try, in order. Default: the system's and the fallback
 * @throws StackError `directory_untrusted` when it is not ours alone: anyone can make a folder in the temporary one first
 */
export async function sharedDirectory(
  candidates: readonly string[] = [SYSTEM_STATE_DIRECTORY, join(tmpdir(), 'holdfast-0')],
): Promise<string> {
  let failure: unknown;
  for (const directory of candidates) {
    try {
      await mkdir(directory, { recursive: true, mode: MODE });
    } catch (error) {
      failure = error;
      continue;
    }
    await requireOwn(directory);
    await chmod(directory, MODE);
    return directory;
  }
  throw failure;
}

async function requireOwn(directory: string): Promise<void> {
  const found = await lstat(directory);
  if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) return;
  const what = !found.isDirectory()
    ? 'is no folder'
    : found.uid === process.getuid?.()
      ? 'can be written by others'
      : `belongs to user ${found.uid}`;
  throw new StackError(
    'directory_untrusted',
    `${directory} ${what}: programs that Holdfast starts from there could be somebody else's.`,
    'Look at it and remove it.',
  );
}
