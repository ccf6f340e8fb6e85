import type { Database, Fragment, Queries } from '../database.ts';
import type { PassageKind } from './found-passage.ts';
import type { IdSet } from './gather.ts';
import { BLOCK_PASSAGES, isSpoken } from './postings.ts';
import type { SearchedScope } from './scope.ts';

export interface SearchFilter {
  readonly kinds?: readonly PassageKind[];
  /** ISO time: only what was said at or after: on the day that the heading of its entry names, else when it was written. */
  readonly after?: string;
  /** ISO time: only what was said before. */
  readonly before?: string;
}

/** Where the passages lie that a filter lets through. */
export interface FilteredPassages {
  /** Blocks that may have some, ascending. */
  readonly blocks: readonly number[];
  /** `null` when the time does not limit. */
  readonly ids: IdSet | null;
}

/** Up to so many passages of a time range are looked up one by one; of more, the first and the last of each block. */
const MOST_IN_RANGE = 20_000;

/**
 * Looked up before any posting is read: of a word that is everywhere the newest blocks are read, which may have nothing that
 * the filter lets through. Without a filter nothing is asked.
 */
export async function filteredPassages(
  sql: Database,
  scope: SearchedScope,
  filter: SearchFilter,
): Promise<FilteredPassages> {
  const [ofKinds, ids] = await Promise.all([blocksOfKinds(sql, scope, filter), idsInRange(sql, scope, filter)]);
  if (ids === null) return { blocks: ofKinds, ids };
  const inRange = new Set(ids instanceof IdRanges ? ids.blocks() : [...ids].map(blockOf));
  return { blocks: ofKinds.filter((block) => inRange.has(block)), ids };
}

/** What was spoken lies in blocks of its own. */
async function blocksOfKinds(
  sql: Queries,
  { blocks }: SearchedScope,
  { kinds }: SearchFilter,
): Promise<readonly number[]> {
  // An answer that is nothing but tool calls counts as one of the assistant, and lies apart from what was spoken.
  const areSpoken = kinds?.map((kind) => (kind === 'assistant' ? null : isSpoken(kind)));
  const [isSpokenKind = null] = areSpoken ?? [];
  if (isSpokenKind === null || areSpoken?.some((each) => each !== isSpokenKind) === true) return blocks;
  const rows = await sql<{ number: number }[]>`
    select number from search_blocks where number = any(${[...blocks]}::int[]) and is_spoken = ${isSpokenKind} order by number`;
  return rows.map(({ number }) => number);
}

async function idsInRange(
  sql: Database,
  scope: SearchedScope,
  filter: SearchFilter,
): Promise<ReadonlySet<number> | IdRanges | null> {
  if (filter.after === undefined && filter.before === undefined) return null;
  const rows = await sql<{ id: string }[]>`
    select p.id ${passagesInRange(sql, scope, filter)} limit ${MOST_IN_RANGE + 1}`;
  if (rows.length <= MOST_IN_RANGE) return new Set(rows.map(({ id }) => Number(id)));
  const ranges = await sql<{ block: number; first: string; last: string }[]>`
    select (p.id / ${BLOCK_PASSAGES})::int as block, min(p.id) as first, max(p.id) as last
    ${passagesInRange(sql, scope, filter)} group by 1`;
  return new IdRanges(
    ranges.map(({ block, first, last }) => [block, { first: Number(first), last: Number(last) }] as const),
  );
}

function passagesInRange(sql: Database, { conversationId, agent }: SearchedScope, filter: SearchFilter): Fragment {
  return conversationId === null
    ? sql`from passages p join conversations c on c.id = p.conversation_id where c.agent = ${agent} ${inTime(sql, filter)}`
    : sql`from passages p where p.conversation_id = ${conversationId} ${inTime(sql, filter)}`;
}

/** As the index `passages_by_time` has it. */
export function inTime(sql: Queries, { after, before }: SearchFilter): Fragment {
  return sql`
    ${after === undefined ? sql`` : sql`and coalesce(p.said_at, p.created_at) >= ${after}`}
    ${before === undefined ? sql`` : sql`and coalesce(p.said_at, p.created_at) < ${before}`}`;
}

/**
 * Ids from the first to the last in range of each block: a block is in the order of its log, so hardly another lies between,
 * unless headings name other times; whoever reads the passages filters again.
 */
class IdRanges implements IdSet {
  readonly #byBlock: ReadonlyMap<number, { readonly first: number; readonly last: number }>;

  constructor(ranges: Iterable<readonly [block: number, range: { readonly first: number; readonly last: number }]>) {
    this.#byBlock = new Map(ranges);
  }

  has(id: number): boolean {
    const range = this.#byBlock.get(blockOf(id));
    return range !== undefined && id >= range.first && id <= range.last;
  }

  blocks(): Iterable<number> {
    return this.#byBlock.keys();
  }
}

function blockOf(id: number): number {
  return Math.floor(id / BLOCK_PASSAGES);
}
