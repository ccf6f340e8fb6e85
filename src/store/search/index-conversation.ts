import type { ContentPart } from '../../context/log/content.ts';
import type { EntryKind } from '../../context/log/entry.ts';
import { parseJson, property } from '../../models/protocols/json.ts';
import { RECALL_OPEN, RECALL_SEARCH } from '../../tools/runtime/names.ts';
import type { Database, Transaction } from '../database/database.ts';
import { entryPieces, entryText, originalText } from '../log/entry-text.ts';
import { StoreError } from '../database/errors.ts';
import { plainText } from '../log/stored-text.ts';
import { transaction } from '../database/transaction.ts';
import { cutSource, writePassages } from './passage-writer.ts';
import type { CutPassage, IndexedConversation, Source } from './passage-writer.ts';

/** Entries that one transaction indexes, so that others see progress. */
const BATCH_ENTRIES = 500;
/** Characters after which a transaction ends with the entry under way: 500 entries can be 2 GB. */
const BATCH_CHARACTERS = 2_000_000;
/** Characters of a path that are kept, its end. The model may write anything there. */
const LONGEST_PATH = 500;

export interface IndexedCount {
  readonly passages: number;
  /** `false` when it stopped before the newest entry. */
  readonly isWhole: boolean;
}

/**
 * Indexes entries and summaries that are not indexed yet. Safe to run at once from many processes: they wait for each other. What is
 * done stays when it is interrupted.
 * @param options.signal stops it after the batch that is under way
 * @param options.mostBatches of about 500 entries; default: all
 * @throws StoreError `conversation_not_found`
 */
export async function indexConversation(
  sql: Database,
  conversationId: string,
  options: { readonly signal?: AbortSignal; readonly mostBatches?: number } = {},
): Promise<IndexedCount> {
  let passages = 0;
  for (let batches = 1; ; batches += 1) {
    const batch = await transaction(sql, (open) => indexBatch(open, conversationId));
    passages += batch.passages;
    const isStopped = options.signal?.aborted === true || batches === options.mostBatches;
    if (batch.isWhole || isStopped) return { passages, isWhole: batch.isWhole };
  }
}

interface Progress extends IndexedConversation {
  readonly throughSequence: number;
  readonly throughCompaction: number;
}

/**
 * Keeps a conversation from being deleted until the transaction ends; steps go on meanwhile. First in a transaction that indexes, because
 * a deletion locks the conversation before its index.
 * @throws StoreError `conversation_not_found`
 */
export async function lockAgainstDeletion(open: Transaction, conversationId: string): Promise<void> {
  const { count } = await open`select from conversations where id = ${conversationId} for key share`;
  if (count > 0) return;
  throw new StoreError(
    'conversation_not_found',
    `there is no conversation ${conversationId}: it was deleted meanwhile`,
  );
}

async function indexBatch(open: Transaction, conversationId: string): Promise<IndexedCount> {
  await lockAgainstDeletion(open, conversationId);
  await open`insert into search_progress (conversation_id) values (${conversationId}) on conflict do nothing`;
  const [progress] = await open<Progress[]>`
    select p.conversation_id as id, c.tenant, c.agent, p.through_sequence, p.through_compaction, p.talk_passages
    from search_progress p join conversations c on c.id = p.conversation_id
    where p.conversation_id = ${conversationId} for update of p`;
  // Whoever builds the index anew took the row away while it was waited for: the next batch makes one.
  if (progress === undefined) return { passages: 0, isWhole: false };
  const entries = await cutEntries(open, progress);
  const summaries = await cutSummaries(open, progress);
  const passages = [...entries.passages, ...summaries.passages];
  const talkPassages = await writePassages(open, progress, passages);
  await open`
    update search_progress set through_sequence = ${entries.through}, through_compaction = ${summaries.through},
      passages = passages + ${passages.length}, talk_passages = ${talkPassages}
    where conversation_id = ${conversationId}`;
  // Where a step or a deletion has the row locked the mark stays, for whoever looks next.
  await open`
    update conversations set is_unindexed = false where id = (
      select c.id from conversations c
      where c.id = ${conversationId} and c.is_unindexed
        and c.last_sequence <= ${entries.through} and c.compactions <= ${summaries.through}
      for no key update skip locked)`;
  return { passages: passages.length, isWhole: entries.isWhole };
}

interface EntryRow extends Omit<Source, 'isTalk' | 'path' | 'kind'> {
  readonly kind: EntryKind;
  readonly sequence: number;
  readonly content: readonly ContentPart[];
  readonly originalId: string | null;
  readonly arguments: unknown;
}

interface CutBatch {
  readonly passages: readonly CutPassage[];
  readonly through: number;
}

async function cutEntries(
  open: Transaction,
  { id: conversationId, throughSequence: after }: Progress,
): Promise<CutBatch & { readonly isWhole: boolean }> {
  const rows = await open<EntryRow[]>`
    select e.id as source_id, e.kind, e.sequence, e.tool_name, e.content, e.original_id, e.created_at, c.arguments
    from entries e left join tool_calls c on e.kind = 'tool_result'
      and c.conversation_id = e.conversation_id and c.turn_id = e.turn_id and c.call_number = e.call_number and c.call_index = e.call_index
    where e.conversation_id = ${conversationId} and e.sequence > ${after} order by e.sequence limit ${BATCH_ENTRIES}`;
  const passages: CutPassage[] = [];
  let characters = 0;
  for (const { content, originalId, arguments: written, kind, ...row } of rows) {
    if (characters >= BATCH_CHARACTERS) return { passages, through: row.sequence - 1, isWhole: false };
    if (kind === 'compaction' || isRecall(row.toolName)) continue;
    const isTalk = kind === 'user' || (kind === 'assistant' && content.some(isSaid));
    const path = kind === 'tool_result' ? pathIn(written) : null;
    const own = entryPieces(content.map(blankRecall)).map((text) => [text]);
    const texts = originalId === null ? own : [originalText(open, originalId)];
    const cut = await cutSource({ ...row, kind, isTalk, path }, texts);
    characters += cut.characters;
    for (const passage of cut.passages) passages.push(passage);
  }
  return { passages, through: rows.at(-1)?.sequence ?? after, isWhole: rows.length < BATCH_ENTRIES };
}

function isSaid(part: ContentPart): boolean {
  return part.type === 'text' && part.text.trim() !== '';
}

function isRecall(toolName: string | null): boolean {
  return toolName === RECALL_SEARCH || toolName === RECALL_OPEN;
}

/** A search must find what it asks for, not an earlier search. Blanks keep the offsets of what stands behind. */
function blankRecall(part: ContentPart): ContentPart {
  if (part.type !== 'tool_call' || !isRecall(part.name)) return part;
  return { type: 'text', text: ' '.repeat(entryText([part]).length) };
}

/** The path with which a tool was called. Arguments are kept as the model wrote them, which need not be JSON. */
function pathIn(written: unknown): string | null {
  const path = property(typeof written === 'string' ? parseJson(written) : written, 'path');
  return typeof path === 'string' ? plainText(path.slice(-LONGEST_PATH)) : null;
}

async function cutSummaries(
  open: Transaction,
  { id: conversationId, throughCompaction: after }: Progress,
): Promise<CutBatch> {
  const rows = await open<{ sourceId: string; number: number; summary: string | null; createdAt: Date }[]>`
    select id as source_id, number, summary, finished_at as "createdAt" from compactions
    where conversation_id = ${conversationId} and number > ${after} order by number`;
  const shared = { kind: 'summary', isTalk: false, sequence: null, toolName: null, path: null } as const;
  const cut = await Promise.all(
    rows.map(({ summary, ...row }) => cutSource(Object.assign(row, shared), summary === null ? [] : [[summary]])),
  );
  return { passages: cut.flatMap(({ passages }) => passages), through: rows.at(-1)?.number ?? after };
}

/**
 * Builds the index of a conversation anew from its log. A search meanwhile finds the part that is done.
 * @param options.signal stops it after the batch that is under way; upkeep or the next search finishes it
 * @throws StoreError `conversation_not_found`
 */
export async function reindexConversation(
  sql: Database,
  conversationId: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<IndexedCount> {
  await transaction(sql, async (open) => {
    await lockAgainstDeletion(open, conversationId);
    // Whoever indexes now finishes before.
    await open`select forget_passages(${conversationId})`;
    // Last, because a step waits for it.
    await open`update conversations set is_unindexed = true where id = ${conversationId} and not is_unindexed`;
  });
  return indexConversation(sql, conversationId, options);
}

export async function listIndexable(sql: Database): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from conversations order by active_at desc, id desc`;
  return rows.map(({ id }) => id);
}
