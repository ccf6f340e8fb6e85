import { setTimeout as delay } from 'node:timers/promises';
import type { GuardedProcess } from './guarded-process.ts';

export type ServiceName = 'postgres' | 'temporal' | 'simulator' | 'worker' | 'server';

/** A service that is ready. */
export interface RunningService {
  readonly process: GuardedProcess;
  stop(): Promise<void>;
}

export interface ServiceDefinition {
  readonly name: ServiceName;
  readonly logFile: string;
  /** Starts the service and returns when it is ready; when the signal aborts a start that takes long, it may throw. */
  start(signal: AbortSignal): Promise<RunningService>;
}

/** What happens to a service, for the screen and for the stack file. */
export type ServiceEvent =
  | { readonly kind: 'starting'; readonly service: ServiceName }
  | { readonly kind: 'ready'; readonly service: ServiceName; readonly processId: number }
  | {
      readonly kind: 'ended';
      readonly service: ServiceName;
      readonly status: number | null;
      readonly logFile: string;
      readonly restartMilliseconds: number;
    }
  | {
      readonly kind: 'restart_failed';
      readonly service: ServiceName;
      readonly error: unknown;
      readonly restartMilliseconds: number;
    }
  | { readonly kind: 'stopping'; readonly service: ServiceName };

export interface SupervisedService {
  readonly name: ServiceName;
  /** Of the program that runs now, or ran last. */
  processId(): number;
  /** Ends the service and its supervision. */
  stop(): Promise<void>;
}

const FIRST_DELAY_MILLISECONDS = 500;
const LONGEST_DELAY_MILLISECONDS = 30_000;
/** A service that ran this long was healthy: its next failure counts as the first again. */
const HEALTHY_MILLISECONDS = 30_000;

/** Wait before a restart, milliseconds: doubles with every failure in a row, up to half a minute. */
export function restartDelay(failuresInARow: number): number {
  return Math.min(FIRST_DELAY_MILLISECONDS * 2 ** Math.max(0, failuresInARow - 1), LONGEST_DELAY_MILLISECONDS);
}

/**
 * Starts a service and keeps it running: when it ends unasked it is started again, after a wait that grows, and each
 * step is told to `onEvent`.
 *
 * @param signal ends the first start.
 * @throws what the first start throws; later failures are events.
 */
export async function supervise(
  definition: ServiceDefinition,
  onEvent: (event: ServiceEvent) => void,
  signal?: AbortSignal,
): Promise<SupervisedService> {
  const service = definition.name;
  const stopped = new AbortController();
  onEvent({ kind: 'starting', service });
  let running = await definition.start(signal ?? stopped.signal);
  let failures = 0;
  onEvent({ kind: 'ready', service, processId: running.process.processId });

  /** Tries until the service is up again; null when the supervision has ended meanwhile. */
  const restart = async (): Promise<RunningService | null> => {
    while (!stopped.signal.aborted) {
      try {
        const next = await definition.start(stopped.signal);
        if (!stopped.signal.aborted) return next;
        await next.stop();
      } catch (error) {
        failures += 1;
        const restartMilliseconds = restartDelay(failures);
        if (!stopped.signal.aborted) onEvent({ kind: 'restart_failed', service, error, restartMilliseconds });
        await pause(restartMilliseconds, stopped.signal);
      }
    }
    return null;
  };
  const keepRunning = async (): Promise<void> => {
    for (;;) {
      const readySince = performance.now();
      const { status } = await running.process.exited;
      if (stopped.signal.aborted) return;
      failures = performance.now() - readySince >= HEALTHY_MILLISECONDS ? 1 : failures + 1;
      const restartMilliseconds = restartDelay(failures);
      onEvent({ kind: 'ended', service, status, logFile: definition.logFile, restartMilliseconds });
      await pause(restartMilliseconds, stopped.signal);
      const next = await restart();
      if (next === null) return;
      running = next;
      onEvent({ kind: 'ready', service, processId: running.process.processId });
    }
  };
  const supervision = keepRunning();
  return {
    name: service,
    processId: () => running.process.processId,
    stop: async () => {
      stopped.abort();
      onEvent({ kind: 'stopping', service });
      await running.stop();
      await supervision;
    },
  };
}

/** Waits, or returns at once when the supervision ends. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
