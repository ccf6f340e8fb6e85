import { contentProblem } from '../../context/log/content.ts';
import type { EntryKind, NoteSlot } from '../../context/log/entry.ts';
import { NO_MEASUREMENTS } from '../../context/log/measurements.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Transaction } from '../database/database.ts';
import type { NewContent } from './entries.ts';
import { newId } from '../database/ids.ts';
import { measurementsText } from './measurement-columns.ts';
import { jsonText, plainText } from './stored-text.ts';

export interface NewEntry extends NewContent {
  /** Made by the caller when the content must name it. Default: a new one. */
  readonly id?: string;
  readonly turn: TurnReference;
  readonly kind: EntryKind;
  /** Refused as `head_moved` when another entry is the head; left out, the head is the parent. */
  readonly parentId?: string;
  /** When it was said, where that was elsewhere; ISO 8601. Default, and what lies ahead: now. */
  readonly createdAt?: string;
  // Only some kinds have these; checks of the table say which.
  readonly callNumber?: number | null;
  readonly modelAttempt?: number;
  readonly toolCallCount?: number;
  readonly callIndex?: number | null;
  readonly toolName?: string | null;
  readonly isError?: boolean;
  readonly slot?: NoteSlot | null;
  readonly key?: string | null;
  readonly messageId?: string;
  readonly compactionId?: string | null;
}

/**
 * Appends one entry; sequence, branch and sums are the database's. Returns its id and sequence.
 * @throws TypeError for content that no later read could use: such a row would end its conversation
 */
export async function insertEntry(
  sql: Transaction,
  entry: NewEntry,
): Promise<{ readonly id: string; readonly sequence: number }> {
  const problem = contentProblem(entry.content);
  if (problem !== null) throw new TypeError(`content of an entry: ${problem}`);
  const id = entry.id ?? newId();
  const { turn, toolName = null } = entry;
  const [row] = await sql<{ sequence: number }[]>`
    insert into entries (id, conversation_id, parent_id, kind, slot, note_key, turn_id, epoch, call_number,
      model_attempt, call_index, tool_call_count, tool_name, is_error, message_id, compaction_id, content,
      original_id, measurements, created_at)
    values (${id}, ${turn.conversationId}, ${entry.parentId ?? null}, ${entry.kind}, ${entry.slot ?? null},
      ${entry.key ?? null}, ${turn.turnId}, ${turn.epoch}, ${entry.callNumber ?? null}, ${entry.modelAttempt ?? null},
      ${entry.callIndex ?? null}, ${entry.toolCallCount ?? null}, ${toolName === null ? null : plainText(toolName)},
      ${entry.isError ?? null}, ${entry.messageId ?? null}, ${entry.compactionId ?? null}, ${jsonText(entry.content)}::text::json,
      ${entry.original?.contentId ?? null}, ${measurementsText(entry.measurements)}::measurements,
      least(${entry.createdAt ?? null}::text::timestamptz, holdfast_now()))
    returning sequence`;
  if (row === undefined) throw new TypeError('an insert returns its row or raises');
  return { id, sequence: row.sequence };
}

export const EMPTY_CONTENT: NewContent = { content: [], measurements: NO_MEASUREMENTS };
