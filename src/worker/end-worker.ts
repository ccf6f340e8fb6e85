import type { RunningWorker } from './start-worker.ts';

/** Milliseconds after the grace period at which the process ends even if a connection does not close, because its server may be gone. */
const EXIT_MARGIN_MILLISECONDS = 8_000;

/** A terminal sends Ctrl-C to npx and to the program, and npx or tsx sends it on: one key press arrives twice. Milliseconds. */
const SAME_SIGNAL_MILLISECONDS = 300;

/** Lets running calls finish within the grace period. Ends the process if the worker has not ended soon after it. */
export function endWithin(worker: RunningWorker, graceMilliseconds: number): void {
  worker.shutdown();
  const timer = setTimeout(() => process.exit(1), graceMilliseconds + EXIT_MARGIN_MILLISECONDS).unref();
  const isEnded = (): void => clearTimeout(timer);
  void worker.ended.then(isEnded, isEnded);
}

/** Ends the worker at the first of these signals. A second one ends the process at once, as without a handler. */
export function endOnSignals(
  worker: RunningWorker,
  { signals, graceMilliseconds }: { readonly signals: readonly NodeJS.Signals[]; readonly graceMilliseconds: number },
): void {
  let signalledAt: number | null = null;
  const end = (): void => {
    if (signalledAt !== null && performance.now() - signalledAt > SAME_SIGNAL_MILLISECONDS) process.exit(1);
    if (signalledAt !== null) return;
    signalledAt = performance.now();
    endWithin(worker, graceMilliseconds);
  };
  for (const signal of signals) process.on(signal, end);
  const forget = (): void => {
    for (const signal of signals) process.off(signal, end);
  };
  void worker.ended.then(forget, forget);
}
