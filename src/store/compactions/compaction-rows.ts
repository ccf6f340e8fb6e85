import { definedOf } from '../../context/policy/defined-of.ts';
import type { JsonValue } from '../../context/policy/compaction-hook.ts';
import type { CompactionForm, CompactionPlan, CompactionReason, Operation } from '../../context/plan/plan.ts';
import type { Fragment, Queries } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { parseMeasurements } from '../log/measurement-columns.ts';

/** `planned`: being carried out. `committed`: in force. `failed`: replaced by a weaker form, or none was left. `abandoned`: its turn ended. */
export type CompactionStatus = 'planned' | 'committed' | 'failed' | 'abandoned';

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
  readonly contextLines: ContextLines;
  /** Newest entry when it was planned. */
  readonly headEntryId: string;
  /** The compaction whose summary this one updates. */
  readonly previousCompactionId: string | null;
  readonly markerEntryId: string | null;
  /** The weaker form that replaced a failed one. */
  readonly nextCompactionId: string | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number | null;
  readonly failure: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

export async function getCompaction(sql: Queries, compactionId: string): Promise<CompactionRow> {
  const [row] = isId(compactionId)
    ? await sql<CompactionRow[]>`
        select c.id as "compactionId", c.conversation_id, c.turn_id, c.call_number,
          c.status, c.reason, c.preset, c.form, c.form_number, c.plan, c.focus, c.details,
          coalesce(c.context_lines, '{"prepend": [], "append": []}') as "contextLines", c.head_entry_id,
          c.previous_id as "previousCompactionId", c.marker_entry_id,
          (select n.id from compactions n where n.replaces_id = c.id) as "nextCompactionId", c.tokens_before,
          c.tokens_after, c.failure, iso_time(c.created_at) as "createdAt", iso_time(c.finished_at) as "finishedAt"
        from compactions c where c.id = ${compactionId}`
    : [];
  if (row === undefined) throw new StoreError('compaction_not_found', `there is no compaction ${compactionId}`);
  return { ...row, plan: { ...row.plan, operations: await readOperations(sql, compactionId) } };
}

async function readOperations(sql: Queries, compactionId: string): Promise<Operation[]> {
  const rows = await sql<OperationColumns[]>`
    select ${operationColumns(sql)} from compaction_operations o
    join entries e on e.conversation_id = o.conversation_id and e.sequence = o.entry_sequence
    where o.compaction_id = ${compactionId} order by o.entry_sequence`;
  return rows.map(toOperation);
}

export type OperationColumns = Pick<Operation, 'entryId' | 'kind'> & {
  readonly [Size in 'headCharacters' | 'tailCharacters' | 'arrayItems']: number | null;
} & { readonly measurements: string };

/** Of `compaction_operations o join entries e`. */
export function operationColumns(sql: Queries): Fragment {
  return sql`e.id as entry_id, o.kind, o.head_characters, o.tail_characters, o.array_items, o.measurements`;
}

export function toOperation({ entryId, kind, measurements, ...sizes }: OperationColumns): Operation {
  return {
    entryId,
    kind,
    measurements: parseMeasurements(measurements),
    ...definedOf({
      headCharacters: sizes.headCharacters ?? undefined,
      tailCharacters: sizes.tailCharacters ?? undefined,
      arrayItems: sizes.arrayItems ?? undefined,
    }),
  };
}
