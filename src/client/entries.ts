import type { Database } from '../store/database/database.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import { listLateToolResults } from '../store/attempts/tool-calls.ts';
import type { LateToolResult } from '../store/attempts/tool-calls.ts';
import { readPieces } from '../store/log/content-pieces.ts';
import { getEntry, listEntries } from '../store/log/entries.ts';
import { findCommitted } from '../store/log/open-entry.ts';
import type { StoredEntry } from '../store/log/entries.ts';
import type { OfConversation } from './arguments.ts';
import { knownConversation } from './conversation.ts';
import { HoldfastClientError } from './errors.ts';
import { pageOf } from './page.ts';
import type { Page } from './page.ts';
import type { LateResult, ListedEntry, OpenedEntry } from './types.ts';

/** Which entries of a conversation's active branch. */
export interface EntryRange extends OfConversation {
  /** Lists the first entries after this sequence; `hasMore` means later ones. Default: the newest; `hasMore` means earlier ones. */
  readonly afterSequence?: number;
  /** Lists only entries before this sequence. */
  readonly beforeSequence?: number;
  /** At most 1,000. Default: 100. */
  readonly limit?: number;
}

const DEFAULT_ENTRIES = 100;
const MOST_ENTRIES = 1_000;

export async function listConversationEntries(database: Database, options: EntryRange): Promise<Page<ListedEntry>> {
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
      { next: `\`npx holdfast summaries ${marker.conversationId} --full\` lists them.` },
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
