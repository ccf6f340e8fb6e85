import type { Database } from '../store/database/database.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import { readSummaryInForce } from '../store/conversations/branch-path.ts';
import { readPieces } from '../store/log/content-pieces.ts';
import { findCommitted, getEntry, listEntries } from '../store/log/entries.ts';
import type { StoredEntry } from '../store/log/entries.ts';
import { searchMemory } from '../store/memory/recall-search.ts';
import type { MeaningSearch } from '../store/search/embedder.ts';
import { embedBehind } from '../store/search/embeddings.ts';
import { StoreError } from '../store/database/errors.ts';
import type { IndexedCount } from '../store/search/index-conversation.ts';
import { listIndexable, reindexConversation } from '../store/search/reindex.ts';
import { listLateToolResults } from '../store/attempts/tool-calls.ts';
import type { LateToolResult } from '../store/attempts/tool-calls.ts';
import { readBranchPlaces } from '../store/conversations/branches.ts';
import { listSummaries } from '../store/compactions/compactions.ts';
import type { SummaryRow } from '../store/compactions/compactions.ts';
import { readCurrentPoint } from '../store/compactions/plan-source.ts';
import type { OpenedEntry } from './archive-types.ts';
import { knownConversation, requireConversation } from './conversation.ts';
import { HoldfastClientError } from './errors.ts';
import { pageOf } from './page.ts';
import type { Page } from './page.ts';
import type { FoundPassage, Reindexed } from './memory-types.ts';
import type { HoldfastClient, LateResult, ListedEntry, StoredSummary } from './types.ts';

/** One query's worth: the rows hold whole summaries. */
const SUMMARIES_PER_PAGE = 200;

type Options<Method extends keyof HoldfastClient> = Parameters<HoldfastClient[Method]>[0];

const DEFAULT_ENTRIES = 100;
const MOST_ENTRIES = 1_000;

export async function listConversationEntries(
  database: Database,
  options: Options<'listEntries'>,
): Promise<Page<ListedEntry>> {
  const { conversationId, afterSequence, beforeSequence } = options;
  const limit = Math.min(options.limit ?? DEFAULT_ENTRIES, MOST_ENTRIES);
  const read = await listEntries(database, {
    conversationId,
    ...definedOf({ after: afterSequence, before: beforeSequence }),
    limit: limit + 1,
  });
  await knownConversation(database, conversationId, read);
  const { items, hasMore } = pageOf(read, limit, afterSequence === undefined ? 'last' : 'first');
  return { items: await withLateResults(database, items), hasMore };
}

/** Few turns have any: one query by the turns that the page shows. */
export async function withLateResults(database: Database, entries: readonly StoredEntry[]): Promise<ListedEntry[]> {
  const results = entries.filter(({ kind }) => kind === 'tool_result');
  const late = await listLateToolResults(database, [...new Set(results.map(({ turnId }) => turnId))]);
  return entries.map((entry) => listed(entry, late));
}

/** An entry, or the summary of a compaction: search and lineage name a summary by its compaction's id. */
export async function openStoredEntry(database: Database, id: string): Promise<OpenedEntry> {
  const entry = await getEntry(database, id);
  if (entry === null) return openStoredSummary(database, id);
  const [found] = await withLateResults(database, [entry]);
  return {
    ...(found ?? listed(entry, [])),
    conversationId: entry.conversationId,
    original: await originalOf(database, entry),
  };
}

async function openStoredSummary(database: Database, id: string): Promise<OpenedEntry> {
  const compaction = await findCommitted(database, id);
  const marker = compaction === null ? null : await getEntry(database, compaction.markerEntryId);
  if (compaction === null || marker === null) {
    throw new HoldfastClientError('entry_not_found', `there is no entry and no summary "${id}"`);
  }
  if (compaction.summary === null) {
    throw new HoldfastClientError(
      'entry_not_found',
      `compaction "${id}" has no summary, it only shows entries shorter`,
      { advice: `'holdfast summaries ${marker.conversationId} --full' lists them` },
    );
  }
  return {
    ...listed(marker, []),
    entryId: compaction.id,
    kind: 'summary',
    content: [{ type: 'text', text: compaction.summary }],
    conversationId: marker.conversationId,
    original: null,
  };
}

async function originalOf(database: Database, entry: StoredEntry): Promise<Uint8Array | null> {
  if (entry.original === undefined) return null;
  const pieces: Uint8Array[] = [];
  for await (const piece of readPieces(database, entry.original.contentId)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Newest first, however many there are. */
async function readSummaries(database: Database, options: Options<'listSummaries'>): Promise<SummaryRow[]> {
  const rows: SummaryRow[] = [];
  for (;;) {
    const beforeNumber = rows.at(-1)?.number;
    const page = await listSummaries(database, {
      ...options,
      limit: SUMMARIES_PER_PAGE,
      ...(beforeNumber !== undefined && { beforeNumber }),
    });
    rows.push(...page);
    if (page.length < SUMMARIES_PER_PAGE) return rows;
  }
}

export async function listStoredSummaries(
  database: Database,
  options: Options<'listSummaries'>,
): Promise<StoredSummary[]> {
  const [rows, inForce] = await Promise.all([
    readSummaries(database, options),
    readCurrentSummaryId(database, options.conversationId),
  ]);
  const summaries = rows.reverse().map((row) => ({
    compactionId: row.compactionId,
    generation: row.number,
    trigger: row.reason,
    preset: row.preset,
    form: row.form,
    branch: row.branch,
    inForce: row.compactionId === inForce,
    updatesGeneration: row.text === null ? null : row.updates,
    tokensBefore: row.tokensBefore,
    tokensAfter: row.tokensAfter,
    coveredThroughSequence: row.coveredThroughSequence,
    entriesCovered: row.entriesCovered,
    firstKeptSequence: row.firstKeptSequence,
    operations: row.operations,
    tries: row.tries,
    model: row.model,
    modelCalls: row.modelCalls,
    cost: row.cost,
    request: row.request,
    inputTokens: row.inputTokens,
    cacheReadTokens: row.cacheReadTokens,
    text: row.text,
    sections: row.sections.map((section) => ({ ...section, open: row.openSections.includes(section.title) })),
    createdAt: row.createdAt,
    durationMilliseconds: row.durationMilliseconds,
  }));
  return knownConversation(database, options.conversationId, summaries);
}

async function readCurrentSummaryId(database: Database, conversationId: string): Promise<string | null> {
  const point = await readCurrentPoint(database, conversationId);
  return point === null ? null : ((await readSummaryInForce(database, point))?.compactionId ?? null);
}

export async function findPassages(
  database: Database,
  options: Options<'searchMemory'> & { readonly tenant: string },
  meaning: MeaningSearch | null,
): Promise<FoundPassage[]> {
  const passages = await searchMemory(database, options, meaning);
  const places = await readBranchPlaces(
    database,
    passages.map(({ entryId }) => entryId),
  );
  if (passages.length === 0 && options.conversationId !== undefined) {
    await requireConversation(database, options.conversationId);
  }
  const first = { branch: 0, onActiveBranch: true };
  return passages.map((passage) => Object.assign({}, passage, places.get(passage.entryId) ?? first));
}

export async function reindexConversations(
  database: Database,
  { conversationId, signal, onProgress }: Options<'reindex'>,
  meaning: MeaningSearch | null,
): Promise<Reindexed> {
  if (conversationId !== undefined) await requireConversation(database, conversationId);
  const wanted = conversationId === undefined ? await listIndexable(database) : [conversationId];
  const done = { conversations: 0, passages: 0, skipped: 0, embedded: 0 };
  for (const id of wanted) {
    if (signal?.aborted === true) break;
    const { passages, skipped, isWhole } =
      conversationId === undefined
        ? await reindexListed(database, id, signal)
        : await reindexConversation(database, id, definedOf({ signal }));
    done.passages += passages;
    done.skipped += skipped;
    if (!isWhole) break;
    done.conversations += 1;
    onProgress?.({ conversationId: id, done: done.conversations, of: wanted.length, passages, skipped });
  }
  if (meaning === null) return { ...done, interrupted: done.conversations < wanted.length };
  const embedding = signal ?? new AbortController().signal;
  if (!embedding.aborted) done.embedded = await embedBehind(database, meaning.embedder, embedding);
  return { ...done, interrupted: embedding.aborted };
}

/** One that was deleted since it was listed has nothing to index. */
async function reindexListed(database: Database, id: string, signal: AbortSignal | undefined): Promise<IndexedCount> {
  try {
    return await reindexConversation(database, id, definedOf({ signal }));
  } catch (error) {
    if (error instanceof StoreError && error.code === 'conversation_not_found')
      return { passages: 0, skipped: 0, isWhole: true };
    throw error;
  }
}

function listed(entry: StoredEntry, late: readonly LateToolResult[]): ListedEntry {
  return {
    entryId: entry.id,
    sequence: entry.sequence,
    kind: entry.kind,
    slot: entry.slot ?? null,
    turnId: entry.turnId,
    callNumber: entry.callNumber ?? null,
    callIndex: entry.callIndex ?? null,
    toolName: entry.toolName ?? null,
    isError: entry.isError ?? false,
    createdAt: entry.createdAt,
    content: entry.content,
    originalBytes: entry.original?.bytes ?? null,
    compactionId: entry.compactionId,
    lateResults: late.flatMap((result) => (isOf(entry, result) ? [lateResult(result)] : [])),
  };
}

function isOf(entry: StoredEntry, { turnId, callNumber, callIndex }: LateToolResult): boolean {
  if (entry.kind !== 'tool_result' || entry.turnId !== turnId) return false;
  return entry.callNumber === callNumber && entry.callIndex === callIndex;
}

function lateResult({ attempt, workerIdentity, outcome, content, receivedAt }: LateToolResult): LateResult {
  return { attempt, workerIdentity, isError: outcome !== 'succeeded', content, receivedAt };
}
