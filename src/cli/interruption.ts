import { EXIT_CODES } from './exit-codes.ts';

/**
 * Runs `work` with a signal that Ctrl-C, SIGTERM and a closed terminal abort. A second one leaves at once.
 * @returns what the work returned, and whether it was interrupted
 */
export async function interruptible<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<{ readonly result: Result; readonly interrupted: boolean }> {
  const controller = new AbortController();
  const abort = (): void => {
    if (controller.signal.aborted) process.exit(EXIT_CODES.interrupted.code);
    controller.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, abort);
  try {
    return { result: await work(controller.signal), interrupted: controller.signal.aborted };
  } finally {
    for (const signal of signals) process.off(signal, abort);
  }
}
