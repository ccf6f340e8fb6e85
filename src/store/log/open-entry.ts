import { isMedia } from '../../context/log/content.ts';
import type { ContentPart, MediaPart } from '../../context/log/content.ts';
import type { EntryKind } from '../../context/log/entry.ts';
import type { Database, Queries } from '../database/database.ts';
import { entryText, originalText } from './entry-text.ts';
import { isId } from '../database/ids.ts';
import type { RecalledEntry } from '../../tools/tool.ts';
import { listEntriesAround } from './entries.ts';

export interface OpenedText {
  readonly text: string;
  readonly totalCharacters: number;
  readonly kind: string;
  readonly media: readonly MediaPart[];
}

export interface OpenRequest {
  readonly conversationId: string;
  /** Of an entry, or of a compaction for its summary. */
  readonly id: string;
  /** Characters (UTF-16 code units). */
  readonly offset: number;
  readonly limit: number;
}

/**
 * Characters of an entry's original (the pieces when it was clipped), or of a summary when the id is
 * a compaction's. Bytes that are not UTF-8 show as U+FFFD.
 * `null` when the conversation has no such entry or summary.
 */
export async function openEntry(sql: Database, request: OpenRequest): Promise<OpenedText | null> {
  const { conversationId, id } = request;
  if (!isId(conversationId) || !isId(id)) return null;
  const [entry] = await sql<
    { kind: EntryKind; content: readonly ContentPart[]; originalId: string | null; characters: string | null }[]
  >`
    select e.kind, e.content, e.original_id, o.characters from entries e left join contents o on o.id = e.original_id
    where e.id = ${id} and e.conversation_id = ${conversationId}`;
  if (entry === undefined) return openSummary(sql, request);
  const { kind, originalId: contentId, characters } = entry;
  const media = entry.content.filter(isMedia);
  if (contentId === null) return { ...slice(entryText(entry.content), kind, request), media };
  return { kind, totalCharacters: Number(characters), text: await sliceOriginal(sql, contentId, request), media };
}

async function openSummary(sql: Database, request: OpenRequest): Promise<OpenedText | null> {
  const found = await findCommitted(sql, request.id);
  if (found?.conversationId !== request.conversationId.toLowerCase() || found.summary === null) return null;
  return slice(found.summary, 'summary', request);
}

export interface CommittedCompaction {
  readonly id: string;
  readonly conversationId: string;
  /** The entry that stands where it was made. */
  readonly markerEntryId: string;
  /** `null` when it only shortened entries. */
  readonly summary: string | null;
}

export async function findCommitted(sql: Queries, id: string): Promise<CommittedCompaction | null> {
  if (!isId(id)) return null;
  const [row] = await sql<CommittedCompaction[]>`
    select id, conversation_id, marker_entry_id, summary from compactions
    where id = ${id} and status = 'committed'`;
  return row ?? null;
}

function slice(text: string, kind: string, { offset, limit }: OpenRequest): OpenedText {
  return { kind, totalCharacters: text.length, text: text.slice(offset, offset + limit), media: [] };
}

async function sliceOriginal(sql: Database, contentId: string, { offset, limit }: OpenRequest): Promise<string> {
  let position = 0;
  let found = '';
  for await (const chunk of originalText(sql, contentId)) {
    found += chunk.slice(Math.max(0, offset - position), Math.max(0, offset + limit - position));
    position += chunk.length;
    if (position >= offset + limit) break;
  }
  return found;
}

/**
 * The entries around an entry on its branch, itself included, oldest first; around a summary those that stand where it was
 * made. `null` when the conversation has no such entry or summary.
 * @param request.count entries before, and as many after
 */
export async function openAround(
  sql: Database,
  request: { readonly conversationId: string; readonly id: string; readonly count: number },
): Promise<readonly RecalledEntry[] | null> {
  const { conversationId, id, count } = request;
  if (!isId(conversationId) || !isId(id)) return null;
  const [found] = await sql<{ id: string }[]>`
    select id from entries where id = ${id} and conversation_id = ${conversationId}
    union all
    select id from compactions
    where id = ${id} and conversation_id = ${conversationId} and status = 'committed'`;
  if (found === undefined) return null;
  const entries = await listEntriesAround(sql, found.id, count);
  return entries.map((entry) => ({
    entryId: entry.id,
    kind: entry.kind,
    toolName: entry.toolName ?? null,
    createdAt: entry.createdAt,
    text: entryText(entry.content),
    isClipped: entry.original !== undefined,
  }));
}
