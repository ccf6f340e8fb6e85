/** Events of the timeline as ACP's updates, where an event alone says enough. Pure. */
import type { SessionUpdate, StopReason } from '@agentclientprotocol/sdk';
import type { TimelineEvent } from '../../client/types.ts';
import type { TurnOutcome } from '../../turn/turn-reference.ts';
import { textUpdate } from './entry-updates.ts';

/** Of the outcomes that ACP has a word for; the others are told in words too. */
const STOP_REASONS: Partial<Record<TurnOutcome, StopReason>> = {
  completed: 'end_turn',
  stopped: 'cancelled',
  refused: 'refusal',
  budget_exhausted: 'max_turn_requests',
  context_exhausted: 'max_tokens',
};

export function stopReasonOf(outcome: TurnOutcome): StopReason {
  return STOP_REASONS[outcome] ?? 'end_turn';
}

/**
 * A compaction that began or ended, for a client that knows them; otherwise one sentence at its end.
 * @param summary of a compaction that was committed
 */
export function compactionUpdates(
  event: TimelineEvent,
  { isKnown, summary }: { readonly isKnown: boolean; readonly summary: string | null },
): SessionUpdate[] {
  switch (event.kind) {
    case 'compaction_started':
      return isKnown && event.data.formNumber === 1 ? [compaction(event.data.compactionId, 'in_progress')] : [];
    case 'compaction_committed': {
      const { compactionId, tokensBefore, tokensAfter } = event.data;
      if (isKnown) return [compaction(compactionId, 'completed', summary)];
      const sizes = `${tokensBefore.toLocaleString('en')} to ${tokensAfter.toLocaleString('en')} tokens`;
      return [textUpdate('agent_thought_chunk', `The context was compacted from ${sizes}.\n`)];
    }
    case 'compaction_abandoned':
      return isKnown ? [compaction(event.data.compactionId, 'failed', null, event.data.failure)] : [];
    default:
      return [];
  }
}

export function compaction(
  compactionId: string,
  status: 'in_progress' | 'completed' | 'failed',
  summary: string | null = null,
  error?: string,
): SessionUpdate {
  return {
    sessionUpdate: 'compaction_update',
    compactionId,
    status,
    ...(summary !== null && { summary: [{ type: 'text' as const, text: summary }] }),
    ...(error !== undefined && { error }),
  };
}
