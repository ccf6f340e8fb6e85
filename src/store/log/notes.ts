import type { ContentPart } from '../../context/log/content.ts';
import type { NoteSlot } from '../../context/log/entry.ts';
import type { Measurements } from '../../context/log/measurements.ts';
import { onPath, readOperationsInForce, readViewScope, readCurrentPoint } from '../conversations/branch-path.ts';
import type { Fragment, Queries } from '../database/database.ts';
import { parseMeasurements } from './measurement-columns.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';

/** From `entries e` of the active branch. */
function ofActiveBranch(sql: Queries, conversationId: string): Fragment {
  return sql`
    from entries e
    join branches b
      on b.conversation_id = e.conversation_id and b.ancestor = e.branch and e.sequence <= b.through_sequence
    join conversations c on c.id = e.conversation_id and c.branch = b.branch
    where e.conversation_id = ${conversationId}`;
}

interface ReadEntry {
  readonly id: string;
  readonly content: readonly ContentPart[];
}

export async function readNewestNote(
  sql: Queries,
  conversationId: string,
  slot: NoteSlot,
): Promise<readonly ContentPart[] | null> {
  const [row] = await sql<Pick<ReadEntry, 'content'>[]>`
    select e.content ${ofActiveBranch(sql, conversationId)} and e.kind = 'note' and e.slot = ${slot}
    order by e.sequence desc limit 1`;
  return row?.content ?? null;
}

export async function readShownNotes(
  sql: Queries,
  conversationId: string,
  slot: NoteSlot,
): Promise<readonly (readonly ContentPart[])[]> {
  const rows = await readShown(sql, conversationId, sql`e.kind = 'note' and e.slot = ${slot}`);
  return rows.map(({ content }) => content);
}

/**
 * Entries that the view of the active branch shows as they are, oldest first: those on its path that the summary in force on it, wherever
 * that was made, has not cut off, or keeps from before its cut, and that no compaction has clipped or cleared.
 */
async function readShown(sql: Queries, conversationId: string, condition: Fragment): Promise<readonly ReadEntry[]> {
  const point = await readCurrentPoint(sql, conversationId);
  if (point === null) return [];
  const scope = await readViewScope(sql, point);
  const changed = new Set((await readOperationsInForce(sql, scope)).map(({ entryId }) => entryId));
  const rows = await sql<ReadEntry[]>`
    select e.id, e.content from entries e
    where ${onPath(sql, point)} and ${condition}
      and (e.sequence >= ${scope.fromSequence} or e.sequence = any(${[...scope.olderSequences]}::int[]))
    order by e.sequence`;
  return rows.filter(({ id }) => !changed.has(id));
}

export async function readNewestRequests(
  sql: Queries,
  conversationId: string,
  limit: number,
): Promise<readonly ReadEntry[]> {
  return sql<ReadEntry[]>`
    select e.id, e.content ${ofActiveBranch(sql, conversationId)} and e.kind = 'user'
    order by e.sequence desc limit ${limit}`;
}

/** `null` for a turn of a single tool call. */
export async function readTaskFile(
  sql: Queries,
  { conversationId, turnId }: Pick<TurnReference, 'conversationId' | 'turnId'>,
): Promise<string | null> {
  const [row] = await sql<{ text: string }[]>`
    select text from task_files where conversation_id = ${conversationId} and turn_id = ${turnId}`;
  return row?.text ?? null;
}

export async function findNote(
  sql: Queries,
  { conversationId, turnId }: Pick<TurnReference, 'conversationId' | 'turnId'>,
  key: string,
): Promise<{ readonly id: string; readonly measurements: Measurements } | null> {
  const [row] = await sql<{ id: string; measurements: string }[]>`
    select id, measurements from entries
    where conversation_id = ${conversationId} and turn_id = ${turnId} and note_key = ${key}`;
  return row === undefined ? null : { id: row.id, measurements: parseMeasurements(row.measurements) };
}

/** Which of these entries the view shows as they are. */
export async function findShownEntries(
  sql: Queries,
  conversationId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const rows = await readShown(sql, conversationId, sql`e.id = any(${[...ids]}::uuid[])`);
  return rows.map(({ id }) => id);
}
