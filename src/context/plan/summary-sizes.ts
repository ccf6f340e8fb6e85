import type { EntryKind, Entry } from '../log/entry.ts';
import { isEncodedData } from '../log/encoded-data.ts';
import { calibratedTokens } from '../log/estimate.ts';
import { characterCount, hasMedia, scaleMeasurements } from '../log/measurement-arithmetic.ts';
import type { Measurements } from '../log/measurements.ts';
import type { PlanningState } from './planning-state.ts';
import { clipContent } from './clip.ts';
import type { CompactionPlan } from './plan.ts';

/** Frame and placeholders of one entry in a transcript, tokens. */
const ENTRY_FRAME_TOKENS = 20;

/** An entry that a part of a summary reads. */
export interface ReadEntry {
  readonly kind: EntryKind;
  readonly sequence: number;
  /** What it takes in a transcript. */
  readonly tokens: number;
}

/** What the parts of a summary read: originals, and excerpts of what `isWhole` says is not read as a whole. */
export function entriesRead(
  state: PlanningState,
  positions: readonly number[],
  isWhole: (position: number) => boolean = () => true,
): ReadEntry[] {
  return positions.map((position) => {
    const { kind, sequence } = state.table.at(position);
    return {
      kind,
      sequence,
      tokens: isWhole(position) ? originalTokens(state, position) : excerptTokens(state, position),
    };
  });
}

/** Media are one line each, and of encoded data a transcript shows only where it was. */
function originalTokens(state: PlanningState, position: number): number {
  const { measurements } = state.table.at(position);
  if (isEncodedData(measurements.dense, characterCount(measurements))) {
    return tokensWithoutMedia(state, { ...measurements, dense: 0 });
  }
  if (hasMedia(measurements)) return tokensWithoutMedia(state, measurements);
  return (state.storedTokens[position] ?? 0) + ENTRY_FRAME_TOKENS;
}

function excerptTokens(state: PlanningState, position: number): number {
  const measurements = state.table.at(position).measurements;
  const share = Math.min(1, EXCERPT_CHARACTERS / Math.max(1, characterCount(measurements)));
  return tokensWithoutMedia(state, share === 1 ? measurements : scaleMeasurements(measurements, share));
}

function tokensWithoutMedia({ input }: PlanningState, measurements: Measurements): number {
  const text = { ...measurements, images: 0, imagePatches: 0, documentPages: 0 };
  return calibratedTokens(text, input.calibration) + ENTRY_FRAME_TOKENS * (1 + measurements.images);
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
  const { id, sequence } = table.at(position);
  if (summary === null || sequence > summary.coveredThroughSequence) return false;
  if (summary.inPlace !== true || sequence < summary.firstKeptSequence) return true;
  const kind = inForce.get(id)?.kind;
  return kind === 'clip' || kind === 'clear';
}

/** The entries of a part's range as its transcript shows them: originals, and excerpts of what stays visible. */
export function readableEntries(plan: CompactionPlan, entries: readonly Entry[]): readonly Entry[] {
  const { reading } = plan;
  if (reading === undefined) return entries;
  const earlier = new Set(reading.earlier);
  const changed = new Set(plan.operations.map((operation) => operation.entryId));
  return entries
    .filter((entry) => entry.sequence > reading.after || earlier.has(entry.sequence))
    .map((entry) => (reading.excerptUnchanged && !changed.has(entry.id) ? excerpt(entry) : entry));
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
