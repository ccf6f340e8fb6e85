import type { ErrorVerdict } from '../models/model-client.ts';
import { parseModelName } from '../models/model-name.ts';
import { recordEvent } from '../store/events.ts';
import { LONGEST_RETRY_DELAY_MILLISECONDS, delayAfterRefusal, spreadDelay } from '../turn/limits.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** The activities that call a model, and so wait for its provider. */
export type CallingActivity = 'callModel' | 'summarize' | 'changeBranch';

export interface RefusalWait {
  readonly milliseconds: number;
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
  const isRateLimit = verdict.cause === 'rate_limit';
  const delay = delayAfterRefusal(verdict, times);
  // Others do not wait for how often this call was refused.
  if (isRateLimit) {
    await providerGate.pause(parseModelName(model).provider, asked ?? delay);
    reachCrashPoint(`${activity}:paused`);
  }
  const isShared = isRateLimit || asked !== undefined;
  return {
    milliseconds: isShared ? spreadDelay(delay, Math.random()) : delay,
    isWaitedOut: isShared && delay > LONGEST_RETRY_DELAY_MILLISECONDS,
  };
}

/** The turn waits in its workflow, where no worker is held: the timeline says so until the call is made again. */
export async function recordWait(
  { database, reachCrashPoint }: Pick<ActivityDependencies, 'database' | 'reachCrashPoint'>,
  turn: TurnReference,
  { activity, delayMilliseconds }: { readonly activity: CallingActivity; readonly delayMilliseconds: number },
): Promise<void> {
  await recordEvent(database, { turn, kind: 'turn_waiting', data: { reason: 'rate_limit', delayMilliseconds } });
  reachCrashPoint(`${activity}:waiting`);
}
