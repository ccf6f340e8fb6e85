import type { Conversation, TimelineEvent, WaitingCall } from '../../client/types.ts';
import type { Holdfast } from '../../client/holdfast.ts';
import type { CommittedCompaction } from '../render/turn/compaction-state.ts';
import { callOf } from '../render/turn/decision-state.ts';
import { startState } from '../render/turn/turn-state.ts';
import type { TurnScreenState } from '../render/turn/turn-state.ts';
import { safeLine } from '../render/text/safe-text.ts';
import type { TurnItem } from '../render/turn/turn-items.ts';
import { decideCommand } from '../render/turn/waiting-call.ts';
import { Follower } from './follower.ts';
import type { Followed } from './follower.ts';

export type CompactionEnd =
  | { readonly kind: 'committed'; readonly compaction: CommittedCompaction }
  /** Declined, and why; `null` when the event does not say. */
  | { readonly kind: 'nothing'; readonly reason: string | null }
  | { readonly kind: 'failed'; readonly reason: string | null }
  /** The signal aborted. */
  | { readonly kind: 'left' };

/** Sends the request and shows the compaction that follows, and of the turn nothing else. */
export async function followCompaction(
  options: Followed & {
    readonly client: { readonly conversation: Pick<Holdfast['conversation'], 'get' | 'watch'> };
    readonly request: () => Promise<unknown>;
  },
): Promise<CompactionEnd> {
  const { client, conversationId } = options;
  // What was there before the request is not its effect.
  const conversation = await client.conversation.get({ conversationId });
  const { eventCount } = conversation;
  await options.request();
  const follower = new Follower(options, stateAtRequest(conversation));
  follower.show(conversation.waitingCalls.map((call) => decisionNotice(conversationId, call)));
  for await (const update of follower.updates({ afterSequence: newsAfter(conversation), liveText: false })) {
    if (update.type !== 'event') continue;
    const { event } = update;
    const items = follower.apply(event);
    if (event.sequence <= eventCount) {
      follower.show();
      continue;
    }
    follower.show(shownItems(conversationId, event, items));
    const end = endOf(event);
    if (end === null) continue;
    // A turn that ended before it looked at the request leaves it to the next one, which may have begun by now.
    const { turnId } = event;
    if (event.kind === 'turn_ended' && !(await follower.through(() => hasServed(client, conversationId, turnId))))
      continue;
    return end;
  }
  return { kind: 'left' };
}

/** Whether nothing waits any longer, and no turn came after this one that could have taken the request. */
async function hasServed(
  client: { readonly conversation: Pick<Holdfast['conversation'], 'get'> },
  conversationId: string,
  turnId: string | null,
): Promise<boolean> {
  const { waitingMessages, turn } = await client.conversation.get({ conversationId });
  return waitingMessages === 0 && (turn === null || turn.turnId === turnId);
}

/** A turn that runs is not waited for; one that waits for a person shows for which decisions. */
function stateAtRequest({ turn, waitingCalls }: Conversation): TurnScreenState {
  const state = startState(Date.now());
  if (turn === null || turn.state === 'ended') return state;
  const calls = waitingCalls.map(({ call }) => call);
  return { ...state, activity: calls.length === 0 ? { kind: 'preparing' } : { kind: 'asking', calls } };
}

/** For which provider a turn waits, and until when, its newest event tells: that one is read too. */
function newsAfter({ turn, eventCount }: Conversation): number {
  return turn?.state === 'waiting_for_rate_limit' ? Math.max(0, eventCount - 1) : eventCount;
}

/** Of the turn only what the compaction waits for. */
function shownItems(conversationId: string, event: TimelineEvent, items: readonly TurnItem[]): readonly TurnItem[] {
  if (event.kind === 'decision_requested') {
    const call = { call: callOf(event.data), tool: event.data.name, kind: event.data.kind };
    return [decisionNotice(conversationId, call)];
  }
  return isShown(event) ? items : [];
}

function isShown({ kind }: TimelineEvent): boolean {
  return kind.startsWith('compaction_') || kind === 'decision_made' || kind === 'turn_waiting';
}

/** A turn that waits for a person makes no model call, before which it would compact. */
function decisionNotice(conversationId: string, waiting: Pick<WaitingCall, 'call' | 'kind' | 'tool'>): TurnItem {
  const { call, kind, tool } = waiting;
  const wanted =
    kind === 'question' ? `your answer to call ${call}` : `your approval of call ${call} (${safeLine(tool)})`;
  const text = `The turn waits for ${wanted}; the compaction is made when the decision has come: ${decideCommand(conversationId, waiting)}`;
  return { kind: 'notice', level: 'warning', text };
}

/** `null`: not yet. */
function endOf(event: TimelineEvent): CompactionEnd | null {
  switch (event.kind) {
    case 'compaction_committed':
      return { kind: 'committed', compaction: event.data };
    case 'compaction_declined': {
      const { reason } = event.data;
      return { kind: reason === 'stopped' ? 'failed' : 'nothing', reason };
    }
    case 'compaction_exhausted':
    case 'compaction_abandoned':
      return { kind: 'failed', reason: event.kind };
    case 'turn_ended': {
      const { outcome } = event.data;
      return outcome === 'completed' ? { kind: 'nothing', reason: null } : { kind: 'failed', reason: outcome };
    }
    default:
      return null;
  }
}
