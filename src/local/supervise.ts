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
  /** Ends the program, so that it is started again at once; a wait for a restart ends too. */
  restart(): Promise<void>;
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
  onEvent({ kind: 'starting', service: definition.name });
  return new Supervision(definition, onEvent, await definition.start(signal ?? new AbortController().signal));
}

class Supervision implements SupervisedService {
  readonly name: ServiceName;
  readonly #definition: ServiceDefinition;
  readonly #onEvent: (event: ServiceEvent) => void;
  readonly #stopped = new AbortController();
  readonly #ended: Promise<void>;
  #running: RunningService;
  #failures = 0;
  /** Aborted by a stop, and by a restart that was asked for until it is made. */
  #asked = new AbortController();

  constructor(definition: ServiceDefinition, onEvent: (event: ServiceEvent) => void, running: RunningService) {
    this.name = definition.name;
    this.#definition = definition;
    this.#onEvent = onEvent;
    this.#running = running;
    this.#tellReady();
    this.#ended = this.#keepRunning();
  }

  processId(): number {
    return this.#running.process.processId;
  }

  async restart(): Promise<void> {
    this.#asked.abort();
    await this.#running.stop();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#asked.abort();
    this.#onEvent({ kind: 'stopping', service: this.name });
    await this.#running.stop();
    await this.#ended;
  }

  async #keepRunning(): Promise<void> {
    for (;;) {
      const readySince = performance.now();
      const { status } = await this.#running.process.exited;
      if (this.#stopped.signal.aborted) return;
      if (this.#asked.signal.aborted) {
        this.#takeAsked();
        this.#onEvent({ kind: 'starting', service: this.name });
      } else {
        this.#failures = performance.now() - readySince >= HEALTHY_MILLISECONDS ? 1 : this.#failures + 1;
        const restartMilliseconds = restartDelay(this.#failures);
        const { logFile } = this.#definition;
        this.#onEvent({ kind: 'ended', service: this.name, status, logFile, restartMilliseconds });
        await this.#pause(restartMilliseconds);
      }
      const next = await this.#startAgain();
      if (next === null) return;
      this.#running = next;
      this.#tellReady();
      // Asked for while it started: it may have read the file as it was before.
      if (this.#asked.signal.aborted) await next.stop();
    }
  }

  /** Tries until the service is up again; null when the supervision has ended meanwhile. */
  async #startAgain(): Promise<RunningService | null> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        const next = await this.#definition.start(signal);
        if (!this.#stopped.signal.aborted) return next;
        await next.stop();
      } catch (error) {
        this.#failures += 1;
        const restartMilliseconds = restartDelay(this.#failures);
        if (!this.#stopped.signal.aborted)
          this.#onEvent({ kind: 'restart_failed', service: this.name, error, restartMilliseconds });
        await this.#pause(restartMilliseconds);
      }
    }
    return null;
  }

  /** Waits, or goes on at once when a stop or a restart is asked for. */
  async #pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#asked.signal }).catch(() => undefined);
    if (this.#asked.signal.aborted) this.#takeAsked();
  }

  /** Whoever asks for a restart has perhaps mended the cause of earlier failures: the next one counts as the first again. */
  #takeAsked(): void {
    this.#asked = new AbortController();
    this.#failures = 0;
  }

  #tellReady(): void {
    this.#onEvent({ kind: 'ready', service: this.name, processId: this.processId() });
  }
}
