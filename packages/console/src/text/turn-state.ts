import type { Conversation, Turn } from '../api/types.ts';

export type Tone = 'busy' | 'waiting' | 'good' | 'bad' | 'quiet';

/** State of a conversation in a word or two. */
export function stateOf({
  turn,
  waitingMessages,
  workerNeed,
}: Pick<Conversation, 'turn' | 'waitingMessages' | 'workerNeed'>): {
  readonly label: string;
  readonly tone: Tone;
} {
  if (isOpen(turn)) return OPEN[turn.state];
  if (workerNeed !== null) return OPEN.waiting_for_worker;
  if (turn === null || waitingMessages > 0) return { label: 'queued', tone: 'busy' };
  const outcome = turn.outcome ?? 'completed';
  if (outcome === 'completed') return { label: 'completed', tone: 'good' };
  return { label: outcome.replaceAll('_', ' '), tone: outcome === 'stopped' ? 'quiet' : 'bad' };
}

const OPEN = {
  running: { label: 'running', tone: 'busy' },
  waiting_for_approval: { label: 'waiting for approval', tone: 'waiting' },
  waiting_for_answer: { label: 'waiting for an answer', tone: 'waiting' },
  waiting_for_rate_limit: { label: 'waiting for the provider', tone: 'waiting' },
  waiting_for_worker: { label: 'waiting for a worker', tone: 'waiting' },
} as const satisfies Record<Exclude<Turn['state'], 'ended'>, { label: string; tone: Tone }>;

export function isOpen(turn: Turn | null): turn is Turn & { readonly state: keyof typeof OPEN } {
  return turn !== null && turn.state !== 'ended';
}
