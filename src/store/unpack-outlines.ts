import type { EntryKind, EntryOutline } from '../context/entry.ts';
import { MEASUREMENT_NAMES } from '../context/measurements.ts';
import {
  emptyOutlineColumns,
  ENTRY_KINDS,
  NOTE_SLOTS,
  tableOfColumns,
  writeOutline,
} from '../context/outline-table.ts';
import type { OpenColumns, OutlineTable } from '../context/outline-table.ts';

/** Entries of a full block; the function `pack_outlines` of the schema counts with the same number. */
export const BLOCK_ENTRIES = 256;

const ID_CHARACTERS = 36;

/** The numeric lines of a block, in the order of `pack_outlines`; before them stand ids, kinds, turns, tools and slots. */
const LINES = [
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

type Line = (typeof LINES)[number];

/** Places in `ENTRY_KINDS` by the letters that a block has for them, as character codes. */
const KIND_PLACES = new Uint8Array(128);
const LETTERS: readonly (readonly [string, EntryKind])[] = [
  ['u', 'user'],
  ['a', 'assistant'],
  ['t', 'tool_result'],
  ['n', 'note'],
  ['b', 'branch_summary'],
  ['c', 'compaction'],
];
for (const [letter, kind] of LETTERS) KIND_PLACES[letter.charCodeAt(0)] = ENTRY_KINDS.indexOf(kind);

/** Collects outlines, oldest first, from single rows and from blocks, column by column. */
export class UnpackedOutlines {
  private length = 0;
  private readonly columns: OpenColumns;
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

  /** @param block.before sequence before the block's first entry */
  addBlock(
    outline: string,
    block: {
      readonly before: number;
      readonly isWanted: (branch: number, sequence: number) => boolean;
    },
  ): void {
    const [ids = '', kinds = '', turns = '[]', tools = '[]', slots = '[]', ...lines] = outline.split('\n');
    const { columns, numbers, length } = this;
    const read = (name: Line): void => readNumbers(lines[LINES.indexOf(name)] ?? '0', numbers);
    read('branch');
    const wanted = placesWhere((place) => block.isWanted(numbers[place] ?? 0, block.before + place + 1));
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
    take(columns.toolCallCounts, 'toolCallCount');
    take(columns.errors, 'isError');
    for (const name of MEASUREMENT_NAMES) take(columns.measurements[name], name);
    for (const [index, place] of wanted.entries()) {
      columns.kinds[length + index] = KIND_PLACES[kinds.charCodeAt(place)] ?? 0;
      columns.sequences[length + index] = block.before + place + 1;
    }
    const isWhole = wanted.length === BLOCK_ENTRIES;
    this.ids.push(...(isWhole ? [ids] : Array.from(wanted, (place) => idAt(ids, place))));
    this.length += wanted.length;
  }

  /** Of all that was added; nothing may be added afterwards. */
  table(): OutlineTable {
    const ids = this.ids.join('');
    return tableOfColumns({ ...this.columns, length: this.length }, (position) => idAt(ids, position));
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

function placesWhere(isWanted: (place: number) => boolean): Uint16Array {
  const places = new Uint16Array(BLOCK_ENTRIES);
  let count = 0;
  for (let place = 0; place < BLOCK_ENTRIES; place += 1) {
    if (!isWanted(place)) continue;
    places[count] = place;
    count += 1;
  }
  return places.subarray(0, count);
}

/** Replaces each number by what stands at its place. */
function translate(numbers: Float64Array, places: readonly number[]): void {
  for (let index = 0; index < numbers.length; index += 1) numbers[index] = places[numbers[index] ?? 0] ?? 0;
}

function copyPlaces(numbers: Float64Array, places: Uint16Array, column: Column, from: number): void {
  if (places.length === numbers.length) {
    column.set(numbers, from);
    return;
  }
  for (let index = 0; index < places.length; index += 1) {
    column[from + index] = numbers[places[index] ?? 0] ?? 0;
  }
}

/** "1,2,3", or one number for all of them. None is negative. */
function readNumbers(line: string, numbers: Float64Array): void {
  let number = 0;
  let index = 0;
  for (let place = 0; place < line.length; place += 1) {
    const code = line.charCodeAt(place);
    if (code === COMMA) {
      numbers[index] = number;
      index += 1;
      number = 0;
    } else number = number * 10 + (code - ZERO);
  }
  if (index === 0) numbers.fill(number);
  else numbers[index] = number;
}

const COMMA = 44;
const ZERO = 48;
