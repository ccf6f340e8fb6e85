import { rm, writeFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { describeError } from '../activities/runtime/activity-error.ts';

/** The check of the container image calls a worker dead whose file is older than 30 seconds. */
const INTERVAL_MILLISECONDS = 5_000;

/**
 * Writes a file again and again while a worker runs, so that a health check can tell from its age that the worker is alive
 * without starting a program of its own. The file is gone when the worker has ended.
 * @param path absolute or relative to the working directory
 */
export function keepHealthFile(
  path: string,
  { ended, logger, interval = INTERVAL_MILLISECONDS }: { ended: Promise<void>; logger: Logger; interval?: number },
): void {
  const write = (): Promise<void> =>
    writeFile(path, `${process.pid}\n`).catch((error: unknown) =>
      logger.warn(describeError(error), 'the health file could not be written'),
    );
  let last = write();
  const timer = setInterval(() => {
    last = write();
  }, interval);
  const end = async (): Promise<void> => {
    clearInterval(timer);
    await last;
    await rm(path, { force: true });
  };
  void ended.then(end, end);
}
