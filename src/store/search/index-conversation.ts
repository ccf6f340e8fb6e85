import postgres from 'postgres';
import type { ContentPart } from '../../context/content.ts';
import type { EntryKind } from '../../context/entry.ts';
import type { Database, Transaction } from '../database.ts';
import { entryPieces, entryText, originalText } from '../entry-text.ts';
import { isLockConflict, isOutage } from '../errors.ts';
import { RECALL_OPEN, RECALL_SEARCH } from '../../tools/names.ts';
import { transaction } from '../transaction.ts';
import type { IndexedConversation } from './block-allocator.ts';
import { holdConversation } from './hold-conversation.ts';
import { pathIn } from './paths.ts';
import { PassageWriter } from './passage-writer.ts';

/** Entries that one transaction indexes: a search that finds much to do shows progress to others. */
const BATCH_ENTRIES = 500;
/** Characters after which a transaction ends with the entry under way: 500 entries can be 2 GB, and a worker that stops waits for one. */
const BATCH_CHARACTERS = 2_000_000;

/** What one transaction takes up. */
interface Portion {
  readonly entries: number;
  readonly summaries: boolean;
}

const BATCH: Portion = { entries: BATCH_ENTRIES, summaries: true };
/** So little that what Postgres does not take is known. */
const ONE_ENTRY: Portion = { entries: 1, summaries: false };
const ALL_SUMMARIES: Portion = { entries: 0, summaries: true };

export interface IndexedCount {
  readonly passages: number;
  /** Entries that Postgres takes no index of, and times that summaries were such: they are passed over, not tried for ever. */
  readonly skipped: number;
  /** `false` when the signal stopped it before the newest entry. */
  readonly isWhole: boolean;
}

/**
 * Indexes entries and summaries that are not yet; returns how many passages were written. Safe to
 * run at once from many processes: they wait for each other and find nothing left to do. What was
 * done stays when it is interrupted. An entry whose words Postgres refuses is left out: it must not keep all others out.
 * @param options.signal stops it after the batch that is under way.
 * @throws StoreError `conversation_not_found`
 */
export async function indexConversation(
  sql: Database,
  conversationId: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<IndexedCount> {
  let [passages, skipped] = [0, 0];
  for (;;) {
    const batch = await indexNext(sql, conversationId);
    passages += batch.passages;
    skipped += batch.skipped;
    if (!batch.more || options.signal?.aborted === true) return { passages, skipped, isWhole: !batch.more };
  }
}

interface IndexedBatch extends Omit<IndexedCount, 'isWhole'> {
  readonly more: boolean;
}

async function indexNext(sql: Database, conversationId: string): Promise<IndexedBatch> {
  const whole = await tryBatch(sql, conversationId, BATCH);
  if (whole !== null) return whole;
  let [passages, skipped] = [0, 0];
  const take = async (portion: Portion): Promise<boolean> => {
    const one = await tryBatch(sql, conversationId, portion);
    if (one === null) await transaction(sql, (open) => passOver(open, conversationId, portion));
    passages += one?.passages ?? 0;
    skipped += one === null ? 1 : 0;
    return one?.more ?? true;
  };
  let taken = 0;
  while (taken < BATCH_ENTRIES && (await take(ONE_ENTRY))) taken += 1;
  await take(ALL_SUMMARIES);
  return { passages, skipped, more: taken === BATCH_ENTRIES };
}

/** `null`: something of it Postgres cannot take. */
async function tryBatch(sql: Database, conversationId: string, portion: Portion): Promise<IndexedBatch | null> {
  try {
    return await transaction(sql, (open) => indexBatch(open, conversationId, portion));
  } catch (error) {
    if (isOfData(error)) return null;
    throw error;
  }
}

/** SQLSTATE classes 22 (data exception) and 54 (program limit exceeded): the same again would fail again. */
function isOfData(error: unknown): boolean {
  return error instanceof postgres.PostgresError && /^(?:22|54)/u.test(error.code);
}

async function passOver(open: Transaction, conversationId: string, { summaries }: Portion): Promise<void> {
  await (summaries
    ? open`
        update search_progress p set through_compaction = c.compactions from conversations c
        where p.conversation_id = ${conversationId} and c.id = p.conversation_id`
    : open`
        update search_progress p set through_sequence = e.sequence from entries e
        where p.conversation_id = ${conversationId} and e.conversation_id = p.conversation_id
          and e.sequence = (select min(n.sequence) from entries n
            where n.conversation_id = p.conversation_id and n.sequence > p.through_sequence)`);
}

interface Progress extends IndexedConversation {
  readonly through_sequence: number;
  readonly through_compaction: number;
}

async function indexBatch(open: Transaction, conversationId: string, portion: Portion): Promise<IndexedBatch> {
  await holdConversation(open, conversationId);
  await open`insert into search_progress (conversation_id) values (${conversationId}) on conflict do nothing`;
  await open`
    insert into search_agents (agent) select c.agent from conversations c
    where c.id = ${conversationId} and not exists (select from search_agents a where a.agent = c.agent)
    on conflict do nothing`;
  const [progress] = await open<Progress[]>`
    select p.conversation_id as id, p.number, p.through_sequence, p.through_compaction, a.number as "agentNumber"
    from search_progress p join conversations c on c.id = p.conversation_id join search_agents a on a.agent = c.agent
    where p.conversation_id = ${conversationId} for update of p`;
  // Whoever builds the index anew took the row away while it was waited for: the next batch makes one.
  if (progress === undefined) return { passages: 0, skipped: 0, more: true };
  const writer = new PassageWriter(open, progress);
  const entries = await indexEntries(open, writer, progress, portion.entries);
  const summaries = portion.summaries
    ? await indexSummaries(open, writer, progress)
    : { through: progress.through_compaction };
  const passages = await writer.finish();
  await open`
    update search_progress set through_sequence = ${entries.through}, through_compaction = ${summaries.through}
    where conversation_id = ${conversationId}`;
  await markIndexed(open, conversationId, { sequence: entries.through, compaction: summaries.through });
  return { passages, skipped: 0, more: entries.more };
}

/**
 * Unless something came meanwhile. The last statement of who indexes, so that a step waits for no more than the commit; and where a
 * step or a deletion has the row, the mark stays, for whoever looks next.
 */
async function markIndexed(
  open: Transaction,
  conversationId: string,
  through: { readonly sequence: number; readonly compaction: number },
): Promise<void> {
  await open`
    update conversations set is_unindexed = false where id = (
      select c.id from conversations c
      where c.id = ${conversationId} and c.is_unindexed
        and c.last_sequence <= ${through.sequence} and c.compactions <= ${through.compaction}
      for no key update skip locked)`;
}

interface EntryRow {
  readonly id: string;
  readonly kind: EntryKind;
  readonly sequence: number;
  readonly tool_name: string | null;
  readonly content: readonly ContentPart[];
  readonly original_id: string | null;
  /** Of the call that a tool result is of. */
  readonly arguments: unknown;
  readonly created_at: Date;
}

async function indexEntries(
  open: Transaction,
  writer: PassageWriter,
  { id: conversationId, through_sequence: after }: Progress,
  most: number,
): Promise<{ through: number; more: boolean }> {
  const rows = await open<EntryRow[]>`
    select e.id, e.kind, e.sequence, e.tool_name, e.content, e.original_id, e.created_at, c.arguments from entries e
    left join tool_calls c on e.kind = 'tool_result'
      and c.turn_id = e.turn_id and c.call_number = e.call_number and c.call_index = e.call_index
    where e.conversation_id = ${conversationId} and e.sequence > ${after} order by e.sequence limit ${most}`;
  let characters = 0;
  for (const row of rows) {
    if (characters >= BATCH_CHARACTERS) return { through: row.sequence - 1, more: true };
    if (row.kind === 'compaction' || isRecall(row.tool_name)) continue;
    const texts =
      row.original_id === null ? inChunks(searchedPieces(row.content)) : [originalText(open, row.original_id)];
    characters += await writer.add(
      {
        sourceId: row.id,
        kind: row.kind,
        isCall: row.kind === 'assistant' && !row.content.some(isSaid),
        sequence: row.sequence,
        toolName: row.tool_name,
        path: row.kind === 'tool_result' ? pathIn(row.arguments) : null,
        createdAt: row.created_at,
      },
      texts,
    );
  }
  return { through: rows.at(-1)?.sequence ?? after, more: rows.length === most };
}

/**
 * Without calls of recall: a search must find what it asks for, not the question. Blanks stand in
 * their place, so that offsets are those of the entry as it is opened.
 */
function searchedPieces(content: readonly ContentPart[]): string[] {
  return entryPieces(content.map((part) => (isRecallCall(part) ? blank(part) : part)));
}

/** Texts that are read whole. */
function inChunks(texts: readonly string[]): string[][] {
  return texts.map((text) => [text]);
}

function isSaid(part: ContentPart): boolean {
  return part.type === 'text' && part.text.trim() !== '';
}

/** The tools that search and open what is indexed here: their calls and results only repeat it. Others may begin like them. */
function isRecall(toolName: string | null): boolean {
  return toolName === RECALL_SEARCH || toolName === RECALL_OPEN;
}

function isRecallCall(part: ContentPart): boolean {
  return part.type === 'tool_call' && isRecall(part.name);
}

function blank(part: ContentPart): ContentPart {
  return { type: 'text', text: ' '.repeat(entryText([part]).length) };
}

async function indexSummaries(
  open: Transaction,
  writer: PassageWriter,
  { id: conversationId, through_compaction: after }: Progress,
): Promise<{ through: number }> {
  const rows = await open<{ id: string; number: number; summary: string | null; finished_at: Date }[]>`
    select id, number, summary, finished_at from compactions
    where conversation_id = ${conversationId} and number > ${after} order by number`;
  for (const { id: sourceId, summary, finished_at: createdAt } of rows) {
    if (summary === null) continue;
    const source = {
      sourceId,
      kind: 'summary',
      isCall: false,
      sequence: null,
      toolName: null,
      path: null,
      createdAt,
    } as const;
    await writer.add(source, [[summary]]);
  }
  return { through: rows.at(-1)?.number ?? after };
}

/**
 * Indexes what is missing of all conversations of an agent, one after another. One that cannot be indexed now keeps nobody from
 * finding what is said in the others: upkeep tries it again, and logs why it failed.
 */
export async function indexAgent(sql: Database, agent: string): Promise<void> {
  const behind = await sql<{ id: string }[]>`
    select id from conversations where agent = ${agent} and is_unindexed`;
  for (const { id } of behind) {
    try {
      await indexConversation(sql, id);
    } catch (error) {
      if (isOutage(error) && !isLockConflict(error)) throw error;
    }
  }
}
