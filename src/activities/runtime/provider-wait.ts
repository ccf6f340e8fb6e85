import type { ErrorVerdict } from '../../models/model-client.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import type { Transaction } from '../../store/database/database.ts';
import { recordWait, recordWaitOver } from '../../store/turns/waits.ts';
import {
  LONGEST_OUTAGE_RETRY_MILLISECONDS,
  LONGEST_PAUSED_RETRY_MILLISECONDS,
  delayAfterRefusal,
  spreadDelay,
} from '../../turn/limits.ts';
import type { ProviderWait } from '../../turn/waits.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { waitFailure } from './activity-error.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { requireProvider } from './hand-over.ts';
import type { ModelPermit, PermitCall } from './model-permits.ts';

/** The activities that call a model, and so wait for its provider. */
export type CallingActivity = 'callModel' | 'summarize' | 'changeBranch';

type Refusal = Extract<ErrorVerdict, { kind: 'retryable' }>;

/** How the ledger names a refusal that uses up no retry. */
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
  { modelPermits }: Pick<ActivityDependencies, 'modelPermits'>,
  verdict: Refusal,
  model: string,
): (within: Transaction, times: number) => Promise<void> {
  const refusedAt = performance.now();
  return async (within, times) => {
    if (verdict.cause !== 'rate_limit') return;
    // Others do not wait for how often this call was refused.
    const asked = verdict.delayMilliseconds ?? delayAfterRefusal(verdict, times);
    const left = asked - (performance.now() - refusedAt);
    if (left > 0) await modelPermits.pause(parseModelName(model).provider, left, within);
  };
}

/**
 * How long a refused call waits; calls that were told the same wait are spread over the time after it.
 * @param times such refusals of this call so far, from 1
 */
export function waitAfterRefusal(verdict: Refusal, times: number): ProviderWait {
  const delay = delayAfterRefusal(verdict, times);
  const isRateLimit = verdict.cause === 'rate_limit';
  const isShared = isRateLimit || verdict.delayMilliseconds !== undefined;
  const delayMilliseconds = isShared ? spreadDelay(delay, Math.random()) : delay;
  // A person may end the pause of a rate limit; a server that is out may be back before it said, or have said a week.
  const longest = isRateLimit ? LONGEST_PAUSED_RETRY_MILLISECONDS : LONGEST_OUTAGE_RETRY_MILLISECONDS;
  const retryMilliseconds = Math.min(delayMilliseconds, longest);
  return { reason: isRateLimit ? 'rate_limit' : 'outage', delayMilliseconds, retryMilliseconds };
}

/** Waits that are shorter are not worth a write. */
const TOLD_WAIT_MILLISECONDS = 2_000;

/**
 * The turn waits for its provider: the timeline says why and until when.
 * @returns the failure after which Temporal calls the activity again, and until then nothing is held
 */
export async function waitForProvider(
  { database, reachCrashPoint }: Pick<ActivityDependencies, 'database' | 'reachCrashPoint'>,
  turn: TurnReference,
  wait: ProviderWait & { readonly activity: CallingActivity; readonly provider: string },
): Promise<Error> {
  const { activity, provider, reason, delayMilliseconds, retryMilliseconds } = wait;
  if (delayMilliseconds >= TOLD_WAIT_MILLISECONDS) {
    await recordWait(database, turn, { reason, provider, delayMilliseconds, retryMilliseconds });
    reachCrashPoint(`${activity}:waiting`);
  }
  return waitFailure(`waits for ${provider}: ${reason}`, retryMilliseconds);
}

/** Permission to ask for a summary. @throws LackedHere, and what `waitForProvider` returns while there is none */
export async function acquirePermit(
  dependencies: ActivityDependencies,
  turn: TurnReference,
  { activity, ...call }: Omit<PermitCall, 'conversationId'> & { readonly activity: CallingActivity },
): Promise<ModelPermit> {
  const { conversationId } = turn;
  requireProvider(dependencies, call.provider);
  const permit = await dependencies.modelPermits.acquire({ ...call, conversationId });
  dependencies.reachCrashPoint(`${activity}:queued`);
  if (permit.kind === 'wait') {
    throw await waitForProvider(dependencies, turn, { ...permit, activity, provider: call.provider });
  }
  if (call.by.attempt > 1 && (await recordWaitOver(dependencies.database, turn))) {
    dependencies.reachCrashPoint(`${activity}:waiting`);
  }
  return permit;
}
