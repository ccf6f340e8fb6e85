import { outlineTable, emptyOutlineColumns, OutlineTable, writeOutline } from '../../context/log/outline-table.ts';
import type { OutlineColumns as Columns } from '../../context/log/outline-table.ts';
import { entriesInScope } from '../conversations/branch-path.ts';
import type { ViewScope } from '../conversations/branch-path.ts';
import type { Queries } from '../database/database.ts';
import { outlineColumns, toOutline } from './entry-rows.ts';
import type { OutlineColumns } from './entry-rows.ts';
import { NOTE_SLOTS } from '../../context/log/entry.ts';
import type { EntryKind, EntryOutline } from '../../context/log/entry.ts';
import { MEASUREMENT_NAMES } from '../../context/log/measurements.ts';

/** Entries of a full block; the function `pack_outlines` of the schema counts with the same number. */
export const BLOCK_ENTRIES = 256;
/** Below this rows are read as they are: one query less. */
const WORTH_UNPACKING = 4 * BLOCK_ENTRIES;

/** Outlines of the branch that a view needs, oldest first: full blocks at once, the rest row by row. */
export async function readOutlines(sql: Queries, scope: ViewScope): Promise<OutlineTable> {
  const { point, fromSequence } = scope;
  const { conversationId, headSequence } = point;
  const firstBlock = Math.floor((fromSequence - 1) / BLOCK_ENTRIES);
  const endBlock = Math.floor(headSequence / BLOCK_ENTRIES);
  if (headSequence - fromSequence < WORTH_UNPACKING) return readRows(sql, scope);
  const [blocks, path, rest] = await Promise.all([
    sql<PackedBlock[]>`
      select ids, outline from packed_outlines
      where conversation_id = ${conversationId} and block >= ${firstBlock} and block < ${endBlock} order by block`,
    sql<BranchPart[]>`
      select ancestor, through_sequence as through from branches
      where conversation_id = ${conversationId} and branch = ${point.branch}`,
    readRows(sql, { ...scope, fromSequence: endBlock * BLOCK_ENTRIES + 1 }),
  ]);
  // Never so, as the schema packs them; a plan without some of its entries would drop them.
  if (blocks.length !== endBlock - firstBlock) return readRows(sql, scope);
  const through = new Map(path.map((part) => [part.ancestor, part.through]));
  const unpacked = new UnpackedOutlines(rest.length + blocks.length * BLOCK_ENTRIES);
  for (const outline of rest) if (outline.sequence < fromSequence) unpacked.addRow(outline);
  for (const [index, block] of blocks.entries()) {
    unpacked.addBlock(block, { before: (firstBlock + index) * BLOCK_ENTRIES, path: { fromSequence, through } });
  }
  for (const outline of rest) if (outline.sequence >= fromSequence) unpacked.addRow(outline);
  return unpacked.table();
}

interface BranchPart {
  readonly ancestor: number;
  readonly through: number;
}

async function readRows(sql: Queries, scope: ViewScope): Promise<OutlineTable> {
  const rows = await sql<OutlineColumns[]>`${entriesInScope(sql, scope, outlineColumns(sql), sql``)}`;
  return outlineTable(rows.map(toOutline));
}

const ID_CHARACTERS = 36;

/** The numeric lines of a block, in the order of `pack_outlines`; before them stand kinds, turns, tools and slots. */
const LINES = ['turn', 'tool', 'slot', 'branch', 'callNumber', 'callIndex', 'isError', ...MEASUREMENT_NAMES] as const;

type Line = (typeof LINES)[number];

/** Kinds by the letters that a block has for them, as character codes. */
const KINDS: EntryKind[] = [];
const LETTERS: readonly (readonly [string, EntryKind])[] = [
  ['u', 'user'],
  ['a', 'assistant'],
  ['t', 'tool_result'],
  ['n', 'note'],
  ['b', 'branch_summary'],
  ['c', 'compaction'],
];
for (const [letter, kind] of LETTERS) KINDS[letter.charCodeAt(0)] = kind;

/** A row of `packed_outlines`. */
export interface PackedBlock {
  readonly ids: string;
  readonly outline: string;
}

/** Which entries of a block lie on a branch. */
export interface WantedPath {
  readonly fromSequence: number;
  /** By branch, the last sequence of it that lies on the path. */
  readonly through: ReadonlyMap<number, number>;
}

/** Collects outlines, oldest first, from single rows and from blocks, column by column. */
export class UnpackedOutlines {
  private length = 0;
  private readonly columns: Columns;
  /** 36 characters each. */
  private readonly ids: string[] = [];
  /** The numbers of one line, used again for the next. */
  private readonly numbers = new Float64Array(BLOCK_ENTRIES);

  /** @param capacity most entries that will come */
  constructor(capacity: number) {
    this.columns = emptyOutlineColumns(capacity);
  }

  addRow(outline: EntryOutline): void {
    writeOutline(this.columns, this.length, outline);
    this.ids.push(outline.id);
    this.length += 1;
  }

  addBlock(
    { ids, outline }: PackedBlock,
    { before, path }: { readonly before: number; readonly path: WantedPath },
  ): void {
    const [kinds = '', turns = '[]', tools = '[]', slots = '[]', ...lines] = outline.split('\n');
    const { columns, numbers, length } = this;
    const read = (name: Line): void => readNumbers(lines[LINES.indexOf(name)] ?? '0', numbers);
    read('branch');
    const wanted = wantedPlaces(numbers, before, path);
    const take = (column: Column, name: Line, places?: readonly number[]): void => {
      read(name);
      if (places !== undefined) translate(numbers, places);
      copyPlaces(numbers, wanted, column, length);
    };
    take(columns.turns, 'turn', [0, ...namesOf(turns).map((name) => columns.turnNames.placeOf(name))]);
    take(columns.tools, 'tool', [0, ...namesOf(tools).map((name) => columns.toolNames.placeOf(name))]);
    take(columns.slots, 'slot', [0, ...namesOf(slots).map((name) => SLOT_NAMES.indexOf(name) + 1)]);
    take(columns.callNumbers, 'callNumber');
    take(columns.callIndexes, 'callIndex');
    take(columns.errors, 'isError');
    for (const name of MEASUREMENT_NAMES) take(columns.measurements[name], name);
    for (let index = 0; index < wanted.length; index += 1) {
      const place = wanted[index] ?? 0;
      columns.kinds[length + index] = KINDS[kinds.charCodeAt(place)] ?? 'note';
      columns.sequences[length + index] = before + place + 1;
    }
    this.ids.push(...(wanted === ALL_PLACES ? [ids] : Array.from(wanted, (place) => idAt(ids, place))));
    this.length += wanted.length;
  }

  /** Of all that was added; nothing may be added afterwards. */
  table(): OutlineTable {
    const ids = this.ids.join('');
    return new OutlineTable(this.columns, this.length, (position) => idAt(ids, position));
  }
}

type Column = Uint8Array | Int32Array | Float64Array;

const SLOT_NAMES: readonly string[] = NOTE_SLOTS;

function idAt(ids: string, place: number): string {
  return ids.slice(place * ID_CHARACTERS, (place + 1) * ID_CHARACTERS);
}

function namesOf(json: string): string[] {
  const parsed: unknown = JSON.parse(json);
  return Array.isArray(parsed) ? parsed.map(String) : [];
}

const ALL_PLACES = Uint16Array.from({ length: BLOCK_ENTRIES }, (_, place) => place);

/** Places of a block's entries that lie on the path; `ALL_PLACES` itself when all do. */
function wantedPlaces(branches: Float64Array, before: number, { fromSequence, through }: WantedPath): Uint16Array {
  const places = new Uint16Array(BLOCK_ENTRIES);
  let count = 0;
  for (let place = 0; place < BLOCK_ENTRIES; place += 1) {
    const sequence = before + place + 1;
    if (sequence < fromSequence || sequence > (through.get(branches[place] ?? 0) ?? 0)) continue;
    places[count] = place;
    count += 1;
  }
  return count === BLOCK_ENTRIES ? ALL_PLACES : places.subarray(0, count);
}

/** Replaces each number by what stands at its place. */
function translate(numbers: Float64Array, places: readonly number[]): void {
  for (let index = 0; index < numbers.length; index += 1) numbers[index] = places[numbers[index] ?? 0] ?? 0;
}

function copyPlaces(numbers: Float64Array, places: Uint16Array, column: Column, from: number): void {
  if (places === ALL_PLACES) {
    column.set(numbers, from);
    return;
  }
  for (let index = 0; index < places.length; index += 1) {
    column[from + index] = numbers[places[index] ?? 0] ?? 0;
  }
}

/** The three forms of `packed_numbers`; none of the numbers is negative. */
function readNumbers(line: string, numbers: Float64Array): void {
  if (line.startsWith('~')) {
    for (let place = 0; place < BLOCK_ENTRIES; place += 1) numbers[place] = line.charCodeAt(place + 1) - SPACE;
  } else if (line.includes(',')) numbers.set(line.split(',').map(Number));
  else numbers.fill(Number(line));
}

const SPACE = 32;
