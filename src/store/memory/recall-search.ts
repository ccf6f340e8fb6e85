import type { PartlySearched, RecallFilter } from '../../tools/tool.ts';
import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import type { Database } from '../database/database.ts';
import { StoreError, isLockConflict, isOutage } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { arrange } from '../search/arrange.ts';
import { findCandidates } from '../search/candidates.ts';
import type { MeaningSearch } from '../search/find-by-meaning.ts';
import { joinByMeaning } from '../search/find-by-meaning.ts';
import { indexConversation } from '../search/index-conversation.ts';
import { INDEXED_CHARACTERS } from '../search/passage-writer.ts';
import { phrasesOf } from '../search/phrases.ts';
import { presentPassages } from '../search/present.ts';
import type { FoundPassage } from '../search/present.ts';
import { readQuery } from '../search/query.ts';
import { rankPassages, WITHOUT_WORDS, scorePlaces, weightsOf } from '../search/rank.ts';
import type { RankedPassage, RankedQuery } from '../search/rank.ts';
import { readByIds, readPlaces } from '../search/read-passages.ts';
import { openScope } from '../search/scope.ts';
import type { SearchedScope } from '../search/scope.ts';
import { plainText } from '../log/stored-text.ts';

export { indexConversation } from '../search/index-conversation.ts';
export type { FoundPassage } from '../search/present.ts';

export interface MemoryQuery extends RecallFilter {
  /**
   * A conversation, or an agent, whose conversations are all searched. Both: the conversation, if it is one of the agent's. Neither is
   * refused: agents may serve users who must not read each other.
   */
  readonly conversationId?: string;
  readonly agent?: string;
  /** Of the agent. Default: `default`. */
  readonly tenant?: string;
  readonly query: string;
  /** Default 10, at most 100. */
  readonly limit?: number;
  /** ISO time that relative dates of the query ("yesterday") are relative to. Default: now. */
  readonly askedAt?: string;
  /** An entry that the reader sees anyhow, as the message that is answered: it is not among what is found unless it is long. */
  readonly exceptEntryId?: string;
}

const DEFAULT_LIMIT = 10;
const LARGEST_LIMIT = 100;
/** Passages whose text is read at least, and for each that is wanted. */
const READ = 30;
const READ_FOR_EACH = 3;
/** Characters of a query that are looked at. */
const LONGEST_QUERY = 2_000;
/** Conversations of an agent that a search indexes first, one batch each, and milliseconds after which it begins no other one. */
const INDEXED_FIRST = 20;
const INDEXING_MILLISECONDS = 500;

/**
 * Ranked passages over originals, summaries, notes and tool results of a conversation, all its branches, or of all conversations of an
 * agent; indexes a part of what came since the last search first (`countUnindexed` says what is left). What the query names by id comes
 * first, then passages that have it word for word, then those with its words, rare words counting more. Of two passages that say the
 * same with other details the newer one comes first.
 * @throws StoreError `invalid_search`
 */
export async function searchMemory(
  sql: Database,
  query: MemoryQuery,
  meaning: MeaningSearch | null = null,
): Promise<FoundPassage[]> {
  const text = plainText(query.query.trim()).slice(0, LONGEST_QUERY);
  const askedAt = askedAtOf(query);
  if (text === '') return [];
  const scope = await openSearched(sql, query);
  if (scope === null) return [];
  const limit = Math.min(query.limit ?? DEFAULT_LIMIT, LARGEST_LIMIT);
  const phrases = phrasesOf(text);
  const [named, byWords] = await Promise.all([
    readByIds(sql, scope, text, query),
    findByWords(sql, scope, { text, phrases, terms: [] }, { ...query, askedAt, limit }),
  ]);
  const shown = byWords.filter(({ sourceId, offset }) => sourceId !== query.exceptEntryId || offset > 0);
  const arranged = arrange(shown);
  const found = meaning === null ? arranged : await joinByMeaning(sql, scope, { ...query, text }, meaning, arranged);
  const ids = new Set(named.map(({ id }) => id));
  const first = named.map((passage) => Object.assign({ match: 'id' as const, alsoIn: [] }, WITHOUT_WORDS, passage));
  const rest = found.filter(({ id }) => !ids.has(id));
  return presentPassages(sql, scope, [...first, ...rest].slice(0, limit), phrases);
}

interface WordSearch extends RecallFilter {
  readonly askedAt: Date;
  readonly limit: number;
  readonly exceptEntryId?: string;
}

async function findByWords(
  sql: Database,
  scope: SearchedScope,
  query: RankedQuery,
  { askedAt, limit, exceptEntryId, ...filter }: WordSearch,
): Promise<readonly RankedPassage[]> {
  const terms = await readQuery(sql, scope, { text: query.text, askedAt, exceptEntryId });
  if (terms.length === 0) return [];
  const found = await findCandidates(sql, scope, { terms, phrases: query.phrases }, filter);
  const weights = weightsOf(terms, found, scope);
  const places = scorePlaces(found.candidates, weights, Math.max(READ, READ_FOR_EACH * limit));
  const weighted = terms.map((term, bit) => Object.assign({}, term, { weight: weights[bit] ?? 0 }));
  return rankPassages({ ...query, terms: weighted }, await readPlaces(sql, places, filter), places);
}

/** What is searched, with a part of what was not indexed; `null`: nothing of it is indexed. */
async function openSearched(sql: Database, query: MemoryQuery): Promise<SearchedScope | null> {
  const { conversationId = null, agent = null, tenant = DEFAULT_TENANT } = query;
  if (conversationId === null && agent === null)
    throw new StoreError('invalid_search', 'the search has no scope: name a conversationId or an agent');
  if (conversationId !== null && !isId(conversationId)) return null;
  const isRead =
    conversationId === null
      ? sql`tenant = ${tenant} and agent = ${agent} and is_unindexed`
      : sql`id = ${conversationId}`;
  const [rows, indexed] = await Promise.all([
    sql<{ id: string; tenant: string; agent: string; isUnindexed: boolean }[]>`
      select id, tenant, agent, is_unindexed from conversations
      where ${isRead} order by active_at desc limit ${INDEXED_FIRST}`,
    // Mostly nothing is left to index, and one wait for the server is less.
    conversationId === null && agent !== null ? openScope(sql, { tenant, agent, conversationId }) : null,
  ]);
  const end = performance.now() + INDEXING_MILLISECONDS;
  let conflict: unknown = null;
  for (const { id, isUnindexed } of rows) {
    if (isUnindexed && performance.now() < end) conflict = (await indexFirst(sql, id)) ?? conflict;
  }
  // Deleted meanwhile.
  if (conversationId !== null && conflict instanceof StoreError) throw conflict;
  if (indexed !== null && rows.length === 0) return indexed;
  const own = conversationId === null ? tenant : rows[0]?.tenant;
  const searched = conversationId === null ? agent : rows[0]?.agent;
  if (own === undefined || searched == null || searched !== (agent ?? searched)) return null;
  const scope = await openScope(sql, { tenant: own, agent: searched, conversationId });
  // "Nothing found" would be untrue.
  if (scope === null && isLockConflict(conflict)) throw conflict;
  return scope;
}

/** One batch. What is indexed is searched when others index for longer than a lock is waited for, or delete the conversation. */
async function indexFirst(sql: Database, conversationId: string): Promise<unknown> {
  try {
    await indexConversation(sql, conversationId, { mostBatches: 1 });
    return null;
  } catch (error) {
    if (isOutage(error) && !isLockConflict(error)) throw error;
    return error;
  }
}

/** Entries in scope that are not indexed yet, which no search finds: upkeep indexes them within a minute. */
export async function countUnindexed(
  sql: Database,
  { conversationId, agent, tenant = DEFAULT_TENANT }: Pick<MemoryQuery, 'conversationId' | 'agent' | 'tenant'>,
): Promise<number> {
  const [row] = await sql<{ entries: number }[]>`
    select coalesce(sum(c.last_sequence - coalesce(p.through_sequence, 0)), 0)::int as entries
    from conversations c left join search_progress p on p.conversation_id = c.id
    where c.is_unindexed ${conversationId === undefined ? sql`` : sql`and c.id = ${conversationId}`}
      ${agent === undefined ? sql`` : sql`and c.tenant = ${tenant} and c.agent = ${agent}`}`;
  return row?.entries ?? 0;
}

function askedAtOf({ askedAt }: MemoryQuery): Date {
  const time = askedAt === undefined ? new Date() : new Date(askedAt);
  if (!Number.isNaN(time.getTime())) return time;
  throw new StoreError(
    'invalid_search',
    `askedAt is no time: ${JSON.stringify(askedAt)}; give it as 2026-03-05T10:00:00Z`,
  );
}

/** Named to an agent: one that reads more at a time knows them all. */
const MOST_NAMED = 3;

/** The results whose end no search finds, newest first: only the beginning of a long one is indexed. */
export async function searchedInPart(sql: Database, conversationId: string): Promise<readonly PartlySearched[]> {
  // Apart: a conversation without such a result, as nearly all are, must not have its entries gone through.
  const long = await sql<{ id: string }[]>`
    select id from contents where conversation_id = ${conversationId} and characters > ${INDEXED_CHARACTERS}`;
  if (long.length === 0) return [];
  const rows = await sql<{ entryId: string; characters: number }[]>`
    select e.id as "entryId", l.characters::int as characters from contents l
    join entries e on e.conversation_id = ${conversationId} and e.original_id = l.id
    where l.id = any(${long.map(({ id }) => id)}::uuid[]) order by e.sequence desc limit ${MOST_NAMED}`;
  return rows.map((row) => Object.assign(row, { searched: INDEXED_CHARACTERS }));
}
