import type { JsonValue } from '../context/compaction-hook.ts';
import type { Operation, SummaryInForce, SummaryShown } from '../context/plan.ts';
import { toOperation } from './compaction-rows.ts';
import type { Fragment, Queries } from './database.ts';
import { parseMeasurements } from './measurement-columns.ts';

/** A place in the entry tree from which a view is looked at. */
export interface ViewPoint {
  readonly conversationId: string;
  /** Branch of the head. */
  readonly branch: number;
  readonly headEntryId: string;
  readonly headSequence: number;
  /** Only compactions up to this number count: what was committed later did not exist for the view. */
  readonly compactions: number;
  /** Compactions up to this number no longer count; their turns are over. Default: 0. */
  readonly compactionsOver?: number;
}

/** Condition on `entries e`: lies on the path from the first entry to the head. */
export function onPath(sql: Queries, point: ViewPoint) {
  return sql`e.conversation_id = ${point.conversationId} and e.sequence <= ${point.headSequence} and exists (
    select from branches b
    where b.conversation_id = ${point.conversationId} and b.branch = ${point.branch} and b.ancestor = e.branch
      and e.sequence <= b.through_sequence)`;
}

export interface StoredSummary extends SummaryInForce {
  readonly text: string;
  readonly files: { readonly read: readonly string[]; readonly modified: readonly string[] };
  /** What a hook stored with it. */
  readonly details: JsonValue;
}

/** The newest committed summary whose last covered entry lies on the path. */
export async function readSummaryInForce(sql: Queries, point: ViewPoint): Promise<StoredSummary | null> {
  if (point.compactions === (point.compactionsOver ?? 0)) return null;
  const [row] = await sql<
    {
      id: string;
      covered_through_sequence: number;
      first_kept_sequence: number;
      summary: string;
      summary_measurements: string;
      files: StoredSummary['files'] | null;
      details: JsonValue;
      shown: SummaryShown | null;
      in_place: boolean | null;
      kept: string[];
    }[]
  >`
    select c.id, c.covered_through_sequence, c.first_kept_sequence, c.summary, c.summary_measurements, c.files, c.details,
      c.plan -> 'shown' as shown, (c.plan ->> 'inPlace')::boolean as in_place,
      array(
        select k.entry_id from compaction_kept_entries k join entries u on u.id = k.entry_id
        where k.compaction_id = c.id order by u.sequence) as kept
    from compactions c
    join entries e on e.conversation_id = c.conversation_id and e.sequence = c.covered_through_sequence
    where c.conversation_id = ${point.conversationId} and c.status = 'committed'
      and c.number <= ${point.compactions} and c.number > ${point.compactionsOver ?? 0} and ${onPath(sql, point)}
    order by c.number desc limit 1`;
  if (row === undefined) return null;
  return {
    compactionId: row.id,
    coveredThroughSequence: row.covered_through_sequence,
    firstKeptSequence: row.first_kept_sequence,
    keptUserEntryIds: row.kept,
    measurements: parseMeasurements(row.summary_measurements),
    ...(row.shown !== null && { shown: row.shown }),
    ...(row.in_place !== null && { inPlace: row.in_place }),
    text: row.summary,
    files: row.files ?? { read: [], modified: [] },
    details: row.details,
  };
}

/** What a view or a plan can need of the path: everything from the cut on, and some entries before it. */
export interface ViewScope {
  readonly point: ViewPoint;
  readonly summary: StoredSummary | null;
  /** The cut; 1 without a summary. */
  readonly fromSequence: number;
  /** Kept user messages and the newest note of each slot from before the cut. */
  readonly olderSequences: readonly number[];
}

export async function readViewScope(sql: Queries, point: ViewPoint): Promise<ViewScope> {
  const summary = await readSummaryInForce(sql, point);
  if (summary === null) return { point, summary, fromSequence: 1, olderSequences: [] };
  const { firstKeptSequence: fromSequence, keptUserEntryIds } = summary;
  const rows = await sql<{ sequence: number }[]>`
    select e.sequence from entries e where e.id = any(${[...keptUserEntryIds]}) and e.sequence < ${fromSequence}
    union
    select note.sequence from unnest(array['rules', 'memories', 'continuation', 'plan']) as slots (slot)
    cross join lateral (
      select e.sequence from entries e
      where ${onPath(sql, point)} and e.kind = 'note' and e.slot = slots.slot and e.sequence < ${fromSequence}
      order by e.sequence desc limit 1) as note`;
  return { point, summary, fromSequence, olderSequences: rows.map(({ sequence }) => sequence) };
}

/** Rows of `from` on `entries e` in the scope, oldest first. Two ranges of one index, however long the conversation is. */
export function entriesInScope(sql: Queries, scope: ViewScope, columns: Fragment, joins: Fragment) {
  const { point, fromSequence, olderSequences } = scope;
  const recent = sql`select ${columns} from entries e ${joins} where ${onPath(sql, point)} and e.sequence >= ${fromSequence}`;
  if (olderSequences.length === 0) return sql`${recent} order by sequence`;
  return sql`
    select ${columns} from entries e ${joins}
    where e.conversation_id = ${point.conversationId} and e.sequence = any(${[...olderSequences]}::int[])
    union all ${recent} order by sequence`;
}

/** Operations in force on entries of the scope, the newest per entry. */
export async function readOperationsInForce(sql: Queries, scope: ViewScope): Promise<Operation[]> {
  const { point, fromSequence, olderSequences } = scope;
  if (point.compactions === (point.compactionsOver ?? 0)) return [];
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
    select distinct on (o.entry_sequence) e.id, o.kind, o.head_characters, o.tail_characters, o.array_items, o.measurements
    from compaction_operations o
    join compactions c on c.id = o.compaction_id and c.status = 'committed'
      and c.number <= ${point.compactions} and c.number > ${point.compactionsOver ?? 0}
    join entries e on e.conversation_id = o.conversation_id and e.sequence = o.entry_sequence
    where o.conversation_id = ${point.conversationId} and ${onPath(sql, point)}
      and (o.entry_sequence >= ${fromSequence} or o.entry_sequence = any(${[...olderSequences]}::int[]))
    order by o.entry_sequence, c.number desc`;
  return rows.map(toOperation);
}
