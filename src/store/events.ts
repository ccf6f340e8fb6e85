import type { Database } from './database.ts';

/** NOTIFY channel of the timeline. Payload: `<conversation id> <number of the newest event>`, or `<conversation id> 0` for a message that waits. */
export const EVENTS_CHANNEL = 'holdfast_events';

export type EventKind =
  | 'message_taken'
  | 'turn_begun'
  | 'turn_continued'
  | 'turn_ended'
  | 'model_call_started'
  | 'model_call_answered'
  | 'model_call_failed'
  | 'tool_call_claimed'
  | 'tool_call_finished'
  | 'tool_result_late'
  | 'compaction_started'
  | 'compaction_part_written'
  | 'compaction_part_failed'
  | 'compaction_form_failed'
  | 'compaction_committed'
  | 'compaction_exhausted'
  | 'compaction_abandoned'
  | 'continuation_added'
  | 'rules_changed';

/** Ids, names, counts and flags; never message text. */
export type EventData = Readonly<Record<string, string | number | boolean | null | readonly (string | number)[]>>;

export interface EventRow {
  readonly conversationId: string;
  /** Order within the conversation, from 1, without gaps. */
  readonly number: number;
  readonly kind: EventKind;
  readonly turnId: string | null;
  readonly data: EventData;
  readonly createdAt: string;
}

/** Events after a number, oldest first; at most `limit` (default 500). */
export async function listEvents(
  _sql: Database,
  _request: { readonly conversationId: string; readonly after?: number; readonly limit?: number },
): Promise<EventRow[]> {
  throw new Error('unwritten');
}

/**
 * Appends an event in a transaction of its own, for what no other write of the store records.
 * @throws StoreError `stale_epoch` when the event names a turn that was taken over
 */
export async function recordEvent(
  _sql: Database,
  _event: {
    readonly turn: import('../turn/turn-reference.ts').TurnReference;
    readonly kind: EventKind;
    readonly data: EventData;
  },
): Promise<number> {
  throw new Error('unwritten');
}
