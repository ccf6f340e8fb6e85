import type { ActivityAttempt } from '../../store/attempts/activity-attempts.ts';
import type { Database, Transaction } from '../../store/database/database.ts';
import {
  LEASE_SECONDS,
  claimPermit,
  giveUpPermit,
  providerKeyOf,
  releasePermit,
  renewPermit,
} from '../../store/providers/permits.ts';
import type { HeldPermit, ProviderCapacity } from '../../store/providers/permits.ts';
import { pauseProvider, readPause } from '../../store/providers/provider-pauses.ts';
import type { ProviderDefinition } from '../../models/provider.ts';
import { LONGEST_PAUSED_RETRY_MILLISECONDS, spreadDelay } from '../../turn/limits.ts';
import type { ProviderWait, ProviderWaitReason } from '../../turn/waits.ts';

/** Calls of the queue that ask for a permit often, because one may be theirs soon. */
const NEAR_PLACES = 8;
const NEAR_RETRY_MILLISECONDS = 500;
const FAR_RETRY_MILLISECONDS = 1_500;
/** How long a call that stands in the queue is told to wait: nobody knows, and the turn says so again after it. */
const TOLD_MILLISECONDS = 30_000;

export interface PermitCall {
  readonly provider: string;
  readonly conversationId: string;
  /** Names the call; the same for every attempt. */
  readonly callKey: string;
  readonly by: ActivityAttempt;
  /** Estimated input. */
  readonly tokens: number;
}

export interface ModelPermit {
  readonly kind: 'granted';
  /** The call is over; said again, it changes nothing. @param reported input tokens that the provider counted; none: the estimate stands */
  readonly release: (reported?: number | null) => Promise<void>;
}

/** Keeps all workers to the pauses and the limits of a provider. */
export interface ModelPermits {
  /** @throws StoreError `superseded_attempt` (a later attempt has asked for the call) */
  acquire(call: PermitCall): Promise<ModelPermit | ({ readonly kind: 'wait' } & ProviderWait)>;
  /** The call will not come back: nothing is kept for it that this attempt asked for, or one before it. */
  giveUp(call: Pick<PermitCall, 'callKey' | 'by'>): Promise<void>;
  /** The provider refused a call for its rate: nobody calls it with this key for so long. @param within the transaction that this is part of */
  pause(provider: string, milliseconds: number, within: Transaction): Promise<void>;
}

export function createModelPermits(setup: {
  readonly database: Database;
  readonly providers: readonly ProviderDefinition[];
  /** Seconds after which the permit of a worker that renews nothing is free. Default: 30. */
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
      const answer = await claimPermit(database, request, capacity);
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

/** Calls that wait for the same pause must not all end it at once. */
function waitForPause(milliseconds: number) {
  const delayMilliseconds = spreadDelay(milliseconds, Math.random());
  const retryMilliseconds = Math.min(delayMilliseconds, LONGEST_PAUSED_RETRY_MILLISECONDS);
  return { kind: 'wait', reason: 'rate_limit', delayMilliseconds, retryMilliseconds } as const;
}

function waitInQueue(place: number, capacity: ProviderCapacity) {
  const retry = place <= NEAR_PLACES ? NEAR_RETRY_MILLISECONDS : FAR_RETRY_MILLISECONDS;
  const retryMilliseconds = Math.round(retry * (1 + Math.random() / 3));
  return { kind: 'wait', reason: limitOf(capacity), delayMilliseconds: TOLD_MILLISECONDS, retryMilliseconds } as const;
}

/** Which of the limits holds the queue changes from one moment to the next: all that are set are named. */
function limitOf({ concurrentCalls, tokensPerMinute }: ProviderCapacity): ProviderWaitReason {
  if (tokensPerMinute === null) return 'call_limit';
  return concurrentCalls === null ? 'token_limit' : 'call_or_token_limit';
}

/** Renews the permit while the call runs; one that cannot be given back is free after its lease. */
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
