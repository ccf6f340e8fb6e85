import { definedOf } from '../context/defined-of.ts';
import type { Database } from './database.ts';
import { StoreError, isLockConflict } from './errors.ts';
import { isId } from './ids.ts';
import { arrange } from './search/arrange.ts';
import type { ArrangedCandidate } from './search/arrange.ts';
import type { Candidate, RankedCandidate } from './search/candidate.ts';
import { readExcepted, withoutExcepted } from './search/excepted-entry.ts';
import type { ExceptedEntry } from './search/excepted-entry.ts';
import { findPool, readTexts } from './search/find-candidates.ts';
import type { SearchFilter } from './search/filtered-passages.ts';
import type { MeaningSearch } from './search/embedder.ts';
import { findByIds } from './search/find-by-id.ts';
import { findByMeaning, fuse } from './search/find-by-meaning.ts';
import { asWritten, formsOf } from './search/forms.ts';
import type { FoundPassage } from './search/found-passage.ts';
import { indexAgent, indexConversation } from './search/index-conversation.ts';
import { joinNeighbour, readNeighbours } from './search/neighbours.ts';
import { withOrigins } from './search/origins.ts';
import { withOlderBlocks } from './search/older-blocks.ts';
import { pathsOf } from './search/paths.ts';
import { phrasesOf } from './search/phrases.ts';
import type { Phrases } from './search/phrases.ts';
import { phrasesAcrossCuts } from './search/phrases-across-cuts.ts';
import { queryTermsOf } from './search/query-terms.ts';
import { rankCandidates } from './search/rank.ts';
import { agentScope, conversationScope } from './search/scope.ts';
import type { SearchedScope } from './search/scope.ts';
import type { SearchLimits } from './search/search-limits.ts';
import { scoreByWords } from './search/score-words.ts';
import { mayBeMisspelt, similarTerms } from './search/similar-terms.ts';
import { tellingTerms } from './search/telling-terms.ts';
import { weighTerms } from './search/weigh-terms.ts';
import type { WeightedTerm } from './search/weigh-terms.ts';
import { isUnspacedCharacter } from './search/words.ts';
import { isoTime, plainText } from './stored-text.ts';

export { indexConversation } from './search/index-conversation.ts';
export type { FoundPassage } from './search/found-passage.ts';

export interface MemoryQuery extends SearchFilter {
  /**
   * A conversation, or an agent, whose conversations are all searched. Both: the conversation, if it is one of the agent's. Neither is
   * refused: agents may serve users who must not read each other, so nothing is searched across them by leaving something out; and
   * the index with its weights is kept by agent, there is none over all.
   */
  readonly conversationId?: string;
  readonly agent?: string;
  readonly query: string;
  /** Default 10, at most 100. */
  readonly limit?: number;
  /** ISO time that relative dates of the query ("yesterday") are relative to. Default: now. */
  readonly askedAt?: string;
  /** An entry that who asks sees anyhow, as the message that is answered: if it is short, it is not among what is found. */
  readonly exceptEntryId?: string;
}

const DEFAULT_LIMIT = 10;
const LARGEST_LIMIT = 100;
/** Passages whose text is read, those with the best words: what the text says changes their order, hardly which they are … */
const READ = 45;
/** … and so many more than are wanted, for some fall away. */
const SPARE = 20;
/** Some 65,000 passages. Among more, no words are looked up that others may be misspelt for, at 5 ms each, and words that are only related to those of the query are in too many to choose any, and each costs a row a block. */
const MOST_BLOCKS_OF_RELATED_WORDS = 16;
/** Characters of a query that are looked at. */
const LONGEST_QUERY = 2_000;

/**
 * Ranked passages over originals, summaries, notes and tool results of a conversation, all its
 * branches, or of all conversations of an agent; indexes first what came since the last search. What
 * the query names by id comes first, then passages that have it word for word, then those with its
 * words, rare words counting more, also words of the entries around; a word that is nowhere stands for
 * words like it. With a search by meaning both rankings are joined. Of two passages that say the same with
 * other details the newer one comes first, and what is on the active branch before what was left.
 * @throws StoreError `invalid_search`
 */
export async function searchMemory(
  sql: Database,
  query: MemoryQuery,
  meaning: MeaningSearch | null = null,
  limits: SearchLimits = {},
): Promise<FoundPassage[]> {
  const asked: AskedQuery = {
    ...query,
    text: plainText(query.query.trim()).slice(0, LONGEST_QUERY),
    askedAt: askedAtOf(query),
  };
  if (asked.text === '') return [];
  const scope = await openScope(sql, query, limits);
  if (scope === null) return [];
  const found = await searchScope(sql, scope, asked, { meaning, limits });
  return found.length === 0 && (await isReplaced(sql, scope)) ? searchMemory(sql, query, meaning, limits) : found;
}

interface AskedQuery extends Omit<MemoryQuery, 'askedAt'> {
  /** Of `query`, as it is searched for. */
  readonly text: string;
  readonly askedAt: Date;
}

async function searchScope(
  sql: Database,
  scope: SearchedScope,
  query: AskedQuery,
  { meaning, limits }: { readonly meaning: MeaningSearch | null; readonly limits: SearchLimits },
): Promise<FoundPassage[]> {
  const { text, askedAt } = query;
  const excepted = await readExcepted(sql, query.exceptEntryId);
  const phrases = phrasesOf(text);
  const [named, byWords, byMeaning] = await Promise.all([
    findByIds(sql, scope, text, query),
    rank(sql, scope, text, { ...query, limits, askedAt, excepted, phrases }),
    meaning === null ? [] : findByMeaning(sql, scope, text, query, meaning),
  ]);
  const isShown = ({ sourceId }: Candidate): boolean => excepted.ids.size === 0 || sourceId !== query.exceptEntryId;
  const fused = await phrasesAcrossCuts(sql, fuse(byWords, byMeaning.filter(isShown)), phrases);
  const known = await withOrigins(sql, scope, [...named, ...fused]);
  const [first, ranked] = [known.slice(0, named.length), known.slice(named.length)];
  // Of two that begin at one place the longer one is joined with the passage behind it.
  const keyOf = ({ sourceId, offset, text: { length } }: Candidate): string => `${sourceId} ${offset} ${length}`;
  const ids = new Set(named.map(keyOf));
  const limit = limitOf(query);
  const rest = arrange(ranked, limit + named.length).filter((candidate) => !ids.has(keyOf(candidate)));
  const found = [...first.map((each) => Object.assign({}, each, { updatedBy: null, alsoIn: [] })), ...rest].slice(
    0,
    limit,
  );
  const [paths, neighbours] = await Promise.all([pathsOf(sql, found), readNeighbours(sql, found)]);
  return found.map((candidate) =>
    joinNeighbour(toFound(candidate, phrases, candidate.path ?? paths.get(candidate.sourceId)), neighbours),
  );
}

function limitOf({ limit }: { readonly limit?: number }): number {
  return Math.min(limit ?? DEFAULT_LIMIT, LARGEST_LIMIT);
}

async function openScope(
  sql: Database,
  { conversationId, agent }: MemoryQuery,
  { mostBlocks }: SearchLimits,
): Promise<SearchedScope | null> {
  if (conversationId !== undefined) {
    const scope = await openConversation(sql, conversationId);
    return agent === undefined || scope?.agent === agent ? scope : null;
  }
  if (agent === undefined) {
    throw new StoreError('invalid_search', 'the search has no scope: name a conversationId or an agent');
  }
  await indexAgent(sql, agent);
  return agentScope(sql, agent, mostBlocks);
}

async function openConversation(sql: Database, conversationId: string): Promise<SearchedScope | null> {
  if (!isId(conversationId)) return null;
  const { scope, isBehind } = await conversationScope(sql, conversationId);
  if (!isBehind) return scope;
  const conflict = await indexUnlessLocked(sql, conversationId);
  const now = await conversationScope(sql, conversationId);
  if (now.scope !== null || !now.isBehind) return now.scope;
  // Nothing of it is indexed, since its index is built anew: "nothing found" would be untrue.
  if (conflict !== null) throw conflict;
  return openConversation(sql, conversationId);
}

/** What is indexed is searched when others index for longer than a lock is waited for; until an index that is built anew has begun, that is the old one. */
async function indexUnlessLocked(sql: Database, conversationId: string): Promise<unknown> {
  try {
    await indexConversation(sql, conversationId);
    return null;
  } catch (error) {
    if (isLockConflict(error)) return error;
    throw error;
  }
}

/** The index that was searched is gone: another one was begun meanwhile (`holdfast reindex`), or the conversation was deleted. */
async function isReplaced(sql: Database, { conversationId, numbers }: SearchedScope): Promise<boolean> {
  if (conversationId === null) return false;
  const { scope } = await conversationScope(sql, conversationId);
  return scope?.numbers[0] !== numbers[0];
}

interface RankedQueryOptions extends SearchFilter {
  readonly limit?: number;
  readonly excepted: ExceptedEntry;
  readonly phrases: Phrases;
  readonly limits: SearchLimits;
  readonly askedAt: Date;
}

async function rank(
  sql: Database,
  scope: SearchedScope,
  text: string,
  query: RankedQueryOptions,
): Promise<RankedCandidate[]> {
  const withRelated = scope.blocks.length <= MOST_BLOCKS_OF_RELATED_WORDS;
  const all = await queryTermsOf(sql, text, { languages: scope.languages, askedAt: query.askedAt, withRelated });
  const weighed = withoutExcepted(await weighTerms(sql, scope, all, query.limits.mostOfWord), query.excepted);
  const { sought, known } = tellingTerms({ sought: all, known: weighed });
  const words = new Set(
    known.filter((term) => !term.isRelated && !(withRelated && mayBeMisspelt(term))).map(({ word }) => word),
  );
  const passagesOf = new Map(known.filter(({ isRelated }) => !isRelated).map(({ word, passages }) => [word, passages]));
  const like = await similarTerms(
    sql,
    scope,
    sought.filter(({ word, isRelated }) => !isRelated && (!words.has(word) || isUnspacedCharacter(word))),
    passagesOf,
  );
  const terms: WeightedTerm[] = [...known, ...like].toSorted((one, other) => one.position - other.position);
  if (terms.length === 0) return [];
  const { phrases, limits } = query;
  const wanted = Math.max(READ, limitOf(query) + SPARE);
  const searched = await withOlderBlocks(sql, scope, terms, limits.mostOfWord);
  const { pool, chosenBy, ofPhrase } = await findPool(sql, searched, terms, { filter: query, wanted, phrases, limits });
  const asked = { text, phrases, terms, averageWords: scope.averageWords, chosenBy };
  const scored = scoreByWords(asked, pool).filter(({ id }) => !query.excepted.ids.has(id));
  const first = scored.filter(({ id }) => ofPhrase.has(id));
  const best = [...first, ...(first.length === 0 ? scored : scored.filter(({ id }) => !ofPhrase.has(id)))].slice(
    0,
    wanted,
  );
  return rankCandidates(asked, await readTexts(sql, best));
}

function askedAtOf({ askedAt }: MemoryQuery): Date {
  const time = askedAt === undefined ? new Date() : new Date(askedAt);
  if (!Number.isNaN(time.getTime())) return time;
  throw new StoreError(
    'invalid_search',
    `askedAt is no time: ${JSON.stringify(askedAt)}; give it as 2026-03-05T10:00:00Z`,
  );
}

function toFound(candidate: ArrangedCandidate, phrases: Phrases, path: string | undefined): FoundPassage {
  const asked = candidate.match === 'phrase' ? phrases.all.map(({ text }) => text) : [];
  return {
    conversationId: candidate.conversationId,
    entryId: candidate.sourceId,
    kind: candidate.kind,
    sequence: candidate.sequence,
    createdAt: isoTime(candidate.createdAt),
    toolName: candidate.toolName,
    path: path || null,
    offset: candidate.offset,
    text: candidate.text,
    score: candidate.score,
    match: candidate.match,
    matched: [...new Set(candidate.matched.map(({ word }) => word))],
    forms: [...new Set(asWritten(candidate.text, [...asked, ...formsOf(candidate)]))],
    updatedBy: candidate.updatedBy,
    ...definedOf({ branch: candidate.leftBranch, alsoIn: candidate.alsoIn.length > 0 ? candidate.alsoIn : undefined }),
  };
}
