import type { GuardedProcess } from './guarded-process.ts';
import { lastWords } from './log-tail.ts';
import { describeExit } from './process-signals.ts';
import { StackError } from './stack-error.ts';

export interface ReadinessOptions {
  /** For messages: `simulator`. */
  readonly name: string;
  readonly process: GuardedProcess;
  readonly logFile: string;
  /** What the process has written to its log. */
  readonly readLog: () => Promise<string>;
  readonly isReady: () => Promise<boolean>;
  /** Ends the wait; the process is stopped then. */
  readonly signal?: AbortSignal | undefined;
}

const POLL_MILLISECONDS = 50;
/** Of Postgres with its crash recovery. */
export const START_TIMEOUT_MILLISECONDS = 60_000;

/**
 * Polls until the process is ready; stops it when it is not in time, or when it is no longer wanted.
 *
 * @throws StackError `service_failed` with its last words when the process ends before, or the time is up.
 */
export async function waitUntilReady(options: ReadinessOptions): Promise<void> {
  const { name, process, logFile, signal } = options;
  let status: number | null | undefined;
  void process.exited.then((exit) => (status = exit.status));
  const end = performance.now() + START_TIMEOUT_MILLISECONDS;
  for (;;) {
    const isReady = await options.isReady();
    // Asked for last: whatever answered, a process that has ended is not ready.
    if (isReady && status === undefined) return;
    if (signal?.aborted === true) await process.stop();
    signal?.throwIfAborted();
    if (status !== undefined || performance.now() > end) {
      const ending =
        status === undefined
          ? `was not ready after ${START_TIMEOUT_MILLISECONDS} ms`
          : `${describeExit(status)} while starting`;
      await process.stop();
      const words = lastWords(await options.readLog());
      const said = words === null ? '.' : `:\n${words.replaceAll(/^/gmu, '  ')}\n`;
      throw new StackError('service_failed', `The ${name} ${ending}${said}`, `Its log is ${logFile}.`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
  }
}
