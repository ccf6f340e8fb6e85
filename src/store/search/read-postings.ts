import type { Queries } from '../database.ts';
import type { ReadPostings } from './gather.ts';
import type { SearchedScope } from './scope.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/**
 * Postings that one search reads: what bounds its time, whatever the size of the conversation. Three bytes each.
 * Rare words come first; what is left over are words that so many passages have that they choose none.
 */
export const MOST_POSTINGS = 14_000;

/** Passages of a scope up to which that many are enough: of more, words that are telling among them are in more than are read. */
const PASSAGES_OF_MOST_POSTINGS = 120_000;
/** Longest reading, for a million passages and more: 270 KB. */
const LARGEST_READING = 90_000;

/** Postings that a search of so many passages reads. Whatever the size, it is bounded. */
export function postingsFor({ passages }: Pick<SearchedScope, 'passages'>): number {
  const inProportion = Math.round((MOST_POSTINGS * passages) / PASSAGES_OF_MOST_POSTINGS);
  return Math.min(LARGEST_READING, Math.max(MOST_POSTINGS, inProportion));
}

/** The terms of a query by index that choose its passages, those that few have first. */
export function choosingTerms(terms: readonly WeightedTerm[], most = MOST_POSTINGS): number[] {
  const chosen: number[] = [];
  let left = most;
  for (const index of tellingFirst(terms)) {
    const passages = terms[index]?.passages ?? 0;
    // Always something: of a word that is everywhere the newest blocks are read.
    if (passages > left && chosen.length > 0) continue;
    chosen.push(index);
    left -= passages;
  }
  return chosen;
}

/** With one more that was left out, where what the chosen ones find is not let through by a filter. */
export function withNextTerm(terms: readonly WeightedTerm[], chosen: readonly number[]): readonly number[] {
  const next = tellingFirst(terms).find((index) => !chosen.includes(index));
  return next === undefined ? chosen : [...chosen, next];
}

function tellingFirst(terms: readonly WeightedTerm[]): number[] {
  return [...terms.keys()].toSorted((one, other) => {
    const [a, b] = [terms[one], terms[other]];
    return Number(a?.isStopWord) - Number(b?.isStopWord) || (a?.passages ?? 0) - (b?.passages ?? 0) || one - other;
  });
}

interface PostingsRow {
  readonly term: string;
  readonly block: number;
  /** Base64: two thirds of what Postgres writes for bytes, and read many times as fast. */
  readonly postings: string;
}

/** What one search reads of the postings in its scope. */
export interface PostingsReading {
  readonly terms: readonly WeightedTerm[];
  /** Indexes of the terms whose postings are read. */
  readonly chosen: readonly number[];
  /** Ascending. */
  readonly blocks: readonly number[];
}

/** Postings of the chosen terms in these blocks. */
export async function readPostings(
  sql: Queries,
  scope: SearchedScope,
  reading: PostingsReading,
): Promise<ReadPostings[]> {
  const { newestFrom } = scope;
  if (newestFrom === null) return readBlocks(sql, scope, reading);
  // Between the older ones lie many that are not asked for; the newest are read in one go.
  const older = reading.blocks.filter((block) => block < newestFrom);
  const newest = reading.blocks.slice(older.length);
  const read = [older, newest].filter(({ length }) => length > 0);
  return (await Promise.all(read.map((blocks) => readBlocks(sql, scope, { ...reading, blocks })))).flat();
}

async function readBlocks(
  sql: Queries,
  scope: SearchedScope,
  { terms, chosen, blocks }: PostingsReading,
): Promise<ReadPostings[]> {
  const indexes = new Map<string, number[]>();
  for (const index of chosen) {
    for (const term of terms[index]?.terms ?? []) indexes.set(term, [...(indexes.get(term) ?? []), index]);
  }
  const [first = 0, last = 0] = [blocks[0], blocks.at(-1)];
  // Blocks that lie close together are read in one go, with those between them that are not asked for.
  const isDense =
    hasAllBetween(scope, blocks) || last - first < 2 * blocks.length || areFew(scope, { terms, chosen, blocks });
  const rows = await sql<PostingsRow[]>`
    select term, block, encode(postings, 'base64') as postings from search_postings
    where agent_number = ${scope.agentNumber} and term = any(${[...indexes.keys()]}::text[])
      and ${isDense ? sql`block between ${first} and ${last}` : sql`block = any(${[...blocks]}::int[])`}`;
  const asked = new Set(blocks);
  return rows
    .filter(({ block }) => asked.has(block))
    .flatMap(({ term, block, postings }) => {
      const bytes = Buffer.from(postings, 'base64');
      return (indexes.get(term) ?? []).map((index) => ({ term: index, block, postings: bytes }));
    });
}

/** Scattered older blocks of rare words: to read all that the agent has of these takes less time than to look for each block. */
function areFew(scope: SearchedScope, { terms, chosen }: PostingsReading): boolean {
  const all = chosen.reduce((sum, index) => sum + (terms[index]?.passages ?? 0), 0);
  return scope.newestFrom !== null && all <= postingsFor(scope);
}

/** All blocks of the agent from the first to the last: none of another stands under its number. */
function hasAllBetween(scope: SearchedScope, blocks: readonly number[]): boolean {
  return scope.conversationId === null && scope.blocks.at(-blocks.length) === blocks[0];
}

/** Blocks to read one after the other, the newest first: all at once unless one word alone is in too many passages. */
export function portionsOf(scope: SearchedScope, { terms, chosen, blocks }: PostingsReading): (readonly number[])[] {
  const ofTerm = Math.max(...chosen.map((index) => terms[index]?.passages ?? 0));
  const perBlock = ofTerm / scope.blocks.length;
  const most = postingsFor(scope);
  if (perBlock * blocks.length <= most) return [blocks];
  const size = Math.max(1, Math.floor(most / Math.max(1, perBlock)));
  const portions: (readonly number[])[] = [];
  for (let end = blocks.length; end > 0; end -= size) portions.push(blocks.slice(Math.max(0, end - size), end));
  return portions;
}

/** Of the postings in scope so many are in these blocks that terms may have so many in all to be chosen. */
export function mostPostings(scope: SearchedScope, blocks: readonly number[]): number {
  const most = postingsFor(scope);
  return blocks.length === 0 ? most : (most * scope.blocks.length) / blocks.length;
}
