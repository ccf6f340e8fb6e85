import { setTimeout as delay } from 'node:timers/promises';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import type { ErrorVerdict } from '../../models/model-client.ts';
import type { ProviderDefinition } from '../../models/provider.ts';
import type { ActivityAttempt } from '../../store/attempts/activity-attempts.ts';
import type { AttemptEnd, Attempts, Beside } from '../../store/attempts/attempts.ts';
import type { Database, Transaction } from '../../store/database/database.ts';
import {
  LEASE_SECONDS,
  claimPermit,
  giveUpPermit,
  providerKeyOf,
  releasePermit,
  renewPermit,
} from '../../store/providers/permits.ts';
import type { HeldPermit, PermitAnswer, PermitRequest, ProviderCapacity } from '../../store/providers/permits.ts';
import { pauseProvider, readPause } from '../../store/providers/provider-pauses.ts';
import { recordWait, recordWaitOver } from '../../store/turns/waits.ts';
import {
  LONGEST_PAUSED_RETRY_MILLISECONDS,
  spreadDelay,
  LONGEST_OUTAGE_RETRY_MILLISECONDS,
  delayAfterRefusal,
  retryDelayMilliseconds,
} from '../../turn/limits.ts';
import type { ProviderWait, ProviderWaitReason } from '../../turn/limits.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Execution } from './activity.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { waitFailure, requireProvider } from './failures.ts';

/** A queued call asks again after so long for each call before it. */
const PLACE_MILLISECONDS = 50;
/**
 * Calls that ask from here, where a permit that becomes free is taken at once. Temporal would call them too late. Few, because each holds
 * a slot of the worker.
 */
const NEAR_PLACES = 8;
const SHORTEST_WAIT_MILLISECONDS = 100;
/** Longest wait in the activity, where it holds a slot of the worker. */
const NEAR_MILLISECONDS = 1_000;
/** Often enough to keep the call's place. */
const LONGEST_RETRY_MILLISECONDS = 1_500;
/** The wait that is shown for a queued call. The true one is unknown, so the turn shows it again afterwards. */
const TOLD_MILLISECONDS = 30_000;

interface PermitCall {
  readonly provider: string;
  readonly conversationId: string;
  /** Names the call, the same for every attempt. */
  readonly callKey: string;
  readonly by: ActivityAttempt & Pick<Execution, 'signal'>;
  /** Estimated input tokens. */
  readonly tokens: number;
}

export interface ModelPermit {
  readonly kind: 'granted';
  /**
   * Ends the permit. A second call changes nothing.
   * @param reported input tokens that the provider counted; without it the estimate stands
   */
  readonly release: (reported?: number | null) => Promise<void>;
}

/** Keeps all workers within the pauses and limits of a provider. */
export interface ModelPermits {
  /** @throws StoreError `superseded_attempt` if a later attempt has asked for the call */
  acquire(call: PermitCall): Promise<ModelPermit | ({ readonly kind: 'wait' } & ProviderWait)>;
  /** The call will not come back. Frees what this attempt, or one before it, holds for it. */
  giveUp(call: Pick<PermitCall, 'callKey' | 'by'>): Promise<void>;
  /**
   * After a rate limit no worker calls the provider with this key for so long.
   * @param within transaction of this write
   */
  pause(provider: string, milliseconds: number, within: Transaction): Promise<void>;
}

export function createModelPermits(setup: {
  readonly database: Database;
  readonly providers: readonly ProviderDefinition[];
  /** Seconds after which the permit of a silent worker is free. Default: 30. */
  readonly leaseSeconds?: number;
}): ModelPermits {
  const { database, leaseSeconds = LEASE_SECONDS } = setup;
  const providers = new Map(setup.providers.map((one) => [one.name, { ...one, key: providerKeyOf(one) }]));
  return {
    async acquire(call) {
      const provider = providers.get(call.provider);
      if (provider === undefined) return FREE;
      const { concurrentCalls = null, tokensPerMinute = null } = provider.limits ?? {};
      const capacity = { concurrentCalls, tokensPerMinute };
      if (concurrentCalls === null && tokensPerMinute === null) {
        const milliseconds = await readPause(database, provider.key);
        return milliseconds > 0 ? waitForPause(milliseconds) : FREE;
      }
      const request = { ...call, providerKey: provider.key, leaseSeconds };
      const answer = await claimSoon(database, request, { capacity, signal: call.by.signal });
      switch (answer.kind) {
        case 'granted':
          return holdPermit(database, request);
        case 'paused':
          return waitForPause(answer.milliseconds);
        case 'queued':
          return waitInQueue(answer.place, capacity);
      }
    },
    async giveUp(call) {
      await giveUpPermit(database, call);
    },
    async pause(name, milliseconds, within) {
      const provider = providers.get(name);
      if (provider === undefined) return;
      await pauseProvider(within, { providerKey: provider.key, label: name, milliseconds });
    },
  };
}

const FREE: ModelPermit = { kind: 'granted', release: () => Promise.resolve() };

/** Spreads calls that wait for the same pause. */
function waitForPause(milliseconds: number) {
  const delayMilliseconds = spreadDelay(milliseconds, Math.random());
  const retryMilliseconds = Math.min(delayMilliseconds, LONGEST_PAUSED_RETRY_MILLISECONDS);
  return { kind: 'wait', reason: 'rate_limit', delayMilliseconds, retryMilliseconds } as const;
}

/** Asks for a permit. A call near the front of the queue asks again for a moment. */
async function claimSoon(
  database: Database,
  request: PermitRequest,
  { capacity, signal }: { readonly capacity: ProviderCapacity; readonly signal: AbortSignal },
): Promise<PermitAnswer> {
  const end = performance.now() + NEAR_MILLISECONDS;
  for (;;) {
    const answer = await claimPermit(database, request, capacity);
    if (answer.kind !== 'queued') return answer;
    if (answer.place > NEAR_PLACES || performance.now() > end) return answer;
    const wait = Math.max(answer.place * PLACE_MILLISECONDS, SHORTEST_WAIT_MILLISECONDS);
    await delay(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function waitInQueue(place: number, capacity: ProviderCapacity) {
  const retry = Math.min(Math.max(place * PLACE_MILLISECONDS, SHORTEST_WAIT_MILLISECONDS), LONGEST_RETRY_MILLISECONDS);
  const retryMilliseconds = Math.round(retry * (1 + Math.random() / 3));
  return { kind: 'wait', reason: limitOf(capacity), delayMilliseconds: TOLD_MILLISECONDS, retryMilliseconds } as const;
}

/** Which limit holds the queue changes from moment to moment, so all configured limits are named. */
function limitOf({ concurrentCalls, tokensPerMinute }: ProviderCapacity): ProviderWaitReason {
  if (tokensPerMinute === null) return 'call_limit';
  return concurrentCalls === null ? 'token_limit' : 'call_or_token_limit';
}

/** Renews the permit while the call runs. A permit that cannot be released is free after its lease. */
function holdPermit(database: Database, held: Required<HeldPermit>): ModelPermit {
  let isOver = false;
  const renewing = setInterval(
    () => {
      renewPermit(database, held).catch(() => undefined);
    },
    (held.leaseSeconds * 1_000) / 3,
  );
  return {
    kind: 'granted',
    async release(reported = null) {
      if (isOver) return;
      isOver = true;
      clearInterval(renewing);
      await releasePermit(database, held, reported).catch(() => undefined);
    },
  };
}

/**
 * Records a refusal that uses up no retry, and makes all workers leave the provider alone for as long as a rate limit asked.
 * @param of `model`: as `provider/model`
 * @param record writes the pause in its own transaction. Otherwise a worker that died between the two would leave a refusal without a
 * pause, and all would ask at once. A repeated write counts the time since the refusal as paused.
 * @returns how long the call waits
 */
export async function recordRefusal(
  { modelPermits }: Pick<ActivityDependencies, 'modelPermits'>,
  { verdict, model }: { readonly verdict: ErrorVerdict; readonly model: string },
  record: (failure: NonNullable<AttemptEnd['failure']>, beside: Beside) => Promise<Attempts>,
): Promise<ProviderWait & { readonly provider: string }> {
  const { provider } = parseModelName(model);
  const refusedAt = performance.now();
  const isRateLimit = verdict.cause === 'rate_limit';
  const failure = { kind: isRateLimit ? 'rate_limited' : 'unreachable', evidence: verdict.evidence } as const;
  const tries = await record(failure, async (within, { refusals }) => {
    if (!isRateLimit) return;
    // The number of refusals of this call does not lengthen the wait of others.
    const asked = verdict.delayMilliseconds ?? retryDelayMilliseconds(refusals);
    const left = asked - (performance.now() - refusedAt);
    if (left > 0) await modelPermits.pause(provider, left, within);
  });
  return { ...waitAfterRefusal(verdict, tries.refusals), provider };
}

/**
 * How long a refused call waits. Calls with the same wait are spread over the time after it.
 * @param times such refusals of this call so far, from 1
 */
export function waitAfterRefusal(verdict: ErrorVerdict, times: number): ProviderWait {
  const delay = delayAfterRefusal(verdict.delayMilliseconds, times);
  const isRateLimit = verdict.cause === 'rate_limit';
  const isShared = isRateLimit || verdict.delayMilliseconds !== undefined;
  const delayMilliseconds = isShared ? spreadDelay(delay, Math.random()) : delay;
  // A person may end the pause of a rate limit. A server that is out may be back sooner than it said.
  const longest = isRateLimit ? LONGEST_PAUSED_RETRY_MILLISECONDS : LONGEST_OUTAGE_RETRY_MILLISECONDS;
  const retryMilliseconds = Math.min(delayMilliseconds, longest);
  return { reason: isRateLimit ? 'rate_limit' : 'outage', delayMilliseconds, retryMilliseconds };
}

/** Shorter waits are not worth a write. */
const TOLD_WAIT_MILLISECONDS = 2_000;

/**
 * Lets the turn wait for its provider, and shows why and until when in the timeline.
 * @returns the failure after which Temporal retries the activity; nothing is held until then
 */
export async function waitForProvider(
  { database }: Pick<ActivityDependencies, 'database'>,
  turn: TurnReference,
  wait: ProviderWait & { readonly provider: string },
): Promise<Error> {
  const { provider, reason, delayMilliseconds, retryMilliseconds } = wait;
  if (delayMilliseconds >= TOLD_WAIT_MILLISECONDS) {
    await recordWait(database, turn, { reason, provider, delayMilliseconds, retryMilliseconds });
  }
  return waitFailure(`waits for ${provider}: ${reason}`, retryMilliseconds);
}

/**
 * Acquires a permit for a summary.
 * @throws LackedHere, and what `waitForProvider` returns while there is none
 */
export async function acquirePermit(
  dependencies: ActivityDependencies,
  turn: TurnReference,
  call: Omit<PermitCall, 'conversationId'>,
): Promise<ModelPermit> {
  const { conversationId } = turn;
  requireProvider(dependencies, call.provider);
  const permit = await dependencies.modelPermits.acquire({ ...call, conversationId });
  if (permit.kind === 'wait') {
    throw await waitForProvider(dependencies, turn, { ...permit, provider: call.provider });
  }
  if (call.by.attempt > 1) await recordWaitOver(dependencies.database, turn);
  return permit;
}
