import type { Logger } from 'pino';
import type { RunningWorker } from './start-worker.ts';

/** Milliseconds for calls to end before the process does: a query on the broken connection never would. */
const GRACE_MILLISECONDS = 5_000;

/**
 * Whether an error is that of postgres.js 3.4.9 writing to a connection that the server has closed. It is thrown from a
 * callback, so no caller can catch it, and the connection stays useless (porsager/postgres issues 1066, 1154, 1208).
 * `src/store/database-sockets.ts` keeps it from happening, but sees nothing under TLS.
 */
export function isDriverFault(error: unknown): boolean {
  return (
    error instanceof TypeError &&
    error.message === "Cannot read properties of null (reading 'write')" &&
    /^\s+at (?:Immediate\.)?nextWrite \(.*[/\\]postgres[/\\](?:cjs[/\\])?src[/\\]connection\.js:/mu.test(
      error.stack ?? '',
    )
  );
}

/**
 * From here on such an error ends the worker in order, with exit code 1, instead of cutting off all that runs: it takes no
 * more work, and calls get five seconds. Whoever supervises the worker starts it again. Every other error ends the process as before.
 */
export function endOnDriverFault(worker: RunningWorker, logger: Logger): void {
  process.on('uncaughtException', (error) => {
    if (!isDriverFault(error)) throw error;
    logger.fatal(
      { code: 'database_driver_fault' },
      'the Postgres driver broke on a closed connection: this worker ends and must be started again',
    );
    setTimeout(() => process.exit(1), GRACE_MILLISECONDS);
    worker.shutdown();
    void worker.ended.finally(() => process.exit(1));
  });
}
