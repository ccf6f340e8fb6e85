import type { Database, Fragment, Queries } from '../database.ts';
import type { PassageKind } from './found-passage.ts';
import type { IdSet } from './gather.ts';
import { MOST_OLDER_BLOCKS } from './older-blocks.ts';
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

/**
 * Where blocks at the edges of a time have more passages than this, as they do when times lie in any order, those of the time are looked
 * up one by one, up to as many.
 */
const MOST_LISTED = 20_000;

/**
 * Looked up before any posting is read: of a word that is everywhere the newest blocks are read, which may have nothing that
 * the filter lets through. Without a filter nothing is asked.
 */
export async function filteredPassages(
  sql: Database,
  scope: SearchedScope,
  filter: SearchFilter,
  mostListed = MOST_LISTED,
): Promise<FilteredPassages> {
  const [ofKinds, ids] = await Promise.all([
    blocksOfKinds(sql, scope, filter),
    idsInRange(sql, scope, filter, mostListed),
  ]);
  if (ids === null) return { blocks: ofKinds, ids };
  const inRange = new Set(ids instanceof IdsOfBlocks ? ids.blocks() : [...ids].map(blockOf));
  const blocks = ofKinds.filter((block) => inRange.has(block));
  return { blocks: scope.newestFrom === null ? blocks : withOlder(blocks, inRange, scope.newestFrom), ids };
}

/** Who asks for a time long ago asks for its blocks, also for words that are in too many passages to choose any. */
function withOlder(blocks: readonly number[], inRange: ReadonlySet<number>, newestFrom: number): readonly number[] {
  const ascending = (one: number, other: number): number => one - other;
  const older = [...inRange].filter((block) => block < newestFrom).toSorted(ascending);
  return [...new Set([...blocks, ...older.slice(-MOST_OLDER_BLOCKS)])].toSorted(ascending);
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
  mostListed: number,
): Promise<ReadonlySet<number> | IdsOfBlocks | null> {
  if (filter.after === undefined && filter.before === undefined) return null;
  const blocks = await blocksInTime(sql, scope, filter);
  const edges = blocks.filter(({ isWhole }) => !isWhole);
  if (edges.reduce((sum, { passages }) => sum + passages, 0) > mostListed) {
    const rows = await sql<{ id: string }[]>`
      select p.id ${passagesInRange(sql, scope, filter)} limit ${mostListed + 1}`;
    if (rows.length <= mostListed) return new Set(rows.map(({ id }) => Number(id)));
  }
  const whole = blocks.filter(({ isWhole }) => isWhole);
  return new IdsOfBlocks([
    ...whole.map(({ number }) => [number, { first: 0, last: BLOCK_PASSAGES - 1, places: null }] as const),
    ...(await placesInTime(sql, edges, filter)),
  ]);
}

interface BlockInTime {
  readonly number: number;
  readonly passages: number;
  /** All of its passages are in the time; of the others some may be. */
  readonly isWhole: boolean;
}

async function blocksInTime(
  sql: Database,
  { conversationId, numbers, agentNumber }: SearchedScope,
  filter: SearchFilter,
): Promise<readonly BlockInTime[]> {
  const after = filter.after === undefined ? sql`'-infinity'::timestamptz` : sql`${filter.after}::timestamptz`;
  const before = filter.before === undefined ? sql`'infinity'::timestamptz` : sql`${filter.before}::timestamptz`;
  return sql<BlockInTime[]>`
    select b.number, b.passages, b.earliest >= ${after} and b.latest < ${before} as "isWhole" from search_blocks b
    where ${conversationId === null ? sql`b.agent_number = ${agentNumber}` : sql`b.conversation_number = any(${[...numbers]}::int[])`}
      and b.latest >= ${after} and b.earliest < ${before}`;
}

/** A block is in the order of its log: hardly one has others between its first and its last, unless headings name other times. */
async function placesInTime(
  sql: Database,
  blocks: readonly BlockInTime[],
  filter: SearchFilter,
): Promise<(readonly [block: number, places: PlacesOfBlock])[]> {
  if (blocks.length === 0) return [];
  const rows = await sql<{ block: number; first: number; last: number; places: number[] | null }[]>`
    select b.number as block, f.first, f.last, f.places
    from unnest(${blocks.map(({ number }) => number)}::int[]) as b (number) cross join lateral (
      select min(e.place) as first, max(e.place) as last,
        case when count(*) <= max(e.place) - min(e.place) then array_agg(e.place) end as places
      from (
        select (p.id % ${BLOCK_PASSAGES})::int as place from passages p
        where p.id >= b.number * ${BLOCK_PASSAGES}::bigint and p.id < (b.number + 1) * ${BLOCK_PASSAGES}::bigint ${inTime(sql, filter)}) e
      having count(*) > 0) f`;
  return rows.map(({ block, places, ...range }) => [block, { ...range, places: places && new Set(places) }]);
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

/** Places of a block that are in range; `places`: where others lie between the first and the last. */
interface PlacesOfBlock {
  readonly first: number;
  readonly last: number;
  readonly places: ReadonlySet<number> | null;
}

class IdsOfBlocks implements IdSet {
  readonly #byBlock: ReadonlyMap<number, PlacesOfBlock>;

  constructor(blocks: Iterable<readonly [block: number, places: PlacesOfBlock]>) {
    this.#byBlock = new Map(blocks);
  }

  has(id: number): boolean {
    const found = this.#byBlock.get(blockOf(id));
    const place = id % BLOCK_PASSAGES;
    if (found === undefined) return false;
    return found.places === null ? place >= found.first && place <= found.last : found.places.has(place);
  }

  blocks(): Iterable<number> {
    return this.#byBlock.keys();
  }
}

function blockOf(id: number): number {
  return Math.floor(id / BLOCK_PASSAGES);
}
