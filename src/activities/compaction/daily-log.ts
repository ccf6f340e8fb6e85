import { appendFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Adds a summary to the day's log in a folder of the workspace, if the folder exists. The id in the
 * heading tells a repeated try what it wrote already. A file system that refuses loses no more than
 * this copy: the summary itself is stored.
 *
 * @returns whether the log has the summary now
 */
export async function appendDailyLog(entry: {
  /** Absolute path. */
  readonly folder: string;
  readonly compactionId: string;
  readonly text: string;
  /** ISO time. */
  readonly at: string;
}): Promise<boolean> {
  const { folder, compactionId, text, at } = entry;
  try {
    if (!(await stat(folder)).isDirectory()) return false;
    const path = join(folder, `${at.slice(0, 10)}.md`);
    const written = await readFile(path, 'utf8').catch(() => '');
    if (!written.includes(compactionId))
      await appendFile(path, `\n<!-- summary ${compactionId} ${at} -->\n\n${text}\n`);
    return true;
  } catch {
    // No such folder, or it may not be written to.
    return false;
  }
}
