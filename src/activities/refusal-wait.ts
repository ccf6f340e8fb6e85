import type { ErrorVerdict } from '../models/model-client.ts';
import { parseModelName } from '../models/model-name.ts';
import { recordEvent } from '../store/events.ts';
import {
  LONGEST_RETRY_DELAY_MILLISECONDS,
  LONGEST_UNSEEN_WAIT_MILLISECONDS,
  delayAfterRefusal,
  spreadDelay,
} from '../turn/limits.ts';
import { LONG_WAIT_MILLISECONDS } from '../turn/provider-wait.ts';
import type { ProviderWait } from '../turn/provider-wait.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** The activities that call a model, and so wait for its provider. */
export type CallingActivity = 'callModel' | 'summarize' | 'changeBranch';

/** A wait with whose it is and for whom. */
type NamedWait = ProviderWait & { readonly activity: CallingActivity; readonly provider: string };

export interface RefusalWait extends NamedWait {
  /** The workflow waits, visibly: for a rate limit, or as long as the provider asked for. Else Temporal's retry does. */
  readonly isWaitedOut: boolean;
}

/**
 * How long a refused call waits. Told of a rate limit, all workers leave the provider alone for as long as it asked; calls
 * that were told the same wait are spread over the time after it.
 * @param refused `model` as `provider/model`; `times`: such refusals of this call so far, from 1
 */
export async function waitAfterRefusal(
  { providerGate, reachCrashPoint }: Pick<ActivityDependencies, 'providerGate' | 'reachCrashPoint'>,
  verdict: Extract<ErrorVerdict, { kind: 'retryable' }>,
  { activity, model, times }: { readonly activity: CallingActivity; readonly model: string; readonly times: number },
): Promise<RefusalWait> {
  const asked = verdict.delayMilliseconds;
  const { provider } = parseModelName(model);
  const isRateLimit = verdict.cause === 'rate_limit';
  const delay = delayAfterRefusal(verdict, times);
  // Others do not wait for how often this call was refused.
  if (isRateLimit) {
    await providerGate.pause(provider, asked ?? delay);
    reachCrashPoint(`${activity}:paused`);
  }
  const isShared = isRateLimit || asked !== undefined;
  return {
    activity,
    provider,
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
