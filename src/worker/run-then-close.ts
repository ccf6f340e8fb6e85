import type { TurnWorkers } from './create-turn-workers.ts';

/** @param close gets the milliseconds that are left of the grace period */
export function runThenClose(
  workers: TurnWorkers,
  grace: number,
  close: (graceLeft: number) => Promise<void>,
): { readonly ended: Promise<void>; readonly shutdown: () => void; readonly isShuttingDown: () => boolean } {
  let graceEndsAt: number | undefined;
  const run = async (): Promise<void> => {
    try {
      await workers.run();
    } finally {
      await close(Math.max(0, (graceEndsAt ?? 0) - performance.now()));
    }
  };
  return {
    ended: run(),
    isShuttingDown: () => graceEndsAt !== undefined,
    shutdown() {
      graceEndsAt ??= performance.now() + grace;
      workers.shutdown();
    },
  };
}
