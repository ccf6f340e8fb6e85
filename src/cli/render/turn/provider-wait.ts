import type { TimelineEvent } from '../../../client/types.ts';
import { formatClock } from '../text/numbers.ts';
import { safeLine } from '../text/safe-text.ts';
import type { Applied, TurnScreenState } from './turn-state.ts';

/** A turn that waits for its provider, until when it asks again. */
export interface WaitingForProvider {
  readonly kind: 'limited';
  readonly provider: string;
  readonly reason: WaitEvent['data']['reason'];
  /** Milliseconds since 1970. */
  readonly until: number;
}

type WaitEvent = TimelineEvent<'turn_waiting'>;

const REASONS: Readonly<Record<WaitEvent['data']['reason'], string>> = {
  rate_limit: 'rate limit',
  outage: 'not available',
  call_limit: 'limit of calls',
  token_limit: 'limit of tokens',
  call_or_token_limit: 'limit of calls or tokens',
};

/** A call in the queue says so again every half minute, and summaries side by side wait at the same time: one wait, told once. */
export function applyProviderWait(state: TurnScreenState, event: WaitEvent): Applied {
  const { provider, reason, delayMilliseconds } = event.data;
  const due = Date.parse(event.createdAt) + delayMilliseconds;
  const { activity } = state;
  const before =
    activity.kind === 'limited' && activity.provider === provider && activity.reason === reason ? activity : null;
  const until = Math.max(due, before?.until ?? due);
  return {
    state: { ...state, activity: { kind: 'limited', provider, reason, until } },
    items: before !== null ? [] : [{ kind: 'notice', level: 'information', text: waitNotice(event, due) }],
  };
}

/** No event tells of the begin of the call of a summary that waited; this one tells that it began. */
export function applyWaitOver(state: TurnScreenState): Applied {
  const text = 'The wait for the provider is over; the turn goes on.';
  return {
    state: state.activity.kind === 'limited' ? { ...state, activity: { kind: 'preparing' } } : state,
    items: [{ kind: 'notice', level: 'information', text }],
  };
}

function waitNotice({ createdAt, data }: WaitEvent, due: number): string {
  const seconds = Math.ceil(data.delayMilliseconds / 1_000);
  const until = formatClock(due, Date.parse(createdAt));
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
