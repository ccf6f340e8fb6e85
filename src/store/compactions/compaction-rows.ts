import type { JsonValue } from '../../context/policy/compaction-hook.ts';
import type { CompactionForm, CompactionPlan, CompactionReason, Operation } from '../../context/plan/plan.ts';
import type { Queries } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { parseMeasurements } from '../log/measurement-columns.ts';
import { isoTime, isoTimeOrNull } from '../log/stored-text.ts';

/** `planned`: being carried out. `committed`: in force. `failed`: replaced by a weaker form, or none was left. `abandoned`: its turn ended. */
export type CompactionStatus = 'planned' | 'committed' | 'failed' | 'abandoned';

/** Lines before and after the instruction to a summarizing model. */
export interface ContextLines {
  readonly prepend: readonly string[];
  readonly append: readonly string[];
}

export const NO_CONTEXT_LINES: ContextLines = { prepend: [], append: [] };

export interface CompactionRow {
  readonly compactionId: string;
  readonly conversationId: string;
  readonly turnId: string;
  readonly callNumber: number;
  readonly status: CompactionStatus;
  readonly reason: CompactionReason;
  readonly preset: string;
  readonly form: CompactionForm;
  /** 1 for the first form of a pass, 2 for the weaker one that follows … */
  readonly formNumber: number;
  readonly plan: CompactionPlan;
  readonly focus: string | null;
  /** What a hook stored with it, or the compaction before. */
  readonly details: JsonValue;
  /** What hooks add to the request for the summary. */
  readonly contextLines: ContextLines;
  /** Newest entry when it was planned. */
  readonly headEntryId: string;
  /** The compaction whose summary this one updates. */
  readonly previousCompactionId: string | null;
  /** Marker entry, once committed. */
  readonly markerEntryId: string | null;
  /** Newest entry after the commit: the marker or the continuation note. */
  readonly committedHeadEntryId: string | null;
  /** The weaker form that replaced a failed one. */
  readonly nextCompactionId: string | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number | null;
  /** Code of why it failed or was abandoned. */
  readonly failure: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

interface CompactionColumns {
  readonly id: string;
  readonly conversation_id: string;
  readonly turn_id: string;
  readonly call_number: number;
  readonly status: CompactionStatus;
  readonly reason: CompactionReason;
  readonly preset: string;
  readonly form: CompactionForm;
  readonly form_number: number;
  readonly plan: Omit<CompactionPlan, 'operations'>;
  readonly focus: string | null;
  readonly details: JsonValue;
  readonly context_lines: ContextLines | null;
  readonly head_entry_id: string;
  readonly previous_id: string | null;
  readonly marker_entry_id: string | null;
  readonly committed_head_entry_id: string | null;
  readonly next_id: string | null;
  readonly tokens_before: number;
  readonly tokens_after: number | null;
  readonly failure: string | null;
  readonly created_at: Date;
  readonly finished_at: Date | null;
}

/** @throws StoreError `compaction_not_found` */
export async function getCompaction(sql: Queries, compactionId: string): Promise<CompactionRow> {
  const [row] = isId(compactionId)
    ? await sql<CompactionColumns[]>`
        select c.*, (select n.id from compactions n where n.replaces_id = c.id) as next_id
        from compactions c where c.id = ${compactionId}`
    : [];
  if (row === undefined) throw new StoreError('compaction_not_found', `there is no compaction ${compactionId}`);
  return toCompactionRow(row, await readOperations(sql, compactionId));
}

function toCompactionRow(row: CompactionColumns, operations: readonly Operation[]): CompactionRow {
  return {
    compactionId: row.id,
    conversationId: row.conversation_id,
    turnId: row.turn_id,
    callNumber: row.call_number,
    status: row.status,
    reason: row.reason,
    preset: row.preset,
    form: row.form,
    formNumber: row.form_number,
    plan: { ...row.plan, operations },
    focus: row.focus,
    details: row.details,
    contextLines: row.context_lines ?? NO_CONTEXT_LINES,
    headEntryId: row.head_entry_id,
    previousCompactionId: row.previous_id,
    markerEntryId: row.marker_entry_id,
    committedHeadEntryId: row.committed_head_entry_id,
    nextCompactionId: row.next_id,
    tokensBefore: row.tokens_before,
    tokensAfter: row.tokens_after,
    failure: row.failure,
    createdAt: isoTime(row.created_at),
    finishedAt: isoTimeOrNull(row.finished_at),
  };
}

async function readOperations(sql: Queries, compactionId: string): Promise<Operation[]> {
  const rows = await sql<
    {
      id: string;
      kind: Operation['kind'];
      head_characters: number | null;
      tail_characters: number | null;
      array_items: number | null;
      measurements: string;
    }[]
  >`
    select e.id, o.kind, o.head_characters, o.tail_characters, o.array_items, o.measurements from compaction_operations o
    join entries e on e.conversation_id = o.conversation_id and e.sequence = o.entry_sequence
    where o.compaction_id = ${compactionId} order by o.entry_sequence`;
  return rows.map(toOperation);
}

/** Of the columns `id` (the entry's), `kind`, `head_characters`, `tail_characters`, `array_items` and `measurements`. */
export function toOperation(row: {
  readonly id: string;
  readonly kind: Operation['kind'];
  readonly head_characters: number | null;
  readonly tail_characters: number | null;
  readonly array_items: number | null;
  readonly measurements: string;
}): Operation {
  return {
    entryId: row.id,
    kind: row.kind,
    measurements: parseMeasurements(row.measurements),
    ...(row.head_characters !== null && { headCharacters: row.head_characters }),
    ...(row.tail_characters !== null && { tailCharacters: row.tail_characters }),
    ...(row.array_items !== null && { arrayItems: row.array_items }),
  };
}
