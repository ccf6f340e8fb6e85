import { chmod, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where root keeps what an unprivileged user must reach: state that survives a restart, by each system's convention. */
const SYSTEM_STATE_DIRECTORY = process.platform === 'darwin' ? '/usr/local/var/holdfast' : '/var/lib/holdfast';

/**
 * A folder of root's that every user can pass through, for a project in a closed home directory. Falls back to the temporary
 * folder where the system's own state folder is read-only (some containers).
 */
export async function sharedDirectory(): Promise<string> {
  const fallback = join(tmpdir(), 'holdfast-0');
  for (const directory of [SYSTEM_STATE_DIRECTORY, fallback]) {
    try {
      await mkdir(directory, { recursive: true });
      await chmod(directory, 0o755);
      return directory;
    } catch (error) {
      if (directory === fallback) throw error;
    }
  }
  return fallback;
}
