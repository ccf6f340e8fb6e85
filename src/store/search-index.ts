import type { ContentPart } from '../context/content.ts';
import type { EntryKind } from '../context/entry.ts';
import type { Database, Transaction } from './database.ts';
import { entryText, originalText } from './entry-text.ts';
import { PASSAGE_CHARACTERS, splitPassages } from './passages.ts';
import type { Passage } from './passages.ts';
import { searchTerms } from './search-terms.ts';
import { plainText } from './stored-text.ts';
import { transaction } from './transaction.ts';

/** Entries that one transaction indexes: a search that finds much to do shows progress to others. */
const BATCH_ENTRIES = 200;
/** Passages of one statement. */
const PASSAGES_PER_INSERT = 500;
/** Characters that are indexed of one original; `recall_open` reads the rest. */
const INDEXED_CHARACTERS = 4_000_000;

/** The tools that search and open what is indexed here. */
const RECALL_PREFIX = 'recall_';

/** What the passages of one source share. */
interface Source {
  readonly conversationId: string;
  readonly sourceId: string;
  readonly kind: string;
  readonly sequence: number | null;
  readonly toolName: string | null;
  readonly createdAt: Date;
}

/**
 * Indexes entries and summaries that are not yet; returns how many passages were written. Safe to
 * run at once from many processes: they wait for each other and find nothing left to do.
 */
export async function indexConversation(sql: Database, conversationId: string): Promise<{ readonly passages: number }> {
  let passages = 0;
  for (;;) {
    const batch = await transaction(sql, (open) => indexBatch(open, conversationId));
    passages += batch.passages;
    if (!batch.more) return { passages };
  }
}

interface Progress {
  readonly through_sequence: number;
  readonly through_compaction: number;
}

async function indexBatch(open: Transaction, conversationId: string): Promise<{ passages: number; more: boolean }> {
  await open`insert into search_progress (conversation_id) values (${conversationId}) on conflict do nothing`;
  const [progress] = await open<Progress[]>`
    select through_sequence, through_compaction from search_progress
    where conversation_id = ${conversationId} for update`;
  if (progress === undefined) return { passages: 0, more: false };
  const writer = new PassageWriter(open);
  const entries = await indexEntries(open, writer, conversationId, progress.through_sequence);
  const summaries = await indexSummaries(open, writer, conversationId, progress.through_compaction);
  const passages = await writer.flush();
  await open`
    update search_progress set through_sequence = ${entries.through}, through_compaction = ${summaries.through}
    where conversation_id = ${conversationId}`;
  return { passages, more: entries.more };
}

async function indexEntries(
  open: Transaction,
  writer: PassageWriter,
  conversationId: string,
  after: number,
): Promise<{ through: number; more: boolean }> {
  const rows = await open<
    {
      id: string;
      kind: EntryKind;
      sequence: number;
      tool_name: string | null;
      content: readonly ContentPart[];
      original_id: string | null;
      created_at: Date;
    }[]
  >`
    select id, kind, sequence, tool_name, content, original_id, created_at from entries
    where conversation_id = ${conversationId} and sequence > ${after} order by sequence limit ${BATCH_ENTRIES}`;
  for (const row of rows) {
    if (row.kind === 'compaction') continue;
    const source: Source = {
      conversationId,
      sourceId: row.id,
      kind: row.kind,
      sequence: row.sequence,
      toolName: row.tool_name,
      createdAt: row.created_at,
    };
    const texts = row.original_id === null ? [searchedText(row.content)] : originalText(open, row.original_id);
    await writer.add(source, texts);
  }
  return { through: rows.at(-1)?.sequence ?? after, more: rows.length === BATCH_ENTRIES };
}

/**
 * Without calls of recall: a search must find what it asks for, not the question. Blanks stand in
 * their place, so that offsets are those of the entry as it is opened.
 */
function searchedText(content: readonly ContentPart[]): string {
  return entryText(content.map((part) => (isRecallCall(part) ? blank(part) : part)));
}

function isRecallCall(part: ContentPart): boolean {
  return part.type === 'tool_call' && part.name.startsWith(RECALL_PREFIX);
}

function blank(part: ContentPart): ContentPart {
  return { type: 'text', text: ' '.repeat(entryText([part]).length) };
}

async function indexSummaries(
  open: Transaction,
  writer: PassageWriter,
  conversationId: string,
  after: number,
): Promise<{ through: number }> {
  const rows = await open<{ id: string; number: number; summary: string | null; finished_at: Date }[]>`
    select id, number, summary, finished_at from compactions
    where conversation_id = ${conversationId} and number > ${after} order by number`;
  for (const row of rows) {
    if (row.summary === null) continue;
    const source: Source = {
      conversationId,
      sourceId: row.id,
      kind: 'summary',
      sequence: null,
      toolName: null,
      createdAt: row.finished_at,
    };
    await writer.add(source, [row.summary]);
  }
  return { through: rows.at(-1)?.number ?? after };
}

/** Passages on their way to the index: written many at a time, because a round trip costs more than a row. */
class PassageWriter {
  readonly #sql: Transaction;
  #waiting: { readonly source: Source; readonly passage: Passage }[] = [];
  #written = 0;

  constructor(sql: Transaction) {
    this.#sql = sql;
  }

  /** Cuts a text that comes in chunks; what is left of a chunk after its last full passage joins the next. */
  async add(source: Source, texts: Iterable<string> | AsyncIterable<string>): Promise<void> {
    let offset = 0;
    let rest = '';
    for await (const text of texts) {
      rest += text;
      if (rest.length < 100 * PASSAGE_CHARACTERS) continue;
      const passages = splitPassages(rest, offset);
      const last = passages.pop();
      const consumed = last === undefined ? rest.length : last.offset - offset;
      await this.#push(source, passages);
      rest = rest.slice(consumed);
      offset += consumed;
      if (offset >= INDEXED_CHARACTERS) return;
    }
    await this.#push(source, splitPassages(rest, offset));
  }

  async #push(source: Source, passages: readonly Passage[]): Promise<void> {
    this.#waiting.push(...passages.map((passage) => ({ source, passage })));
    if (this.#waiting.length >= PASSAGES_PER_INSERT) await this.flush();
  }

  /** Writes what waits; returns how many passages were written in all. */
  async flush(): Promise<number> {
    const rows = this.#waiting;
    this.#waiting = [];
    if (rows.length === 0) return this.#written;
    const texts = rows.map(({ passage }) => plainText(passage.text));
    const sql = this.#sql;
    const { count } = await sql`
      insert into passages (conversation_id, source_id, kind, sequence, tool_name, character_offset, text, terms, created_at)
      select p.conversation_id, p.source_id, p.kind, p.sequence, p.tool_name, p.character_offset, p.text,
        array_to_tsvector(string_to_array(p.terms, ' ')), p.created_at
      from unnest(${rows.map(({ source }) => source.conversationId)}::uuid[],
        ${rows.map(({ source }) => source.sourceId)}::uuid[], ${rows.map(({ source }) => source.kind)}::text[],
        ${rows.map(({ source }) => source.sequence)}::int[], ${rows.map(({ source }) => source.toolName)}::text[],
        ${rows.map(({ passage }) => passage.offset)}::int[], ${texts}::text[],
        ${texts.map((text) => searchTerms(text).join(' '))}::text[],
        ${rows.map(({ source }) => source.createdAt.toISOString())}::timestamptz[])
        as p (conversation_id, source_id, kind, sequence, tool_name, character_offset, text, terms, created_at)
      on conflict do nothing`;
    this.#written += count;
    return this.#written;
  }
}
