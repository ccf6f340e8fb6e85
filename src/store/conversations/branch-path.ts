import { definedOf } from '../../context/policy/defined-of.ts';
import type { JsonValue } from '../../context/policy/compaction-hook.ts';
import type { Operation, SummaryInForce } from '../../context/plan/plan.ts';
import { isId } from '../database/ids.ts';
import type { Fragment, Queries } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { parseMeasurements } from '../log/measurement-columns.ts';

export interface ViewPoint {
  readonly conversationId: string;
  readonly branch: number;
  readonly headEntryId: string;
  readonly headSequence: number;
  /** Only compactions up to this number count: what was committed later did not exist for the view. */
  readonly compactions: number;
  /** Compactions up to this number no longer count; their turns are over. Default: 0. */
  readonly compactionsOver?: number;
}

/**
 * An entry on its own branch, as a point from which no compaction counts.
 * @throws StoreError `entry_not_found`
 */
export async function pointAt(
  sql: Queries,
  { conversationId, headEntryId }: Pick<ViewPoint, 'conversationId' | 'headEntryId'>,
): Promise<ViewPoint> {
  const [head] = await sql<{ branch: number; sequence: number }[]>`
    select branch, sequence from entries where conversation_id = ${conversationId} and id = ${headEntryId}`;
  if (head === undefined) {
    throw new StoreError('entry_not_found', `conversation ${conversationId} has no entry ${headEntryId}`);
  }
  return { conversationId, headEntryId, branch: head.branch, headSequence: head.sequence, compactions: 0 };
}

/** The head of the active branch with everything committed; `null` before the first entry. */
export async function readCurrentPoint(
  sql: Queries,
  conversationId: string,
): Promise<(ViewPoint & { readonly epoch: number }) | null> {
  if (!isId(conversationId)) return null;
  const [row] = await sql<(ViewPoint & { readonly epoch: number })[]>`
    select c.id as conversation_id, c.epoch, c.branch, c.head_entry_id, e.sequence as head_sequence, c.compactions,
      c.compactions_over
    from conversations c join entries e on e.conversation_id = c.id and e.id = c.head_entry_id where c.id = ${conversationId}`;
  return row ?? null;
}

/** Condition on `entries e`, or on another name of that table: lies on the path from the first entry to the head. */
export function onPath(sql: Queries, point: ViewPoint, e: Fragment = sql`e`) {
  return sql`${e}.conversation_id = ${point.conversationId} and ${e}.sequence <= ${point.headSequence} and exists (
    select from branches b
    where b.conversation_id = ${point.conversationId} and b.branch = ${point.branch} and b.ancestor = ${e}.branch
      and ${e}.sequence <= b.through_sequence)`;
}

/** Condition on `compactions c` of the conversation: committed, and one of those that the point counts. */
function isCounted(sql: Queries, { compactions, compactionsOver = 0 }: ViewPoint) {
  return sql`c.status = 'committed' and c.number <= ${compactions} and c.number > ${compactionsOver}`;
}

/**
 * Condition on `compactions c`: the entry that marks it lies on the path. That of a conversation without branches always does,
 * and is not looked up.
 */
function isMarkedOnPath(sql: Queries, point: ViewPoint) {
  return sql`(
    not exists (select from branches f where f.conversation_id = ${point.conversationId} and f.branch > 0)
    or exists (select from entries m
      where m.conversation_id = c.conversation_id and m.id = c.marker_entry_id and ${onPath(sql, point, sql`m`)}))`;
}

function countsNone({ compactions, compactionsOver = 0 }: ViewPoint): boolean {
  return compactions === compactionsOver;
}

export interface StoredSummary extends SummaryInForce {
  readonly text: string;
  readonly files: { readonly read: readonly string[]; readonly modified: readonly string[] };
  readonly details: JsonValue;
}

/**
 * The newest committed summary of which the last entry that was read for it lies on the path: nothing else can be told in it.
 * When it was made on another branch, the first entry that it kept may lie there: then all that follows the covered ones here
 * is kept.
 */
export async function readSummaryInForce(sql: Queries, point: ViewPoint): Promise<StoredSummary | null> {
  if (countsNone(point)) return null;
  const [row] = await sql<(Omit<StoredSummary, 'measurements'> & { readonly measurements: string })[]>`
    select c.id as compaction_id, c.covered_through_sequence,
      coalesce(
        (select k.sequence from entries k where k.sequence = c.first_kept_sequence and ${onPath(sql, point, sql`k`)}),
        (select k.sequence from entries k where k.sequence > c.covered_through_sequence and ${onPath(sql, point, sql`k`)}
          order by k.sequence limit 1),
        c.covered_through_sequence + 1) as first_kept_sequence,
      c.summary as text, c.summary_measurements as measurements, c.details, c.plan -> 'keptSequences' as kept_sequences,
      coalesce(c.files, '{"read": [], "modified": []}') as files, c.plan -> 'shown' as shown
    from compactions c
    join entries e on e.conversation_id = c.conversation_id and e.sequence = c.covered_through_sequence
    where c.conversation_id = ${point.conversationId} and ${isCounted(sql, point)} and ${onPath(sql, point)}
    order by c.number desc limit 1`;
  if (row === undefined) return null;
  return { ...row, measurements: parseMeasurements(row.measurements) };
}

/** What a view or a plan can need of the path: everything from the cut on, and some entries before it. */
export interface ViewScope {
  readonly point: ViewPoint;
  readonly summary: StoredSummary | null;
  /** The cut; 1 without a summary. */
  readonly fromSequence: number;
  /** Kept entries and the newest note of each slot from before the cut. */
  readonly olderSequences: readonly number[];
}

export async function readViewScope(sql: Queries, point: ViewPoint): Promise<ViewScope> {
  const summary = await readSummaryInForce(sql, point);
  if (summary === null) return { point, summary, fromSequence: 1, olderSequences: [] };
  const { firstKeptSequence: fromSequence, keptSequences } = summary;
  const notes = await sql<{ sequence: number }[]>`
    select note.sequence from unnest(array['rules', 'memories', 'continuation', 'plan']) as slots (slot)
    cross join lateral (
      select e.sequence from entries e
      where ${onPath(sql, point)} and e.kind = 'note' and e.slot = slots.slot and e.sequence < ${fromSequence}
      order by e.sequence desc limit 1) as note`;
  const older = [...keptSequences, ...notes.map(({ sequence }) => sequence)];
  return { point, summary, fromSequence, olderSequences: older.filter((sequence) => sequence < fromSequence) };
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

/**
 * Operations in force on entries of the scope, the newest per entry: those of compactions whose marker lies on the path. What
 * another branch shortened, or cleared because of a newer note there, is whole on this one.
 */
export async function readOperationsInForce(sql: Queries, scope: ViewScope): Promise<Operation[]> {
  const { point, fromSequence, olderSequences } = scope;
  if (countsNone(point)) return [];
  const rows = await sql<OperationColumns[]>`
    select distinct on (o.entry_sequence) ${operationColumns(sql)}
    from compaction_operations o
    join compactions c on c.id = o.compaction_id and ${isCounted(sql, point)}
    join entries e on e.conversation_id = o.conversation_id and e.sequence = o.entry_sequence
    where o.conversation_id = ${point.conversationId} and ${onPath(sql, point)} and ${isMarkedOnPath(sql, point)}
      and (o.entry_sequence >= ${fromSequence} or o.entry_sequence = any(${[...olderSequences]}::int[]))
    order by o.entry_sequence, c.number desc`;
  return rows.map(toOperation);
}

export interface NewestCompaction {
  /** The newest that the point counts, on whatever branch it was made. */
  readonly compactionId: string;
  /**
   * Where the newest one that is in force stands: one whose marker lies on the path, or whose summary the view shows. What was
   * said before was an answer to another view. `null` when none is.
   */
  readonly changedThroughSequence: number | null;
}

export async function readNewestCompaction(
  sql: Queries,
  { point, summary }: ViewScope,
): Promise<NewestCompaction | null> {
  if (countsNone(point)) return null;
  const [row] = await sql<NewestCompaction[]>`
    select newest.id as compaction_id, (
      select e.sequence from compactions c join entries e
        on e.conversation_id = c.conversation_id and e.id = c.marker_entry_id
      where c.conversation_id = ${point.conversationId} and ${isCounted(sql, point)} and (c.id = ${summary?.compactionId ?? null} or ${isMarkedOnPath(sql, point)})
      order by c.number desc limit 1) as changed_through_sequence
    from compactions newest
    where newest.conversation_id = ${point.conversationId} and newest.number = ${point.compactions}`;
  return row ?? null;
}

/** The stretch of a path that lies on one branch: a row `b` of `branches`, or what is joined under that name. */
interface Stretches {
  /** `from` and `where` of the stretches; their `conversation_id`, `ancestor` and `through_sequence` are read. */
  readonly of: Fragment;
  readonly where: Fragment;
  readonly which?: Fragment;
}

/**
 * A query for the newest entry of some stretches, with `columns` of `entries e`. Looked for in each stretch by itself, which is one row of an
 * index (`entries_of_branch`, which has `branch + 0`): in order of sequence the path would be sought among all that other branches have said since.
 */
export function newestOnPath(sql: Queries, columns: Fragment, { of, where, which = sql`true` }: Stretches): Fragment {
  return sql`
    select e.* from ${of} cross join lateral (
      select ${columns} from entries e
      where e.conversation_id = b.conversation_id and e.branch + 0 = b.ancestor and e.sequence <= b.through_sequence and ${which}
      order by e.sequence desc limit 1) as e
    where ${where} order by e.sequence desc limit 1`;
}
