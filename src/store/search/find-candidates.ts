import type { Database, Fragment, Queries } from '../database.ts';
import { filteredPassages, inTime } from './filtered-passages.ts';
import type { SearchFilter } from './filtered-passages.ts';
import { findPhrases, isSoughtAsPhrase } from './find-phrases.ts';
import { gather } from './gather.ts';
import type { GatheredPassage, Gathering } from './gather.ts';
import { BLOCK_PASSAGES, numbersOfKinds } from './postings.ts';
import type { Candidate } from './candidate.ts';
import { headColumns, headOf } from './passage-rows.ts';
import type { PassageHeadRow } from './passage-rows.ts';
import type { Phrases } from './phrases.ts';
import type { ReadCandidate } from './rank.ts';
import { budgetFor, choosingTerms, withNextTerm } from './choosing-terms.ts';
import { portionsOf, readPostings } from './read-postings.ts';
import type { PostingsReading } from './read-postings.ts';
import type { SearchedScope } from './scope.ts';
import type { SearchLimits } from './search-limits.ts';
import type { PooledPassage, WordScored } from './score-words.ts';
import type { WeightedTerm } from './weigh-terms.ts';
import { isFullOfCopies, withoutCopies } from './without-copies.ts';

/** Passages whose words are looked at. */
const POOL = 120;
/** As many where the last of the pool is about as good as its first: the places of the words have to decide. */
const LARGE_POOL = 180;
const ABOUT_AS_GOOD = 0.8;
/** As many are gathered where most of a pool say the same: nine tenths of what a tool returns may be one line. */
const POOL_OF_COPIES = 2_000;
/** Portions of postings that are read until a pool is full, where a filter may let nothing of the newest through. */
const MOST_PORTIONS = 20;

export interface FoundPool {
  readonly pool: readonly PooledPassage[];
  /** Indexes of terms that the passages were chosen by: they are in `gathered` already. */
  readonly chosenBy: ReadonlySet<number>;
  /** Those that have the words of a phrase in a row; none where all that have the words are in the pool anyhow. */
  readonly ofPhrase: ReadonlySet<number>;
}

export interface PoolQuery {
  readonly filter: SearchFilter;
  readonly wanted: number;
  readonly phrases: Phrases;
  readonly limits: SearchLimits;
}

/** The passages worth ranking, without their texts. */
export async function findPool(
  sql: Database,
  scope: SearchedScope,
  terms: readonly WeightedTerm[],
  { filter, wanted, phrases, limits }: PoolQuery,
): Promise<FoundPool> {
  const { blocks, ids } = await filteredPassages(sql, scope, filter, limits);
  if (blocks.length === 0) return { pool: [], chosenBy: new Set(), ofPhrase: new Set() };
  const gathering: Gathering = {
    weights: terms.map(({ weight }) => weight),
    averageWords: scope.averageWords,
    count: LARGE_POOL,
    ...(filter.kinds === undefined ? {} : { kinds: numbersOfKinds(filter.kinds) }),
    ...(ids === null ? {} : { ids }),
  };
  let chosen: readonly number[] = choosingTerms(terms, budgetFor(scope, blocks, limits.mostRows));
  let best = await gatherBest(sql, scope, { terms, chosen, blocks }, gathering);
  if (best.length < POOL && isFiltered(gathering) && chosen.length < terms.length) {
    chosen = withNextTerm(terms, chosen);
    best = await gatherBest(sql, scope, { terms, chosen, blocks }, gathering);
  }
  const isFull = best.length === gathering.count;
  // Where more have the words than are looked at, those that have them in a row may be among the others.
  const inRow =
    isFull && isSoughtAsPhrase(phrases, scope) ? await findPhrases(sql, scope, phrases, { terms, blocks }) : [];
  const ofPhrase = new Set(inRow.filter((id) => ids?.has(id) ?? true));
  const found =
    ofPhrase.size === 0
      ? []
      : await gatherBest(sql, scope, { terms, chosen, blocks: blocksOf(ofPhrase) }, { ...gathering, ids: ofPhrase });
  const withFound = (others: readonly GatheredPassage[]): readonly GatheredPassage[] =>
    ofPhrase.size === 0 ? others : [...found, ...others.filter(({ id }) => !ofPhrase.has(id))];
  let pool = await readPool(sql, withFound(isTied(best, terms) ? best : best.slice(0, POOL)), terms, filter);
  if (isFull && (await isFullOfCopies(sql, pool, wanted))) {
    const more = await gatherBest(sql, scope, { terms, chosen, blocks }, { ...gathering, count: POOL_OF_COPIES });
    const different = (await withoutCopies(sql, more)).slice(0, LARGE_POOL);
    pool = await readPool(sql, withFound(different), terms, filter);
  }
  return { pool, chosenBy: new Set(chosen), ofPhrase };
}

/** Ascending. */
function blocksOf(ids: Iterable<number>): readonly number[] {
  const blocks = Array.from(ids, (id) => Math.floor(id / BLOCK_PASSAGES));
  return [...new Set(blocks)].toSorted((one, other) => one - other);
}

/** The newest blocks first; older ones only while a filter leaves too few. */
async function gatherBest(
  sql: Database,
  scope: SearchedScope,
  reading: PostingsReading,
  gathering: Gathering,
): Promise<readonly GatheredPassage[]> {
  const best: GatheredPassage[] = [];
  for (const blocks of portionsOf(scope, reading).slice(0, isFiltered(gathering) ? MOST_PORTIONS : 1)) {
    best.push(...gather(await readPostings(sql, scope, { ...reading, blocks }), gathering));
    if (best.length >= POOL) break;
  }
  return best.toSorted((one, other) => other.score - one.score || other.id - one.id).slice(0, gathering.count);
}

function isFiltered({ kinds, ids }: Gathering): boolean {
  return kinds !== undefined || ids !== undefined;
}

/** Of a single word nothing more can be said by reading more. */
function isTied(best: readonly GatheredPassage[], terms: readonly WeightedTerm[]): boolean {
  const [first, last] = [best[0], best[POOL - 1]];
  return terms.length > 1 && first !== undefined && last !== undefined && last.score >= ABOUT_AS_GOOD * first.score;
}

interface PooledRow extends Pick<PassageHeadRow, 'kind' | 'path' | 'words' | 'created_at'> {
  readonly id: string;
  readonly found: string;
  readonly dates: string[];
}

/** Of the words only those of the query are read: a passage has a hundred, and most passages are not listed. */
async function readPool(
  sql: Database,
  gathered: readonly GatheredPassage[],
  terms: readonly WeightedTerm[],
  filter: SearchFilter,
): Promise<PooledPassage[]> {
  if (gathered.length === 0) return [];
  const scores = new Map(gathered.map(({ id, score }) => [id, score]));
  const words = terms.flatMap((term) => (term.isDate ? [] : term.terms));
  const dates = terms.flatMap((term) => (term.isDate ? term.terms : []));
  const rows = await sql<PooledRow[]>`
    select p.id, p.kind, p.path, p.words, p.created_at,
      ts_filter(setweight(p.terms, 'A', ${words}::text[]), '{a}')::text as found,
      ${dates.length === 0 ? sql`'{}'::text[]` : sql`array(select d from unnest(${dates}::text[]) d where p.terms @@ quote_literal(d)::tsquery)`} as dates
    from passages p where p.id = any(${[...scores.keys()]}::bigint[])
      ${filter.kinds === undefined ? sql`` : sql`and p.kind = any(${[...filter.kinds]})`} ${inTime(sql, filter)}`;
  return rows.map(({ id, kind, path, words: count, created_at: createdAt, found, dates: named }) => {
    return {
      id: Number(id),
      kind,
      path,
      words: count,
      createdAt,
      found,
      dates: named,
      gathered: scores.get(Number(id)) ?? 0,
    };
  });
}

/** The same passages with all that is read of one that may be shown; one that is gone by then is left out. */
export async function readTexts(sql: Database, passages: readonly WordScored[]): Promise<ReadCandidate[]> {
  if (passages.length === 0) return [];
  const rows = await sql<PassageRow[]>`
    select ${passageColumns(sql)} from passages p where p.id = any(${passages.map(({ id }) => id)}::bigint[])`;
  const read = new Map(rows.map((row) => [Number(row.id), row]));
  return passages.flatMap((passage) => {
    const row = read.get(passage.id);
    return row === undefined ? [] : [toReadCandidate(row, passage)];
  });
}

/** Property by property: `Object.assign` takes many times as long, and every search does this for all that it reads. */
function toReadCandidate(row: PassageRow, passage: WordScored): ReadCandidate {
  return {
    id: passage.id,
    conversationId: row.conversation_id,
    sourceId: row.source_id,
    kind: passage.kind,
    sequence: row.sequence,
    toolName: row.tool_name,
    path: passage.path,
    offset: row.character_offset,
    text: row.text,
    vector: row.vector,
    words: passage.words,
    createdAt: passage.createdAt,
    gathered: passage.gathered,
    found: passage.found,
    dates: passage.dates,
    wordScore: passage.wordScore,
    matched: passage.matched,
  };
}

export interface PassageRow extends PassageHeadRow {
  readonly id: string;
  readonly text: string;
  readonly vector: string;
}

export function passageColumns(sql: Queries): Fragment {
  return sql`p.id, p.text, p.terms::text as vector, ${headColumns(sql)}`;
}

export function toCandidate(row: PassageRow): Candidate {
  return { ...headOf(row), text: row.text, vector: row.vector, gathered: 0 };
}
