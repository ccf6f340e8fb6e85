import type { Queries } from '../database.ts';
import { postingsFor } from './choosing-terms.ts';
import type { ReadPostings } from './gather.ts';
import type { SearchedScope } from './scope.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/** To look for a block of a term takes as long as to read so many of its rows one after the other. */
const ROWS_OF_A_LOOK = 3;

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
  const read = waysToRead(scope, reading).map((way) => readBlocks(sql, scope, { ...reading, ...way }));
  return (await Promise.all(read)).flat();
}

interface WayToRead {
  readonly chosen: readonly number[];
  readonly blocks: readonly number[];
  /** With the blocks between them, of which some may not be asked for. */
  readonly inOneGo: boolean;
}

/**
 * Blocks that lie close together are read in one go. Between the older ones of an agent lie many that are not asked for: a word that
 * few passages have is read with these, of all others each block is looked for.
 */
function waysToRead(scope: SearchedScope, { terms, chosen, blocks }: PostingsReading): WayToRead[] {
  const { newestFrom } = scope;
  if (newestFrom === null) return [{ chosen, blocks, inOneGo: areDense(blocks) || areAllBetween(scope, blocks) }];
  const older = blocks.filter((block) => block < newestFrom);
  const newest = blocks.slice(older.length);
  const isFew = (index: number): boolean => (terms[index]?.passages ?? 0) <= ROWS_OF_A_LOOK * older.length;
  const few = areDense(older) ? chosen : chosen.filter(isFew);
  const ways = [
    { chosen: few, blocks: older, inOneGo: true },
    { chosen: chosen.filter((index) => !few.includes(index)), blocks: older, inOneGo: false },
    { chosen, blocks: newest, inOneGo: areDense(newest) || areAllBetween(scope, newest) },
  ];
  return ways.filter((way) => way.chosen.length > 0 && way.blocks.length > 0);
}

function areDense(blocks: readonly number[]): boolean {
  return (blocks.at(-1) ?? 0) - (blocks[0] ?? 0) < 2 * blocks.length;
}

/** All blocks of the agent from the first to the last: none of another stands under its number. */
function areAllBetween(scope: SearchedScope, blocks: readonly number[]): boolean {
  return scope.conversationId === null && scope.blocks.at(-blocks.length) === blocks[0];
}

interface PostingsRow {
  readonly term: string;
  /** Base64: two thirds of what Postgres writes for bytes, and read many times as fast. */
  readonly read: string;
}

/** Before the postings of a block: its number, and how many bytes they are. */
const BLOCK_BYTES = 4;
const LENGTH_BYTES = 2;

/** One row a term, whose blocks follow each other in it: of many small blocks each row of its own would cost more than what stands in it. */
async function readBlocks(
  sql: Queries,
  scope: SearchedScope,
  { terms, chosen, blocks, inOneGo }: PostingsReading & WayToRead,
): Promise<ReadPostings[]> {
  const indexes = new Map<string, number[]>();
  for (const index of chosen) {
    for (const term of terms[index]?.terms ?? []) indexes.set(term, [...(indexes.get(term) ?? []), index]);
  }
  const ofTerm = sql`select p.block, p.postings from search_postings p where p.agent_number = ${scope.agentNumber} and p.term = t.term`;
  // Scattered blocks each by its key: of a word that Postgres takes for rare it would read all blocks, and leave out what is not asked for.
  const postings = inOneGo
    ? sql`(${ofTerm} and p.block between ${blocks[0] ?? 0} and ${blocks.at(-1) ?? 0}) p`
    : sql`unnest(${[...blocks]}::int[]) as b (block) cross join lateral (${ofTerm} and p.block = b.block limit 1) p`;
  const rows = await sql<PostingsRow[]>`
    select t.term, encode(p.read, 'base64') as read from unnest(${[...indexes.keys()]}::text[]) as t (term) cross join lateral (
      select string_agg(int4send(p.block) || int2send(octet_length(p.postings)::int2) || p.postings, '') as read
      from ${postings}) p
    where p.read is not null`;
  const asked = inOneGo && !areAllBetween(scope, blocks) ? new Set(blocks) : null;
  const found: ReadPostings[] = [];
  for (const { term, read } of rows) {
    for (const index of indexes.get(term) ?? []) addPostings(found, index, Buffer.from(read, 'base64'), asked);
  }
  return found;
}

function addPostings(found: ReadPostings[], term: number, read: Buffer, asked: ReadonlySet<number> | null): void {
  for (let at = 0; at < read.length;) {
    const block = read.readInt32BE(at);
    const start = at + BLOCK_BYTES + LENGTH_BYTES;
    const end = start + read.readInt16BE(at + BLOCK_BYTES);
    if (asked === null || asked.has(block)) found.push({ term, block, postings: read.subarray(start, end) });
    at = end;
  }
}

/** Blocks to read one after the other, the newest first: all at once unless one word alone is in too many passages. */
export function portionsOf(scope: SearchedScope, { terms, chosen, blocks }: PostingsReading): (readonly number[])[] {
  const ofTerm = Math.max(...chosen.map((index) => terms[index]?.passages ?? 0));
  const perBlock = ofTerm / scope.allBlocks;
  const most = postingsFor(scope);
  if (perBlock * blocks.length <= most) return [blocks];
  const size = Math.max(1, Math.floor(most / Math.max(1, perBlock)));
  const portions: (readonly number[])[] = [];
  for (let end = blocks.length; end > 0; end -= size) portions.push(blocks.slice(Math.max(0, end - size), end));
  return portions;
}
