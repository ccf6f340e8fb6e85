import type { Conversation, HoldfastClient } from '../../client/types.ts';
import { readEvent } from '../render/read-event.ts';
import type { CompactionFacts, ReadEvent } from '../render/read-event.ts';
import { applyEvent, startState } from '../render/turn-state.ts';
import type { TurnScreenState } from '../render/turn-state.ts';
import type { Display } from './display.ts';

export type CompactionEnd =
  | { readonly kind: 'committed'; readonly compaction: CompactionFacts }
  /** Declined, and why; `null` when an older worker did not say. */
  | { readonly kind: 'nothing'; readonly reason: string | null }
  | { readonly kind: 'failed'; readonly reason: string | null }
  /** The signal aborted. */
  | { readonly kind: 'left' };

/** Sends the request and shows the compaction that follows, and of the turn nothing else. */
export async function followCompaction(options: {
  readonly client: Pick<HoldfastClient, 'getConversation' | 'watch'>;
  readonly conversationId: string;
  readonly display: Display;
  readonly signal: AbortSignal;
  readonly request: () => Promise<void>;
}): Promise<CompactionEnd> {
  const { client, conversationId, display, signal } = options;
  // What was there before the request is not its effect.
  const { eventCount: afterSequence, turn } = await client.getConversation(conversationId);
  await options.request();
  let state = stateAtRequest(turn);
  let planned: CompactionFacts | null = null;
  display.show(state, []);
  for await (const update of client.watch({ conversationId, afterSequence, liveText: false, signal })) {
    if (update.type !== 'event') continue;
    const event = readEvent(update.event);
    const applied = applyEvent(state, event, null);
    state = heardNow(applied.state);
    display.show(state, isShown(event) ? applied.items : []);
    if (event.kind === 'compaction_started') planned = event.compaction;
    const end = endOf(event, planned);
    if (end === null) continue;
    // A turn that ended before it looked at the request leaves it to the next one, which may have begun by now.
    if (event.kind === 'turn_ended' && !(await hasServed(client, conversationId, update.event.turnId))) continue;
    return end;
  }
  return { kind: 'left' };
}

/** Whether nothing waits any longer, and no turn came after this one that could have taken the request. */
async function hasServed(
  client: Pick<HoldfastClient, 'getConversation'>,
  conversationId: string,
  turnId: string | null,
): Promise<boolean> {
  const { waitingMessages, turn } = await client.getConversation(conversationId);
  return waitingMessages === 0 && (turn === null || turn.turnId === turnId);
}

/** A turn that runs is not waited for. */
function stateAtRequest(turn: Conversation['turn']): TurnScreenState {
  const state = startState(Date.now());
  return turn === null || turn.state === 'ended' ? state : { ...state, activity: { kind: 'preparing' } };
}

function heardNow(state: TurnScreenState): TurnScreenState {
  return { ...state, heardAt: Date.now() };
}

function isShown({ kind }: ReadEvent): boolean {
  return kind.startsWith('compaction_') || kind === 'part_written' || kind === 'part_failed' || kind === 'form_failed';
}

/** The event of the end tells what came out; what was planned, its range and parts, is told at the start. */
function endOf(event: ReadEvent, planned: CompactionFacts | null): CompactionEnd | null {
  if (event.kind === 'compaction_committed')
    return { kind: 'committed', compaction: withPlan(event.compaction, planned) };
  if (event.kind === 'compaction_declined') return { kind: 'nothing', reason: event.reason };
  if (event.kind === 'compaction_exhausted' || event.kind === 'compaction_abandoned') {
    return { kind: 'failed', reason: event.kind };
  }
  if (event.kind === 'turn_ended') {
    return event.outcome === 'completed'
      ? { kind: 'nothing', reason: null }
      : { kind: 'failed', reason: event.outcome };
  }
  return null;
}

function withPlan(committed: CompactionFacts, planned: CompactionFacts | null): CompactionFacts {
  if (planned === null || planned.compactionId !== committed.compactionId) return committed;
  const { parts, operations, fromSequence, toSequence } = planned;
  return {
    ...committed,
    parts: committed.parts ?? parts,
    operations: committed.operations ?? operations,
    fromSequence: committed.fromSequence ?? fromSequence,
    toSequence: committed.toSequence ?? toSequence,
  };
}
