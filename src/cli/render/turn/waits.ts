import type { Conversation, TimelineEvent } from '../../../client/types.ts';
import { formatClock } from '../text/numbers.ts';
import { safeLine } from '../text/safe-text.ts';
import type { Applied, TurnScreenState } from './turn-state.ts';

/** A turn that waits for its provider, until when it asks again. */
export interface WaitingForProvider {
  readonly kind: 'limited';
  readonly provider: string;
  readonly reason: ProviderWaitData['reason'];
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** A turn that waits for a worker. */
export interface WaitingForWorker {
  readonly kind: 'unserved';
  /** What no worker has so far, as `the tool convert`. */
  readonly need: string;
}

type WorkerNeed = NonNullable<Conversation['workerNeed']>;
type WaitData = TimelineEvent<'turn_waiting'>['data'];
type ProviderWaitData = Exclude<WaitData, { readonly reason: 'no_worker' }>;

const REASONS: Readonly<Record<ProviderWaitData['reason'], string>> = {
  rate_limit: 'rate limit',
  outage: 'not available',
  call_limit: 'limit of calls',
  token_limit: 'limit of tokens',
  call_or_token_limit: 'limit of calls or tokens',
};

export function applyWait(state: TurnScreenState, { data, createdAt }: TimelineEvent<'turn_waiting'>): Applied {
  if (data.reason !== 'no_worker') return applyProviderWait(state, data, Date.parse(createdAt));
  return {
    state: { ...state, activity: { kind: 'unserved', need: needWords(data) } },
    items: [{ kind: 'notice', level: 'warning', text: workerNeedNotice(data) }],
  };
}

export function workerNeedNotice(need: WorkerNeed): string {
  return `No worker has ${needWords(need)} so far. The turn begins or goes on when one does.`;
}

function needWords({ needs, name }: WorkerNeed): string {
  return `the ${needs} ${safeLine(name)}`;
}

/** A call in the queue says so again every half minute, and summaries side by side wait at the same time: one wait, told once. */
function applyProviderWait(state: TurnScreenState, data: ProviderWaitData, toldAt: number): Applied {
  const { provider, reason, delayMilliseconds } = data;
  const due = toldAt + delayMilliseconds;
  const { activity } = state;
  const before =
    activity.kind === 'limited' && activity.provider === provider && activity.reason === reason ? activity : null;
  const until = Math.max(due, before?.until ?? due);
  return {
    state: { ...state, activity: { kind: 'limited', provider, reason, until } },
    items: before !== null ? [] : [{ kind: 'notice', level: 'information', text: waitNotice(data, toldAt) }],
  };
}

/** No event tells of the begin of a tool, or of the call of a summary, that waited; this one tells that it began. */
export function applyWaitOver(state: TurnScreenState): Applied {
  const { kind } = state.activity;
  const text = `The wait for ${kind === 'unserved' ? 'a worker' : 'the provider'} is over; the turn goes on.`;
  return {
    state: kind === 'limited' || kind === 'unserved' ? { ...state, activity: { kind: 'preparing' } } : state,
    items: [{ kind: 'notice', level: 'information', text }],
  };
}

function waitNotice(data: ProviderWaitData, toldAt: number): string {
  const seconds = Math.ceil(data.delayMilliseconds / 1_000);
  const until = formatClock(toldAt + data.delayMilliseconds, toldAt);
  return `The turn waits ${seconds} s for ${providerWords(data)}, until ${until}.`;
}

/** What the status line says; of a wait that is over and of which nothing more was heard, that the call comes. */
export function waitingWords(wait: WaitingForProvider, now: number): string {
  if (now >= wait.until) return 'waiting to call the model again';
  return `waiting for ${providerWords(wait)}, until ${formatClock(wait.until, now)}`;
}

function providerWords({ provider, reason }: Pick<WaitingForProvider, 'provider' | 'reason'>): string {
  return `${safeLine(provider)}: ${REASONS[reason]}`;
}
