import type { RunningWorker } from './start-worker.ts';

/** Milliseconds after the grace period at which the process ends even if a connection does not close, because its server may be gone. */
const EXIT_MARGIN_MILLISECONDS = 8_000;

/** Lets running calls finish within the grace period. Ends the process if the worker has not ended soon after it. */
export function endWithin(worker: RunningWorker, graceMilliseconds: number): void {
  worker.shutdown();
  setTimeout(() => process.exit(1), graceMilliseconds + EXIT_MARGIN_MILLISECONDS).unref();
}

/** Ends the worker at the first of these signals. A second one has its usual effect: it ends the process at once. */
export function endOnSignals(
  worker: RunningWorker,
  { signals, graceMilliseconds }: { readonly signals: readonly NodeJS.Signals[]; readonly graceMilliseconds: number },
): void {
  const forget = (): void => {
    for (const signal of signals) process.off(signal, end);
  };
  const end = (): void => {
    forget();
    endWithin(worker, graceMilliseconds);
  };
  for (const signal of signals) process.on(signal, end);
  void worker.ended.then(forget, forget);
}
