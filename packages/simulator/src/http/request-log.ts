import type { Protocol } from '../core/request.ts';
import type { Purpose } from '../faults/fault-store.ts';

/** One request that the simulator has answered, refused or left without an answer. */
export interface LoggedRequest {
  /** 1 for the first since the start or the last reset. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly protocol: Protocol;
  readonly model: string;
  readonly purpose: Purpose;
  readonly stream: boolean;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  /** Tokens of the answer; 0 when there was none. */
  readonly outputTokens: number;
  readonly maximumOutput: number;
  readonly window: number;
  /** HTTP status; 0 when the connection was reset or left hanging. */
  readonly status: number;
  /** Kind of the fault that struck. */
  readonly fault?: string;
  /** Milliseconds until the answer was ready, latency and pace of the stream not counted. */
  readonly milliseconds: number;
  /** The request as it came; only of the newest ones. */
  readonly body?: unknown;
}

const KEPT = 10_000;
const KEPT_BODIES = 100;

/** Counts all requests and keeps the newest ones whole. */
export class RequestLog {
  #entries: LoggedRequest[] = [];
  #total = 0;

  add(entry: Omit<LoggedRequest, 'number'>): void {
    this.#total += 1;
    this.#entries.push({ number: this.#total, ...entry });
    if (this.#entries.length > KEPT) this.#entries.shift();
    const index = this.#entries.length - 1 - KEPT_BODIES;
    const old = this.#entries[index];
    if (old === undefined) return;
    const { body: _forgotten, ...rest } = old;
    this.#entries[index] = rest;
  }

  reset(): void {
    this.#entries = [];
    this.#total = 0;
  }

  /** Totals, and the newest `last` requests, oldest of them first. */
  report(last: number): object {
    const entries = this.#entries;
    const count = (matches: (entry: LoggedRequest) => boolean): number => entries.filter(matches).length;
    return {
      total: this.#total,
      agent: count((entry) => entry.purpose === 'agent'),
      summary: count((entry) => entry.purpose === 'summary'),
      answered: count((entry) => entry.status === 200),
      refused: count((entry) => entry.status !== 200),
      overflows: count((entry) => entry.fault === 'overflow' || entry.fault === 'window'),
      inputTokens: entries.reduce((sum, entry) => sum + entry.inputTokens, 0),
      outputTokens: entries.reduce((sum, entry) => sum + entry.outputTokens, 0),
      highestInputTokens: entries.reduce(
        (most, entry) => Math.max(most, entry.status === 200 ? entry.inputTokens : 0),
        0,
      ),
      requests: last > 0 ? entries.slice(-last) : [],
    };
  }
}
