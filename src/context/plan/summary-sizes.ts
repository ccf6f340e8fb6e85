import type { EntryKind, Entry } from '../log/entry.ts';
import { isEncodedData } from '../log/readable-text.ts';
import { calibratedTokens } from '../log/estimate.ts';
import { characterCount, scaleMeasurements } from '../log/measurements.ts';
import type { Measurements } from '../log/measurements.ts';
import type { OutlineTable } from '../log/outline-table.ts';
import type { PlanningState } from './planning-state.ts';
import { clipContent } from './clip.ts';
import type { CompactionPlan } from './plan.ts';

/** Frame and placeholders of one entry in a transcript, tokens. */
const ENTRY_FRAME_TOKENS = 20;

/** What the parts of a summary read, with what each entry takes in a transcript, side by side. */
export interface EntriesRead {
  readonly table: OutlineTable;
  /** Positions, oldest first. */
  readonly positions: readonly number[];
  /** One for each of them. */
  readonly tokens: Float64Array;
}

export function originalsRead(state: PlanningState, positions: readonly number[]): EntriesRead {
  const tokens = new Float64Array(positions.length);
  for (let place = 0; place < positions.length; place += 1)
    tokens[place] = originalTokens(state, positions[place] ?? 0);
  return { table: state.table, positions, tokens };
}

/** The same, with excerpts in place of what `isWhole` says is not read as a whole. */
export function excerptsRead(
  state: PlanningState,
  positions: readonly number[],
  isWhole: (position: number) => boolean,
): EntriesRead {
  const tokens = Float64Array.from(positions, (position) =>
    isWhole(position) ? originalTokens(state, position) : excerptTokens(state, position),
  );
  return { table: state.table, positions, tokens };
}

/** Media are one line each, and of encoded data a transcript shows only where it was. */
function originalTokens(state: PlanningState, position: number): number {
  const { table, storedTokens } = state;
  const dense = table.columns.measurements.dense[position] ?? 0;
  if (isEncodedData(dense, table.charactersAt(position))) {
    return tokensWithoutMedia(state, { ...table.measurementsAt(position), dense: 0 });
  }
  if (!table.showsMediaAt(position)) return (storedTokens[position] ?? 0) + ENTRY_FRAME_TOKENS;
  return tokensWithoutMedia(state, table.measurementsAt(position));
}

function excerptTokens(state: PlanningState, position: number): number {
  const measurements = state.table.measurementsAt(position);
  const share = Math.min(1, EXCERPT_CHARACTERS / Math.max(1, characterCount(measurements)));
  return tokensWithoutMedia(state, share === 1 ? measurements : scaleMeasurements(measurements, share));
}

function tokensWithoutMedia({ input }: PlanningState, measurements: Measurements): number {
  const text = { ...measurements, images: 0, imagePatches: 0, documentPages: 0 };
  return calibratedTokens(text, input.calibration) + ENTRY_FRAME_TOKENS * (1 + measurements.images);
}

export function kindRead({ table, positions }: EntriesRead, place: number): EntryKind | undefined {
  const position = positions[place];
  return position === undefined ? undefined : table.kindAt(position);
}

export function sequenceRead({ table, positions }: EntriesRead, place: number): number {
  return table.sequenceAt(positions[place] ?? 0);
}

/** Of an entry that stays visible, so much goes into a transcript: enough to follow what was done. Characters. */
export const EXCERPT_CHARACTERS = 600;
const EXCERPT_HEAD = 400;

/**
 * Whether the summary in force stands for an entry. One in place stands for what was shortened only:
 * other entries were visible beside it, and are still to be summarized when they go.
 */
export function coveredAlready(
  { input, table, inForce }: Pick<PlanningState, 'input' | 'table' | 'inForce'>,
  position: number,
): boolean {
  const { summary } = input;
  const sequence = table.sequenceAt(position);
  if (summary === null || sequence > summary.coveredThroughSequence) return false;
  if (summary.inPlace !== true || sequence < summary.firstKeptSequence) return true;
  const kind = inForce.get(position)?.kind;
  return kind === 'clip' || kind === 'clear';
}

/** The entries of a part's range as its transcript shows them: originals, and excerpts of what stays visible beside a summary in place. */
export function readableEntries(plan: CompactionPlan, entries: readonly Entry[]): readonly Entry[] {
  const { reading, inPlace = false } = plan;
  if (reading === undefined) return entries;
  const earlier = new Set(reading.earlier);
  const changed = new Set(plan.operations.map((operation) => operation.entryId));
  return entries
    .filter((entry) => entry.sequence > reading.after || earlier.has(entry.sequence))
    .map((entry) => (inPlace && !changed.has(entry.id) ? excerpt(entry) : entry));
}

/** The user's words stay whole: they are the task. */
function excerpt(entry: Entry): Entry {
  if (entry.kind === 'user' || entry.kind === 'note') return entry;
  const content = clipContent(entry.content, {
    entryId: entry.id,
    head: EXCERPT_HEAD,
    tail: EXCERPT_CHARACTERS - EXCERPT_HEAD,
    keepMedia: false,
    options: { recall: false },
  });
  return { ...entry, content };
}
