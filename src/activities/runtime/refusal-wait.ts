import type { ErrorVerdict } from '../../models/model-client.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import type { Transaction } from '../../store/database/database.ts';
import { recordEvent } from '../../store/log/events.ts';
import {
  LONGEST_RETRY_DELAY_MILLISECONDS,
  LONGEST_UNSEEN_WAIT_MILLISECONDS,
  delayAfterRefusal,
  spreadDelay,
} from '../../turn/limits.ts';
import { LONG_WAIT_MILLISECONDS } from '../../turn/provider-wait.ts';
import type { ProviderWait } from '../../turn/provider-wait.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** The activities that call a model, and so wait for its provider. */
export type CallingActivity = 'callModel' | 'summarize' | 'changeBranch';

/** A wait with whose it is and for whom. */
type NamedWait = ProviderWait & { readonly activity: CallingActivity; readonly provider: string };

export interface RefusalWait extends NamedWait {
  /** The workflow waits, visibly: for a rate limit, or as long as the provider asked for. Else Temporal's retry does. */
  readonly isWaitedOut: boolean;
}

type Refusal = Extract<ErrorVerdict, { kind: 'retryable' }>;

/** How the ledger names a refusal that uses up no retry of a summary. */
export function uncountedFailure({ cause }: Refusal): 'rate_limited' | 'unreachable' {
  return cause === 'rate_limit' ? 'rate_limited' : 'unreachable';
}

/**
 * Told of a rate limit, all workers leave the provider alone for as long as it asked.
 * @param model as `provider/model`
 * @returns what writes the pause in the transaction that records the refusal: a worker that dies or is cut off between the two would
 *   leave a refusal without a pause, and all would ask at once. Done again, as after an outage, what has passed since then counts as
 *   paused. `times`: such refusals of this call so far, from 1
 */
export function pauseAfterRefusal(
  { providerGate }: Pick<ActivityDependencies, 'providerGate'>,
  verdict: Refusal,
  model: string,
): (within: Transaction, times: number) => Promise<void> {
  const refusedAt = performance.now();
  return async (within, times) => {
    if (verdict.cause !== 'rate_limit') return;
    // Others do not wait for how often this call was refused.
    const asked = verdict.delayMilliseconds ?? delayAfterRefusal(verdict, times);
    const left = asked - (performance.now() - refusedAt);
    if (left > 0) await providerGate.pause(parseModelName(model).provider, left, within);
  };
}

/**
 * How long a refused call waits; calls that were told the same wait are spread over the time after it.
 * @param refused `model` as `provider/model`; `times`: such refusals of this call so far, from 1
 */
export function waitAfterRefusal(
  verdict: Refusal,
  { activity, model, times }: { readonly activity: CallingActivity; readonly model: string; readonly times: number },
): RefusalWait {
  const delay = delayAfterRefusal(verdict, times);
  const isRateLimit = verdict.cause === 'rate_limit';
  const isShared = isRateLimit || verdict.delayMilliseconds !== undefined;
  return {
    activity,
    provider: parseModelName(model).provider,
    delayMilliseconds: isShared ? spreadDelay(delay, Math.random()) : delay,
    isWaitedOut: isShared && delay > LONGEST_RETRY_DELAY_MILLISECONDS,
    reason: isRateLimit ? 'rate_limit' : 'outage',
  };
}

/** What an activity returns whose call waits in the workflow. */
export interface WaitOut {
  readonly kind: 'wait';
  readonly delayMilliseconds: number;
}

/** The turn waits in its workflow, where no worker is held. */
export async function waitOut(
  dependencies: Pick<ActivityDependencies, 'database' | 'reachCrashPoint'>,
  turn: TurnReference,
  wait: NamedWait,
): Promise<WaitOut> {
  await recordWait(dependencies, turn, { ...wait, holdsWorker: false });
  return { kind: 'wait', delayMilliseconds: Math.min(LONGEST_UNSEEN_WAIT_MILLISECONDS, wait.delayMilliseconds) };
}

/**
 * The turn waits for its provider: the timeline says so until the call is made.
 * @param wait.holdsWorker it waits in its activity; else in its workflow, where no worker is held
 */
export async function recordWait(
  { database, reachCrashPoint }: Pick<ActivityDependencies, 'database' | 'reachCrashPoint'>,
  turn: TurnReference,
  wait: NamedWait & { readonly holdsWorker: boolean },
): Promise<void> {
  const { activity, reason, delayMilliseconds, provider, holdsWorker } = wait;
  const data = { reason, delayMilliseconds, provider, holdsWorker };
  await recordEvent(database, { turn, kind: 'turn_waiting', data });
  reachCrashPoint(`${activity}:waiting`);
}

/** Temporal calls the activity again after this wait: the turn says so as it does of one in its workflow. */
export async function recordShortWait(
  dependencies: Pick<ActivityDependencies, 'database' | 'reachCrashPoint'>,
  turn: TurnReference,
  wait: NamedWait,
): Promise<void> {
  if (wait.delayMilliseconds < LONG_WAIT_MILLISECONDS) return;
  await recordWait(dependencies, turn, { ...wait, holdsWorker: false });
}
