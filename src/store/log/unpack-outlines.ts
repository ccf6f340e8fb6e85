import type { EntryKind, EntryOutline, NoteSlot } from '../../context/log/entry.ts';
import { MEASUREMENT_NAMES } from '../../context/log/measurements.ts';
import type { Measurements } from '../../context/log/measurements.ts';

/** Entries of a full block; the function `pack_outlines` of the schema counts with the same number. */
export const BLOCK_ENTRIES = 256;

const ID_CHARACTERS = 36;

/** The numeric lines of a block, in the order of `pack_outlines`; before them stand kinds, turns, tools and slots. */
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

const KINDS: Readonly<Record<string, EntryKind>> = {
  u: 'user',
  a: 'assistant',
  t: 'tool_result',
  n: 'note',
  b: 'branch_summary',
  c: 'compaction',
};

const SLOTS: readonly NoteSlot[] = ['rules', 'memories', 'continuation', 'plan'];

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

/** The entries of a block that lie on a path, oldest first. */
export function unpackBlock(
  { ids, outline }: PackedBlock,
  { before, path }: { readonly before: number; readonly path: WantedPath },
): EntryOutline[] {
  const [kinds = '', turns = '[]', tools = '[]', slots = '[]', ...lines] = outline.split('\n');
  const column = (name: Line): Float64Array => numbersOf(lines[LINES.indexOf(name)] ?? '0');
  const [turn, tool, slot, branch] = [column('turn'), column('tool'), column('slot'), column('branch')];
  const [callNumbers, callIndexes] = [column('callNumber'), column('callIndex')];
  const [toolCallCounts, errors] = [column('toolCallCount'), column('isError')];
  const measured = MEASUREMENT_NAMES.map(column);
  const [turnIds, toolNames, slotNames] = [namesOf(turns), namesOf(tools), namesOf(slots)];
  const outlines: EntryOutline[] = [];
  for (let place = 0; place < BLOCK_ENTRIES; place += 1) {
    const sequence = before + place + 1;
    if (sequence < path.fromSequence || sequence > (path.through.get(branch[place] ?? 0) ?? 0)) continue;
    const kind = KINDS[kinds[place] ?? ''] ?? 'user';
    const id = ids.slice(place * ID_CHARACTERS, (place + 1) * ID_CHARACTERS);
    const turnId = turnIds[(turn[place] ?? 0) - 1] ?? '';
    const measurements = measurementsAt(measured, place);
    const callNumber = callNumbers[place] ?? 0;
    // Literals of one shape for each kind: what is spread together makes planning ten times as slow.
    if (kind === 'assistant') {
      const toolCallCount = toolCallCounts[place] ?? 0;
      outlines.push({ id, sequence, kind, turnId, measurements, callNumber, toolCallCount });
    } else if (kind === 'tool_result') {
      const toolName = toolNames[(tool[place] ?? 0) - 1] ?? '';
      const callIndex = callIndexes[place] ?? 0;
      const isError = errors[place] === 1;
      outlines.push({ id, sequence, kind, turnId, measurements, callNumber, callIndex, toolName, isError });
    } else {
      const named = SLOTS.find((each) => each === slotNames[(slot[place] ?? 0) - 1]);
      if (named === undefined) outlines.push({ id, sequence, kind, turnId, measurements });
      else outlines.push({ id, sequence, kind, turnId, measurements, slot: named });
    }
  }
  return outlines;
}

/** Field by field: 50,000 entries are read so, and a loop over names takes ten times as long. */
function measurementsAt(columns: readonly Float64Array[], place: number): Measurements {
  const at = (column: number): number => columns[column]?.[place] ?? 0;
  return {
    letters: at(0),
    symbols: at(1),
    spaces: at(2),
    whitespaceRuns: at(3),
    ideographs: at(4),
    dense: at(5),
    bytes: at(6),
    images: at(7),
    imagePatches: at(8),
    documentPages: at(9),
    frames: at(10),
  };
}

function namesOf(json: string): string[] {
  const parsed: unknown = JSON.parse(json);
  return Array.isArray(parsed) ? parsed.map(String) : [];
}

/** The three forms of `packed_numbers`; none of the numbers is negative. */
function numbersOf(line: string): Float64Array {
  const numbers = new Float64Array(BLOCK_ENTRIES);
  if (line.startsWith('~')) {
    for (let place = 0; place < BLOCK_ENTRIES; place += 1) numbers[place] = line.charCodeAt(place + 1) - SPACE;
  } else if (line.includes(',')) numbers.set(line.split(',').map(Number));
  else numbers.fill(Number(line));
  return numbers;
}

const SPACE = 32;
