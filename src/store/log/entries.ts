import type { ContentPart } from '../../context/log/content.ts';
import type { Entry, EntryKind, NoteSlot } from '../../context/log/entry.ts';
import { measureContent } from '../../context/log/measure.ts';
import type { Measurements } from '../../context/log/measurements.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { onPath, readCurrentPoint } from '../conversations/branch-path.ts';
import { mayStandBefore } from '../attempts/call-boundary.ts';
import type { CallBoundary } from '../attempts/call-boundary.ts';
import type { Database, Queries } from '../database/database.ts';
import { entryColumns, toEntry } from './entry-rows.ts';
import type { EntryColumns } from './entry-rows.ts';
import { insertEntry } from './entry-writer.ts';
import { findNote } from './notes.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { writeAsTurn } from '../database/transaction.ts';
import type { TurnWriter } from '../database/transaction.ts';

export interface NewContent {
  readonly content: readonly ContentPart[];
  readonly measurements: Measurements;
  /** The whole of a clipped content, written to pieces before. */
  readonly original?: OriginalReference;
}

export function newContent(content: readonly ContentPart[]): NewContent {
  return { content, measurements: measureContent(content) };
}

export function newText(text: string): NewContent {
  return newContent([{ type: 'text', text }]);
}

export type OriginalReference = NonNullable<Entry['original']>;

export interface StoredEntry extends Entry {
  readonly conversationId: string;
  readonly parentId: string | null;
  readonly createdAt: string;
  readonly messageId: string | null;
  readonly compactionId: string | null;
}

type StoredEntryColumns = EntryColumns & Omit<StoredEntry, keyof Entry>;

function storedColumns(sql: Queries) {
  return sql`${entryColumns(sql)}, e.conversation_id, e.parent_id,
    iso_time(e.created_at) as "createdAt", e.message_id, e.compaction_id`;
}

function toStoredEntry(row: StoredEntryColumns): StoredEntry {
  const { conversationId, parentId, createdAt, messageId, compactionId } = row;
  return { ...toEntry(row), conversationId, parentId, createdAt, messageId, compactionId };
}

export interface EntryPageRequest {
  readonly conversationId: string;
  /** Entries after this sequence, the first ones. Default: the newest ones. */
  readonly after?: number;
  readonly before?: number;
  /** Default: 100. */
  readonly limit?: number;
  readonly kinds?: readonly EntryKind[];
}

const DEFAULT_PAGE = 100;

export async function listEntries(sql: Database, request: EntryPageRequest): Promise<StoredEntry[]> {
  const { conversationId, after, before, kinds } = request;
  const point = isId(conversationId) ? await readCurrentPoint(sql, conversationId) : null;
  if (point === null) return [];
  const newestFirst = after === undefined;
  const rows = await sql<StoredEntryColumns[]>`
    select ${storedColumns(sql)} from entries e left join contents o on o.id = e.original_id
    where ${onPath(sql, point)} and e.sequence > ${after ?? 0}
      ${before === undefined ? sql`` : sql`and e.sequence < ${before}`}
      ${kinds === undefined ? sql`` : sql`and e.kind = any(${[...kinds]})`}
    order by e.sequence ${newestFirst ? sql`desc` : sql``}
    limit ${request.limit ?? DEFAULT_PAGE}`;
  const entries = rows.map(toStoredEntry);
  return newestFirst ? entries.reverse() : entries;
}

/** What a turn said after the last message and the last tool result, in pieces if it was cut; empty when that is nothing. */
export async function readFinalAnswer(sql: Database, turnId: string): Promise<readonly (readonly ContentPart[])[]> {
  const rows = await sql<{ content: readonly ContentPart[] }[]>`
    select content from entries where turn_id = ${turnId} and kind = 'assistant'
      and sequence > coalesce(
        (select max(sequence) from entries where turn_id = ${turnId} and kind in ('user', 'tool_result')), 0)
    order by sequence`;
  return rows.map(({ content }) => content);
}

export async function findEntryId(sql: Database, conversationId: string, sequence: number): Promise<string | null> {
  if (!isId(conversationId)) return null;
  const [row] = await sql<{ id: string }[]>`
    select id from entries where conversation_id = ${conversationId} and sequence = ${sequence}::bigint`;
  return row?.id ?? null;
}

export async function countEntries(
  sql: Database,
  { conversationId, before }: Pick<EntryPageRequest, 'conversationId' | 'before'>,
): Promise<number> {
  const point = isId(conversationId) ? await readCurrentPoint(sql, conversationId) : null;
  if (point === null) return 0;
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from entries e
    where ${onPath(sql, point)} ${before === undefined ? sql`` : sql`and e.sequence < ${before}`}`;
  return row?.count ?? 0;
}

/**
 * Entries before and after an entry on the branch that it was appended to, itself included, oldest first. A compaction's
 * id stands for its marker.
 * @throws StoreError `entry_not_found`
 */
export async function listEntriesAround(sql: Database, entryId: string, count: number): Promise<StoredEntry[]> {
  const [entry] = isId(entryId)
    ? await sql<{ conversationId: string; branch: number; sequence: number }[]>`
        select conversation_id, branch, sequence from entries where id = ${entryId}
        union all
        select e.conversation_id, e.branch, e.sequence from compactions c join entries e on e.id = c.marker_entry_id
        where c.id = ${entryId} and c.status = 'committed'`
    : [];
  if (entry === undefined) {
    throw new StoreError('entry_not_found', `there is no entry and no summary ${JSON.stringify(entryId)}`);
  }
  const onItsBranch = sql`e.conversation_id = ${entry.conversationId} and exists (
    select from branches b where b.conversation_id = e.conversation_id and b.branch = ${entry.branch}
      and b.ancestor = e.branch and e.sequence <= b.through_sequence)`;
  const rows = await sql<StoredEntryColumns[]>`
    (select ${storedColumns(sql)} from entries e left join contents o on o.id = e.original_id
      where ${onItsBranch} and e.sequence <= ${entry.sequence} order by e.sequence desc limit ${count + 1})
    union all
    (select ${storedColumns(sql)} from entries e left join contents o on o.id = e.original_id
      where ${onItsBranch} and e.sequence > ${entry.sequence} order by e.sequence limit ${count})
    order by sequence`;
  return rows.map(toStoredEntry);
}

export async function getEntry(sql: Database, entryId: string): Promise<StoredEntry | null> {
  if (!isId(entryId)) return null;
  const [row] = await sql<StoredEntryColumns[]>`
    select ${storedColumns(sql)} from entries e left join contents o on o.id = e.original_id where e.id = ${entryId}`;
  return row === undefined ? null : toStoredEntry(row);
}

export interface NoteRequest extends NewContent {
  readonly turn: TurnReference;
  readonly slot: NoteSlot;
  /** Refused as `head_moved` when another entry is the newest; leave out to append at whatever is. */
  readonly headEntryId?: string;
  /** The same key within a turn appends once: the entry that stands is returned. */
  readonly key: string;
  /** Once more behind each compaction of the conversation, which may have taken the one before from the view. Default: false. */
  readonly againAfterCompactions?: boolean;
}

export async function appendNote(sql: Database, note: NoteRequest): Promise<{ readonly entryId: string }> {
  return writeAsTurn(sql, note.turn, (writer) => writeNote(writer, note));
}

/**
 * The same for a note that the model is to see with a certain call.
 * @returns the note and whether it was appended now; `null`: it comes too late for the call and was left out
 * @throws StoreError `stale_epoch`, `call_registered`
 */
export async function appendNoteBefore(
  sql: Database,
  boundary: CallBoundary,
  note: NoteRequest,
): Promise<{ readonly entryId: string; readonly isNew: boolean } | null> {
  return writeAsTurn(sql, note.turn, async (writer) => {
    const existing = await findNote(writer.sql, note.turn, keyOf(writer, note));
    if (existing !== null) return { entryId: existing.id, isNew: false };
    if (!(await mayStandBefore(writer.sql, note.turn, boundary))) return null;
    return { ...(await writeNote(writer, note)), isNew: true };
  });
}

function keyOf({ conversation }: TurnWriter, { key, againAfterCompactions = false }: NoteRequest): string {
  return againAfterCompactions ? `${key}:${conversation.compactions}` : key;
}

/** Once for a key, within a transaction of the turn. */
export async function writeNote(writer: TurnWriter, note: NoteRequest): Promise<{ readonly entryId: string }> {
  const { turn, slot, headEntryId } = note;
  const key = keyOf(writer, note);
  const existing = await findNote(writer.sql, turn, key);
  if (existing !== null) return { entryId: existing.id };
  const { id: entryId } = await insertEntry(writer.sql, {
    kind: 'note',
    turn,
    slot,
    key,
    content: note.content,
    measurements: note.measurements,
    ...(headEntryId !== undefined && { parentId: headEntryId }),
  });
  await writer.event('note_added', { slot, entryId });
  return { entryId };
}
