import type { EntryOutline, NoteSlot } from '../context/entry.ts';
import { MEASUREMENT_NAMES } from '../context/measurements.ts';
import type { Measurements } from '../context/measurements.ts';
import { entriesInScope } from './branch-path.ts';
import type { ViewScope } from './branch-path.ts';
import type { Queries } from './database.ts';
import { outlineColumns, toOutline } from './entry-rows.ts';
import type { OutlineColumns } from './entry-rows.ts';

/** Entries of a full block; the function `pack_outlines` of the schema counts with the same number. */
const BLOCK_ENTRIES = 256;
/** Below this rows are read as they are: one query less. */
const WORTH_UNPACKING = 4 * BLOCK_ENTRIES;

/** Outlines of the branch that a view needs, oldest first: full blocks at once, the rest row by row. */
export async function readOutlines(sql: Queries, scope: ViewScope): Promise<EntryOutline[]> {
  const { point, fromSequence } = scope;
  const { conversationId, headSequence } = point;
  const firstBlock = Math.floor((fromSequence - 1) / BLOCK_ENTRIES);
  const endBlock = Math.floor(headSequence / BLOCK_ENTRIES);
  if (headSequence - fromSequence < WORTH_UNPACKING) return readRows(sql, scope);
  const [blocks, path, rest] = await Promise.all([
    sql<{ outline: string }[]>`
      select outline from packed_outlines
      where conversation_id = ${conversationId} and block >= ${firstBlock} and block < ${endBlock} order by block`,
    sql<BranchPart[]>`
      select ancestor, through_sequence as through from branches
      where conversation_id = ${conversationId} and branch = ${point.branch}`,
    readRows(sql, { ...scope, fromSequence: endBlock * BLOCK_ENTRIES + 1 }),
  ]);
  // Never so, as the schema packs them; a plan without some of its entries would drop them.
  if (blocks.length !== endBlock - firstBlock) return readRows(sql, scope);
  const through = new Map(path.map((part) => [part.ancestor, part.through]));
  const entries: EntryOutline[] = rest.filter((entry) => entry.sequence < fromSequence);
  const readBlock = blockReader();
  for (const [position, { outline }] of blocks.entries()) {
    const before = (firstBlock + position) * BLOCK_ENTRIES;
    const block = readBlock(outline);
    for (let index = Math.max(0, fromSequence - before - 1); index < BLOCK_ENTRIES; index += 1) {
      const sequence = before + index + 1;
      const reached = through.get(block.columns.branch[index] ?? 0);
      if (reached !== undefined && sequence <= reached) entries.push(entryAt(block, index, sequence));
    }
  }
  for (const entry of rest) if (entry.sequence > endBlock * BLOCK_ENTRIES) entries.push(entry);
  return entries;
}

interface BranchPart {
  readonly ancestor: number;
  readonly through: number;
}

async function readRows(sql: Queries, scope: ViewScope): Promise<EntryOutline[]> {
  const rows = await sql<OutlineColumns[]>`${entriesInScope(sql, scope, outlineColumns(sql), sql``)}`;
  return rows.map(toOutline);
}

const ID_CHARACTERS = 36;

/** The numeric lines of a block, in the order of `pack_outlines`; the others are ids, kinds, turns, tools and slots. */
const COLUMNS = [
  'turn',
  'tool',
  'slot',
  'branch',
  'callNumber',
  'callIndex',
  'toolCallCount',
  'isError',
  ...MEASUREMENT_NAMES,
] as const;

/** One number for each entry of a block, in arrays that are used again for the next one. */
type Columns = Readonly<Record<(typeof COLUMNS)[number], Float64Array>>;

interface Block {
  readonly ids: string;
  /** First letters of the kinds. */
  readonly kinds: string;
  readonly turns: readonly string[];
  readonly tools: readonly string[];
  readonly slots: readonly NoteSlot[];
  readonly columns: Columns;
}

const SLOTS: Readonly<Record<string, NoteSlot>> = {
  rules: 'rules',
  memories: 'memories',
  continuation: 'continuation',
  plan: 'plan',
};

/** Reads blocks one after another; what one gave must be used before the next is read. */
function blockReader(): (outline: string) => Block {
  const columns = emptyColumns();
  const known = new Map<string, string>();
  // One string for a name in all blocks: comparing equal strings that are two takes longer.
  const names = (json: string): string[] => {
    const parsed: unknown = JSON.parse(json);
    if (!Array.isArray(parsed)) return [];
    return parsed.map((value: unknown) => {
      const name = String(value);
      const same = known.get(name) ?? name;
      known.set(name, same);
      return same;
    });
  };
  return (outline) => {
    const [ids = '', kinds = '', turns = '[]', tools = '[]', slots = '[]', ...lines] = outline.split('\n');
    for (const [index, name] of COLUMNS.entries()) readNumbers(lines[index] ?? '0', columns[name]);
    const slotNames = names(slots).map((name) => SLOTS[name] ?? 'continuation');
    return { ids, kinds, turns: names(turns), tools: names(tools), slots: slotNames, columns };
  };
}

function emptyColumns(): Columns {
  const column = (): Float64Array => new Float64Array(BLOCK_ENTRIES);
  return {
    turn: column(),
    tool: column(),
    slot: column(),
    branch: column(),
    callNumber: column(),
    callIndex: column(),
    toolCallCount: column(),
    isError: column(),
    letters: column(),
    symbols: column(),
    spaces: column(),
    whitespaceRuns: column(),
    ideographs: column(),
    dense: column(),
    bytes: column(),
    images: column(),
    imagePatches: column(),
    documentPages: column(),
    frames: column(),
  };
}

/** "1,2,3", or one number for all of them. None is negative. */
function readNumbers(line: string, column: Float64Array): void {
  let number = 0;
  let index = 0;
  for (let place = 0; place < line.length; place += 1) {
    const code = line.charCodeAt(place);
    if (code === COMMA) {
      column[index] = number;
      index += 1;
      number = 0;
    } else number = number * 10 + (code - ZERO);
  }
  if (index === 0) column.fill(number);
  else column[index] = number;
}

const COMMA = 44;
const ZERO = 48;

function entryAt({ ids, kinds, turns, tools, slots, columns }: Block, index: number, sequence: number): EntryOutline {
  const id = ids.slice(index * ID_CHARACTERS, (index + 1) * ID_CHARACTERS);
  const turnId = turns[(columns.turn[index] ?? 0) - 1] ?? '';
  const measurements = measurementsAt(columns, index);
  // One literal per kind, as in `toOutline`, so that all outlines of a kind have one shape.
  switch (kinds[index]) {
    case 'u':
      return { id, sequence, kind: 'user', turnId, measurements };
    case 'a': {
      const callNumber = columns.callNumber[index] ?? 0;
      const toolCallCount = columns.toolCallCount[index] ?? 0;
      return { id, sequence, kind: 'assistant', turnId, measurements, callNumber, toolCallCount };
    }
    case 't': {
      const callNumber = columns.callNumber[index] ?? 0;
      const callIndex = columns.callIndex[index] ?? 0;
      const toolName = tools[(columns.tool[index] ?? 0) - 1] ?? '';
      const isError = columns.isError[index] === 1;
      return { id, sequence, kind: 'tool_result', turnId, measurements, callNumber, callIndex, toolName, isError };
    }
    case 'n': {
      const slot = slots[(columns.slot[index] ?? 0) - 1];
      return { id, sequence, kind: 'note', turnId, measurements, ...(slot !== undefined && { slot }) };
    }
    case 'b':
      return { id, sequence, kind: 'branch_summary', turnId, measurements };
    default:
      return { id, sequence, kind: 'compaction', turnId, measurements };
  }
}

function measurementsAt(columns: Columns, index: number): Measurements {
  return {
    letters: columns.letters[index] ?? 0,
    symbols: columns.symbols[index] ?? 0,
    spaces: columns.spaces[index] ?? 0,
    whitespaceRuns: columns.whitespaceRuns[index] ?? 0,
    ideographs: columns.ideographs[index] ?? 0,
    dense: columns.dense[index] ?? 0,
    bytes: columns.bytes[index] ?? 0,
    images: columns.images[index] ?? 0,
    imagePatches: columns.imagePatches[index] ?? 0,
    documentPages: columns.documentPages[index] ?? 0,
    frames: columns.frames[index] ?? 0,
  };
}
