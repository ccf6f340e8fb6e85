import type { Database, Fragment, Queries } from '../database.ts';
import type { PassageKind } from './found-passage.ts';
import type { IdSet } from './gather.ts';
import { numbersOf } from './numbers-in-a-row.ts';
import { MOST_OLDER_BLOCKS } from './older-blocks.ts';
import { BLOCK_PASSAGES, isSpoken } from './postings.ts';
import type { SearchedScope } from './scope.ts';
import type { SearchLimits } from './search-limits.ts';

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

interface FilterLimits extends Pick<SearchLimits, 'mostBlocks'> {
  readonly mostListed?: number;
}

/**
 * Looked up before any posting is read: of a word that is everywhere the newest blocks are read, which may have nothing that
 * the filter lets through. Without a filter nothing is asked.
 */
export async function filteredPassages(
  sql: Database,
  scope: SearchedScope,
  filter: SearchFilter,
  { mostListed = MOST_LISTED, mostBlocks = MOST_OLDER_BLOCKS }: FilterLimits = {},
): Promise<FilteredPassages> {
  const [ofKinds, ids] = await Promise.all([
    blocksOfKinds(sql, scope, filter),
    idsInRange(sql, scope, filter, { mostListed, mostBlocks }),
  ]);
  if (ids === null) return { blocks: ofKinds, ids };
  const inRange = new Set(ids.blocks());
  const blocks = ofKinds.filter((block) => inRange.has(block));
  return { blocks: scope.newestFrom === null ? blocks : withOlder(blocks, inRange, scope.newestFrom), ids };
}

/** Who asks for a time long ago asks for its blocks, also for words that are in too many passages to choose any. */
function withOlder(blocks: readonly number[], inRange: ReadonlySet<number>, newestFrom: number): readonly number[] {
  const older = [...inRange].filter((block) => block < newestFrom);
  return [...new Set([...blocks, ...older])].toSorted((one, other) => one - other);
}

/** What was spoken lies in blocks of its own. */
async function blocksOfKinds(sql: Queries, scope: SearchedScope, { kinds }: SearchFilter): Promise<readonly number[]> {
  const { blocks } = scope;
  // An answer that is nothing but tool calls counts as one of the assistant, and lies apart from what was spoken.
  const areSpoken = kinds?.map((kind) => (kind === 'assistant' ? null : isSpoken(kind)));
  const [isSpokenKind = null] = areSpoken ?? [];
  if (isSpokenKind === null || areSpoken?.some((each) => each !== isSpokenKind) === true) return blocks;
  const older = olderOf(scope);
  const [first = 0, last = 0] = [blocks[older.length], blocks.at(-1)];
  // Those of one conversation are few; to look for each of ten thousand of an agent takes longer than to go through them.
  const [found] = await sql<{ numbers: string | null }[]>`
    select string_agg(number::text, ',' order by number) as numbers from (${
      scope.conversationId === null
        ? sql`
          select number, is_spoken from search_blocks where agent_number = ${scope.agentNumber} and number between ${first} and ${last}
          union all select number, is_spoken from search_blocks where number = any(${[...older]}::int[])`
        : sql`select number, is_spoken from search_blocks where number = any(${[...blocks]}::int[])`
    }) as b where is_spoken = ${isSpokenKind}`;
  return numbersOf(found?.numbers ?? null);
}

function olderOf({ blocks, newestFrom }: SearchedScope): readonly number[] {
  return newestFrom === null ? [] : blocks.filter((block) => block < newestFrom);
}

async function idsInRange(
  sql: Database,
  scope: SearchedScope,
  filter: SearchFilter,
  { mostListed, mostBlocks }: Required<FilterLimits>,
): Promise<IdsOfBlocks | null> {
  if (filter.after === undefined && filter.before === undefined) return null;
  const { whole, edges, passagesOfEdges } = await blocksInTime(sql, scope, filter, mostBlocks);
  const listed =
    passagesOfEdges > mostListed ? await listedInTime(sql, scope, edges, { ...filter, most: mostListed }) : null;
  return new IdsOfBlocks([
    ...whole.map((number) => [number, { first: 0, last: BLOCK_PASSAGES - 1, places: null }] as const),
    ...(listed ?? (await placesInTime(sql, edges, filter))),
  ]);
}

interface BlocksInTime {
  /** Blocks whose passages are all in the time … */
  readonly whole: readonly number[];
  /** … and those of whose some may be. */
  readonly edges: readonly number[];
  readonly passagesOfEdges: number;
}

/** Of an agent the newest, and those that words of the query were found in. */
async function blocksInTime(
  sql: Database,
  scope: SearchedScope,
  filter: SearchFilter,
  mostBlocks: number,
): Promise<BlocksInTime> {
  const after = filter.after === undefined ? sql`'-infinity'::timestamptz` : sql`${filter.after}::timestamptz`;
  const before = filter.before === undefined ? sql`'infinity'::timestamptz` : sql`${filter.before}::timestamptz`;
  const inTheTime = sql`latest >= ${after} and earliest < ${before}`;
  const blocks =
    scope.conversationId === null
      ? sql`
        (select number, passages, earliest, latest from search_blocks
          where agent_number = ${scope.agentNumber} and ${inTheTime} order by number desc limit ${mostBlocks})
        union
        select number, passages, earliest, latest from search_blocks where number = any(${[...olderOf(scope)]}::int[]) and ${inTheTime}`
      : sql`
        select number, passages, earliest, latest from search_blocks
        where conversation_number = any(${[...scope.numbers]}::int[]) and ${inTheTime}`;
  const rows = await sql<{ is_whole: boolean; numbers: string; passages: number }[]>`
    select earliest >= ${after} and latest < ${before} as is_whole, string_agg(number::text, ',') as numbers, sum(passages)::int as passages
    from (${blocks}) as b group by 1`;
  const numbers = (isWhole: boolean): readonly number[] =>
    numbersOf(rows.find(({ is_whole }) => is_whole === isWhole)?.numbers ?? null);
  const passagesOfEdges = rows.find(({ is_whole }) => !is_whole)?.passages ?? 0;
  return { whole: numbers(true), edges: numbers(false), passagesOfEdges };
}

/** A block is in the order of its log: hardly one has others between its first and its last, unless headings name other times. */
async function placesInTime(
  sql: Database,
  blocks: readonly number[],
  filter: SearchFilter,
): Promise<(readonly [block: number, places: PlacesOfBlock])[]> {
  if (blocks.length === 0) return [];
  const rows = await sql<{ block: number; first: number; last: number; places: number[] | null }[]>`
    select b.number as block, f.first, f.last, f.places
    from unnest(${[...blocks]}::int[]) as b (number) cross join lateral (
      select min(e.place) as first, max(e.place) as last,
        case when count(*) <= max(e.place) - min(e.place) then array_agg(e.place) end as places
      from (
        select (p.id % ${BLOCK_PASSAGES})::int as place from passages p
        where p.id >= b.number * ${BLOCK_PASSAGES}::bigint and p.id < (b.number + 1) * ${BLOCK_PASSAGES}::bigint ${inTime(sql, filter)}) e
      having count(*) > 0) f`;
  return rows.map(({ block, places, ...range }) => [block, { ...range, places: places && new Set(places) }]);
}

/** One by one by their time, of the conversations that these blocks are of; `null`: they have more. */
async function listedInTime(
  sql: Database,
  { conversationId }: SearchedScope,
  blocks: readonly number[],
  { most, ...filter }: SearchFilter & { readonly most: number },
): Promise<(readonly [block: number, places: PlacesOfBlock])[] | null> {
  const conversations =
    conversationId === null
      ? sql`
        select distinct (select s.conversation_id from search_progress s where s.number = b.conversation_number) as id
        from search_blocks b where b.number = any(${[...blocks]}::int[])`
      : sql`select ${conversationId}::uuid as id`;
  const rows = await sql<{ id: string }[]>`
    select p.id from (${conversations}) as c cross join lateral (
      select p.id from passages p where p.conversation_id = c.id ${inTime(sql, filter)} limit ${most + 1}) as p
    limit ${most + 1}`;
  if (rows.length > most) return null;
  const byBlock = new Map(blocks.map((block) => [block, new Set<number>()]));
  for (const row of rows) byBlock.get(blockOf(Number(row.id)))?.add(Number(row.id) % BLOCK_PASSAGES);
  return [...byBlock]
    .filter(([, places]) => places.size > 0)
    .map(([block, places]) => [block, { first: 0, last: BLOCK_PASSAGES - 1, places }]);
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
