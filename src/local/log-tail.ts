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
