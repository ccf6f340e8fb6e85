import { setTimeout as delay } from 'node:timers/promises';
import type { ActivityAttempt } from '../../store/attempts/activity-attempts.ts';
import type { Database, Transaction } from '../../store/database/database.ts';
import { newId } from '../../store/database/ids.ts';
import { pauseProvider, readPause } from '../../store/providers/provider-pauses.ts';
import {
  LEASE_SECONDS,
  LONGEST_ABSENCE_SECONDS,
  askForPlace,
  giveUpPlace,
  leaveQueue,
  providerKeyOf,
  releasePlace,
  renewPlace,
  stepAside,
} from '../../store/providers/provider-queue.ts';
import type { HeldPlace, ProviderCapacity, QueuePlace } from '../../store/providers/provider-queue.ts';
import type { ProviderDefinition } from '../../models/provider.ts';
import { LONG_WAIT_MILLISECONDS } from '../../turn/provider-wait.ts';
import type { ProviderWait, WaitReason } from '../../turn/provider-wait.ts';
import { LONGEST_RETRY_DELAY_MILLISECONDS, spreadDelay } from '../../turn/limits.ts';

/** Between two looks of a call that waits in a worker; longer when many wait, because every look is a transaction. */
const LOOK_MILLISECONDS = 250;
const LONGEST_LOOK_MILLISECONDS = 2_000;
/** How long a turn waits in its workflow before its call asks for a place again; spread, so that they do not all come at once. */
const AWAY_MILLISECONDS = (LONGEST_ABSENCE_SECONDS * 1_000) / 1.25;
/** Calls of one conversation that may wait in one worker: two hundred of them would leave none of its slots to others. */
const WAITING_PER_CONVERSATION = 8;

export interface GateCall {
  readonly provider: string;
  readonly conversationId: string;
  /** Names the call; the same for every try, also for one that comes back from its wait. */
  readonly callKey: string;
  readonly by: ActivityAttempt;
  /** Estimated input. */
  readonly tokens: number;
  readonly signal: AbortSignal;
  /** Told once, when the call will have waited here for more than two seconds, for what and how long it may still take. */
  readonly onLongWait?: (wait: ProviderWait) => Promise<void>;
}

export interface OpenPass {
  readonly kind: 'open';
  /** The call is over; said again, it changes nothing. @param reported input tokens that the provider counted; none: the estimate stands */
  readonly leave: (reported?: number | null) => Promise<void>;
}

export type GatePass =
  | OpenPass
  /** Wait in the workflow, where no worker is held, then ask again. */
  | ({ readonly kind: 'wait' } & ProviderWait);

/** Stands before every call of a model: keeps all workers to the pauses and the limits of a provider. */
export interface ProviderGate {
  /**
   * Waits up to 10 s here.
   * @throws the signal's reason when it is aborted; StoreError `superseded_attempt` (another attempt asks for the call by now)
   */
  enter(call: GateCall): Promise<GatePass>;
  /** The call will not come back: no place is kept for it that this attempt asked for, or one before it. */
  giveUp(call: Pick<GateCall, 'callKey' | 'by'>): Promise<void>;
  /** The provider refused a call for its rate: nobody calls it with this key for so long. @param within the transaction that this is part of */
  pause(provider: string, milliseconds: number, within?: Transaction): Promise<void>;
}

export function createProviderGate(setup: {
  readonly database: Database;
  readonly providers: readonly ProviderDefinition[];
  /** Model calls and tools that the worker runs at once; at most half of them may wait here. */
  readonly concurrentWork: number;
  /** Seconds after which the place of a worker that renews nothing is free. Default: 30. */
  readonly leaseSeconds?: number;
}): ProviderGate {
  const { database, concurrentWork, leaseSeconds = LEASE_SECONDS } = setup;
  const providers = new Map(setup.providers.map((one) => [one.name, { ...one, key: providerKeyOf(one) }]));
  const waiting = new WaitingCalls(concurrentWork);
  return {
    async enter(call) {
      const provider = providers.get(call.provider);
      if (provider === undefined) return OPEN;
      const { concurrentCalls = null, tokensPerMinute = null } = provider.limits ?? {};
      const isLimited = concurrentCalls !== null || tokensPerMinute !== null;
      const wait = new LocalWait(call);
      const held = { callKey: call.callKey, holder: newId(), leaseSeconds };
      let stays = waiting.join(call, false);
      try {
        for (let again = false; ; again = true) {
          const place = isLimited
            ? await askForPlace(
                database,
                { ...call, ...held, again, providerKey: provider.key },
                { concurrentCalls, tokensPerMinute },
              )
            : await pauseOnly(database, provider.key);
          if (place.kind === 'granted') return isLimited ? openPlace(database, held) : OPEN;
          const isNext = place.kind === 'queued' && place.isNext;
          const reason = place.kind === 'paused' ? 'rate_limit' : queueReason({ concurrentCalls, tokensPerMinute });
          stays ||= waiting.join(call, isNext);
          const look = place.kind === 'paused' ? spreadDelay(place.milliseconds, Math.random()) : lookAfter(place);
          if (stays && look <= wait.rest()) {
            await wait.tell(look, { reason, delayMilliseconds: place.kind === 'paused' ? look : wait.rest() });
            await waitInQueue(database, look, { held, signal: call.signal });
            continue;
          }
          if (place.kind === 'queued' && !isNext && !(await stepAside(database, held))) continue;
          // A pause is spread already.
          const away = place.kind === 'paused' ? look : AWAY_MILLISECONDS * (1 + Math.random() / 4);
          return { kind: 'wait', reason, delayMilliseconds: Math.round(away) };
        }
      } finally {
        if (stays) waiting.leave(call);
      }
    },
    async giveUp(call) {
      await giveUpPlace(database, call);
    },
    async pause(name, milliseconds, within) {
      const provider = providers.get(name);
      if (provider === undefined) return;
      await pauseProvider(within ?? database, { providerKey: provider.key, label: name, milliseconds });
    },
  };
}

/** A call that was stopped here would else be given a place that nobody uses. */
async function waitInQueue(
  database: Database,
  milliseconds: number,
  { held, signal }: { readonly held: HeldPlace; readonly signal: AbortSignal },
): Promise<void> {
  try {
    await delay(milliseconds, undefined, { signal });
  } catch (stopped) {
    await leaveQueue(database, held).catch(() => undefined);
    throw stopped;
  }
}

const OPEN: GatePass = { kind: 'open', leave: () => Promise.resolve() };

async function pauseOnly(database: Database, key: string) {
  const milliseconds = await readPause(database, key);
  return milliseconds > 0 ? ({ kind: 'paused', milliseconds } as const) : ({ kind: 'granted' } as const);
}

/** Renews the place while the call runs; one that cannot be given back is free after its lease. */
function openPlace(database: Database, held: Required<HeldPlace>): GatePass {
  let isOver = false;
  const renewing = setInterval(
    () => {
      renewPlace(database, held).catch(() => undefined);
    },
    (held.leaseSeconds * 1_000) / 3,
  );
  return {
    kind: 'open',
    async leave(reported = null) {
      if (isOver) return;
      isOver = true;
      clearInterval(renewing);
      await releasePlace(database, held, reported).catch(() => undefined);
    },
  };
}

/** Which of the limits holds a queue is known from one look to the next only: all that are set are named. */
function queueReason({ concurrentCalls, tokensPerMinute }: ProviderCapacity): WaitReason {
  if (tokensPerMinute === null) return 'call_limit';
  return concurrentCalls === null ? 'token_limit' : 'call_or_token_limit';
}

/** Whose turn is near looks often: a place that it was given lies idle until it does. */
function lookAfter({ waiting, isNext }: Extract<QueuePlace, { kind: 'queued' }>): number {
  const pace = isNext ? LOOK_MILLISECONDS : Math.min(LONGEST_LOOK_MILLISECONDS, LOOK_MILLISECONDS * (1 + waiting / 20));
  return pace * (0.75 + Math.random() / 2);
}

/** The wait of one call in this worker: up to ten seconds, and told when it is long. */
class LocalWait {
  readonly #began = performance.now();
  readonly #onLongWait: GateCall['onLongWait'];
  #told = false;

  constructor({ onLongWait }: GateCall) {
    this.#onLongWait = onLongWait;
  }

  rest(): number {
    return this.#began + LONGEST_RETRY_DELAY_MILLISECONDS - performance.now();
  }

  /** @param next how long it waits now; @param wait for what, and how long it may still take. A call does not fail because nobody could be told. */
  async tell(next: number, wait: ProviderWait): Promise<void> {
    if (this.#told || performance.now() - this.#began + next <= LONG_WAIT_MILLISECONDS) return;
    this.#told = true;
    await this.#onLongWait?.({ ...wait, delayMilliseconds: Math.round(wait.delayMilliseconds) }).catch(() => undefined);
  }
}

/** Calls that wait in this worker, by conversation. */
class WaitingCalls {
  readonly #concurrentWork: number;
  readonly #counts = new Map<string, number>();
  #all = 0;

  constructor(concurrentWork: number) {
    this.#concurrentWork = concurrentWork;
  }

  /**
   * @param isNext whose turn is near should be there when it comes; one slot is left for what runs.
   * @returns whether there is room; then `leave` must follow.
   */
  join({ conversationId }: GateCall, isNext: boolean): boolean {
    const own = this.#counts.get(conversationId) ?? 0;
    const hasRoom = this.#all < Math.max(1, this.#concurrentWork / 2) && own < WAITING_PER_CONVERSATION;
    if (!hasRoom && !(isNext && this.#all < this.#concurrentWork - 1)) return false;
    this.#counts.set(conversationId, own + 1);
    this.#all += 1;
    return true;
  }

  leave({ conversationId }: GateCall): void {
    const left = (this.#counts.get(conversationId) ?? 0) - 1;
    if (left > 0) this.#counts.set(conversationId, left);
    else this.#counts.delete(conversationId);
    this.#all -= 1;
  }
}
