import { open, stat } from 'node:fs/promises';

/**
 * Notes where a log ends now. The returned function reads what was written since: what the process that is started next says,
 * not an earlier one.
 */
export async function followLog(path: string): Promise<() => Promise<string>> {
  const start = (await stat(path).catch(() => null))?.size ?? 0;
  return async () => {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const { buffer, bytesRead } = await file.read({
        buffer: Buffer.alloc(Math.max(0, size - start)),
        position: start,
      });
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  };
}

/** Lines of a program's last words at most: an error of Holdfast's commands is shorter, a stack trace is not. */
const MOST_LINES = 12;

/**
 * What a program said last to a person: its last error, else its last three lines. Records of a log in JSON are left out
 * when there is anything else. `null`: it said nothing.
 */
export function lastWords(log: string): string | null {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  const said = lines.filter((line) => !line.startsWith('{'));
  const error = said.findLastIndex((line) => /^(?:error\b|\w*Error\b)/u.test(line));
  const words = error === -1 ? said.slice(-3) : said.slice(error, error + MOST_LINES);
  return (words.length > 0 ? words : lines.slice(-1)).join('\n') || null;
}
