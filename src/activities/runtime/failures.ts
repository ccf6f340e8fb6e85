import { setTimeout as delay } from 'node:timers/promises';
import { CompleteAsyncError } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import { PinnedTextMissing } from '../../context/view/project-view.ts';
import { ModelCallError } from '../../models/model-client.ts';
import { isOutage, StoreError } from '../../store/database/errors.ts';
import { recordWaitOver, recordWorkerWait } from '../../store/turns/waits.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { MOST_FAILURES, REPEATED_FAILURE, retryDelayMilliseconds } from '../../turn/limits.ts';
import type { WorkerNeed } from '../../turn/limits.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Execution } from './activity.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** Delay before an activity is retried after an outage of Postgres. */
const OUTAGE_RETRY_MILLISECONDS = 1_000;

/**
 * A failure after which Temporal retries the activity.
 * @param message codes and counts only, because the history stores it
 */
export function retryableFailure(type: string, message: string, delayMilliseconds: number): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nextRetryDelay: retryDelay(delayMilliseconds) });
}

/**
 * Makes the activity wait until Temporal calls it again. It is no failure, so Temporal neither counts nor logs it.
 * @param message codes and names only; Temporal shows it beside the time of the next attempt
 */
export function waitFailure(message: string, delayMilliseconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'Waiting',
    message,
    nextRetryDelay: retryDelay(delayMilliseconds),
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** Temporal fails an activity whose delay is 0. */
function retryDelay(milliseconds: number): number {
  return Math.max(1, Math.round(milliseconds));
}

export function isWait(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN;
}

/** Whether the error is a cancel. It passes through unchanged, or a cancel would become a retry. */
export function isCancellationError(error: unknown): boolean {
  return error instanceof CancelledFailure || (error instanceof Error && error.name === 'AbortError');
}

/**
 * Whether a model client's error came before its request was sent: the worker lacks the provider, or cannot make the request. Errors of
 * the provider, the network or the reading of an answer are always a `ModelCallError`.
 */
export function wasNotSent(error: unknown): boolean {
  return !(error instanceof ModelCallError) && !isCancellationError(error);
}

/** Whether the worker would fail at every try, whatever happens to Postgres and the turn. */
export function isOwnFault(error: unknown): boolean {
  return !(error instanceof StoreError) && !isOutage(error) && !isCancellationError(error);
}

/**
 * What Temporal gets of an error: whether and when to retry. Only an outage is retried without end. Any other error that does not name
 * its own retry is counted. Messages of drivers and of Node quote values (a row, a path, a piece of JSON), so of foreign errors only name
 * and code are passed on.
 * @param count counts a failure with this code and returns how many there were
 */
export async function failureForTemporal(error: unknown, count: (code: string) => Promise<number>): Promise<unknown> {
  if (error instanceof ApplicationFailure || error instanceof CompleteAsyncError || isCancellationError(error)) {
    return error;
  }
  const { type, message, isFinal } = toldOf(error);
  if (isFinal) return ApplicationFailure.create({ type, message, nonRetryable: true });
  if (isOutage(error)) return retryableFailure(type, message, OUTAGE_RETRY_MILLISECONDS);
  let failures: number;
  try {
    failures = await count(type);
  } catch (refused) {
    const { isFinal: isReplaced, ...told } = toldOf(refused);
    if (isReplaced) return ApplicationFailure.create({ ...told, nonRetryable: true });
    return retryableFailure(type, message, OUTAGE_RETRY_MILLISECONDS);
  }
  if (failures < MOST_FAILURES) return retryableFailure(type, message, retryDelayMilliseconds(failures));
  const repeated = `failed ${failures} times, at last: ${message}`;
  return ApplicationFailure.create({ type: REPEATED_FAILURE, message: repeated, nonRetryable: true });
}

/** `isFinal`: no further try can succeed. */
function toldOf(error: unknown): { readonly type: string; readonly message: string; readonly isFinal: boolean } {
  if (error instanceof StoreError) {
    return { type: `Store.${error.code}`, message: error.message, isFinal: error.permanent };
  }
  // The same projection would lack the same text.
  if (error instanceof PinnedTextMissing) return { type: error.code, message: error.message, isFinal: true };
  const { name, code } = describeError(error);
  const message = code === undefined ? `unexpected ${name}` : `unexpected ${name} (${code})`;
  return { type: name, message, isFinal: false };
}

/** Name, code and stack frames of any thrown value, without its message. */
export function describeError(error: unknown): { name: string; code: string | undefined; frames: string } {
  if (!(error instanceof Error)) return { name: typeof error, code: undefined, frames: '' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return { name: error.name, code, frames: frames.slice(0, 12).join('\n') };
}

/**
 * Temporal serves the polls of a queue in turn, so a worker that has what is needed may need some attempts to get the activity. One that
 * did not get it in so many is busy, or does not exist.
 */
const PROMPT_ATTEMPTS = 50;
const PROMPT_DELAY_MILLISECONDS = 100;
/** A worker that starts is noticed within this. */
const LONGER_DELAY_MILLISECONDS = 2_000;

/** This worker lacks what the activity needs, but another worker of its queue may have it. Thrown before anything is written. */
export class LackedHere extends Error {
  override readonly name = 'LackedHere';
  readonly need: WorkerNeed;

  constructor(need: WorkerNeed) {
    super(`this worker lacks ${need.needs} ${need.name}`);
    this.need = need;
  }
}

/**
 * Leaves an activity to other workers until one has what it needs. This is no failure, however long it takes. If no worker has it, the
 * timeline says so.
 * @param attempt that lacked it, from 1
 * @returns the failure after which Temporal gives the activity to a worker again
 */
export async function handOver(
  { database, isServed }: Pick<ActivityDependencies, 'database' | 'isServed'>,
  of: { readonly conversationId: string; readonly turn: TurnReference | null },
  attempt: number,
  { need, message }: LackedHere,
): Promise<Error> {
  const served = (await isServed(need)) ?? attempt <= PROMPT_ATTEMPTS;
  if (!served) await recordWorkerWait(database, of, need);
  const isPrompt = served && attempt <= PROMPT_ATTEMPTS;
  return waitFailure(message, isPrompt ? PROMPT_DELAY_MILLISECONDS : LONGER_DELAY_MILLISECONDS);
}

/** Notes in the timeline that the wait for a worker is over, if it was noted. */
export async function takeOn({ database }: ActivityDependencies, turn: TurnReference, attempt: number): Promise<void> {
  if (attempt > 1) await recordWaitOver(database, turn);
}

/** Whether the turn began with a tool that this worker lacks. */
export function lacksTool(
  { tools }: Pick<ActivityDependencies, 'tools'>,
  snapshot: AgentSnapshot,
  name: string,
): boolean {
  return tools.get(name) === undefined && snapshot.tools.some((tool) => tool.name === name);
}

/** @throws LackedHere if this worker lacks the provider of the turn's model */
export function requireProvider({ providers }: Pick<ActivityDependencies, 'providers'>, name: string): void {
  if (!providers.includes(name)) throw new LackedHere({ needs: 'provider', name });
}

const FIRST_DELAY_MILLISECONDS = 100;
const LONGEST_DELAY_MILLISECONDS = 2_000;

/**
 * Repeats work while Postgres is away: storing a paid answer or a tool's result, or reading for a tool. A retry of the activity would buy
 * the answer again or make the tool's outcome unknown, and a failed search would read like an empty one. Ends with the signal after one
 * more try. The signal is the activity's (stop, time limit, shutdown), or the later one of `OutlastingWork`.
 * @param work must give the same if repeated, because a commit may lose its reply
 */
export async function throughOutage<Result>(
  { logger }: Pick<ActivityDependencies, 'logger'>,
  { signal }: Pick<Execution, 'signal'>,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let wait = FIRST_DELAY_MILLISECONDS; ; wait = Math.min(wait * 2, LONGEST_DELAY_MILLISECONDS)) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error) || signal.aborted) throw error;
      logger.warn(describeError(error), 'Postgres is away: what is under way waits for it');
      // An abort ends the wait early. If the work still fails then, it is given up above.
      await delay(wait, undefined, { signal }).catch(() => undefined);
    }
  }
}
