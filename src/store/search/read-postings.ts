import type { Queries } from '../database.ts';
import type { ReadPostings } from './gather.ts';
import type { SearchedScope } from './scope.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/**
 * Postings that one search reads: what bounds its time, whatever the size of the conversation. Three bytes each.
 * Rare words come first; what is left over are words that so many passages have that they choose none.
 */
const MOST_POSTINGS = 14_000;

/** The terms of a query by index that choose its passages, those that few have first. */
export function choosingTerms(terms: readonly WeightedTerm[], most = MOST_POSTINGS): number[] {
  const order = [...terms.keys()].toSorted((one, other) => {
    const [a, b] = [terms[one], terms[other]];
    return Number(a?.isStopWord) - Number(b?.isStopWord) || (a?.passages ?? 0) - (b?.passages ?? 0) || one - other;
  });
  const chosen: number[] = [];
  let left = most;
  for (const index of order) {
    const passages = terms[index]?.passages ?? 0;
    // Always something: of a word that is everywhere the newest blocks are read.
    if (passages > left && chosen.length > 0) continue;
    chosen.push(index);
    left -= passages;
  }
  return chosen;
}

interface PostingsRow {
  readonly term: string;
  readonly block: number;
  /** Base64: two thirds of what Postgres writes for bytes, and read many times as fast. */
  readonly postings: string;
}

/** Postings of the terms with these indexes, within the bound. */
export async function readPostings(
  sql: Queries,
  scope: SearchedScope,
  terms: readonly WeightedTerm[],
  chosen: readonly number[],
): Promise<ReadPostings[]> {
  const indexes = new Map<string, number[]>();
  for (const index of chosen) {
    for (const term of terms[index]?.terms ?? []) indexes.set(term, [...(indexes.get(term) ?? []), index]);
  }
  const blocks = newestBlocks(scope, Math.max(...chosen.map((index) => terms[index]?.passages ?? 0)));
  const [first = 0, last = 0] = [blocks[0], blocks.at(-1)];
  // Blocks that lie close together are read in one go, with those between them that are not asked for.
  const isDense = scope.conversationId === null || last - first < 2 * blocks.length;
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

/** All blocks, or the newest when one word alone is in too many passages. */
function newestBlocks({ blocks, passages }: SearchedScope, ofTerm: number): readonly number[] {
  if (ofTerm <= MOST_POSTINGS) return blocks;
  const perBlock = Math.max(1, (passages / blocks.length) * (ofTerm / Math.max(1, passages)));
  return blocks.slice(-Math.max(1, Math.floor(MOST_POSTINGS / perBlock)));
}
