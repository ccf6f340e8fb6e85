import { calibratedTokens, rawTokens } from '../log/estimate.ts';
import { measureText } from '../log/measure.ts';
import type { PartPiece, PlanInput, PlanPart, SummaryForm } from './plan.ts';
import type { CompactionPolicy, TranscriptLimits } from '../policy/policy.ts';
import { PREVIOUS_SHARE, summaryRequestLimit } from '../summary/summary-request.ts';
import { headingList } from '../summary/sections.ts';
import type { PlanningState } from './planning-state.ts';
import type { EntryKind } from '../log/entry.ts';
import type { OutlineTable } from '../log/outline-table.ts';
import { isEncodedData } from '../log/readable-text.ts';
import { characterCount, measurementsAt } from '../log/measurements.ts';
import type { Measurements } from '../log/measurements.ts';

/** The quoted instructions of the agent, a focus, what the user asked before, and the fixed sentences of a request, tokens. */
const QUOTED_TOKENS = 1_500;
/** Parts of a plan at most: what crosses Temporal is bounded. Beyond it, another form is planned. */
const PARTS_MAXIMUM = 48;
/** All sections of a part's summary need this much at least. Tokens. */
const PART_OUTPUT_MINIMUM = 320;

/**
 * A shorter summary is asked for with half the answer, from requests of half the size: what a provider refused as too long,
 * because the estimate was too low for its text, must not be sent again.
 */
export function shareOf(form: SummaryForm): number {
  return form === 'shorter_summary' ? 0.5 : 1;
}

/** What of a request's room a piece is planned to take: where it ends is known only when it is read. */
const PIECE_SHARE = 0.9;

/** Places in the list of entries that are read, `to` excluded. */
interface Stretch {
  readonly kind: 'history' | 'turn_prefix';
  readonly from: number;
  readonly to: number;
  /** Of the only entry, when it is read in pieces. */
  readonly piece?: PartPiece;
}

/**
 * The calls of the summarizing model: one part when all originals fit into one request, otherwise
 * parts that run in parallel and a merge; the beginning of a split turn is then a part of its own.
 * No part is ever larger than the summarizer's window allows, and no text is left out to make it so: `null` when that would take too
 * many parts (R8, R9).
 */
export function summaryParts(
  input: PlanInput,
  form: SummaryForm,
  plan: {
    /** Entries that no summary covers yet and the cut drops. */
    readonly read: EntriesRead;
    /** Sequence of the message that opened the turn which the cut splits; `null`: nothing gets a summary of its own. */
    readonly turnStart: number | null;
    /** Longest answer of the last part, tokens. */
    readonly maximumOutput: number;
    /** The same for the beginning of a split turn. */
    readonly turnPrefixOutput: number;
    /** The same for all of it together. */
    readonly summaryLimit: number;
  },
): PlanPart[] | null {
  const { read } = plan;
  const all = { from: 0, to: read.positions.length };
  if (form === 'extractive_summary') {
    // Written by the program, so no window limits what it reads.
    return [
      readingPart(read, { kind: 'history', ...all }, { number: 1, inputTokens: 0, maximumOutput: plan.summaryLimit }),
    ];
  }
  const maximumOutput = Math.max(1, Math.floor(plan.maximumOutput));
  const stretches = splitStretches(read, plan.turnStart);
  const frame: RequestFrame = {
    limit: Math.floor(summaryRequestLimit(input.summarizer, maximumOutput) * shareOf(form)),
    overhead: requestOverhead(input),
    previousTokens: input.summary === null ? 0 : calibratedTokens(input.summary.measurements, input.calibration),
    maximumOutput,
    transcript: input.policy.summary.transcript,
  };
  const parts = stretches.map((stretch, index) => {
    const isPrefix = stretch.kind === 'turn_prefix';
    const previous = isPrefix ? 0 : frame.previousTokens;
    return readingPart(read, stretch, {
      number: index + 1,
      inputTokens: frame.overhead + previous + sumTokens(read, stretch),
      maximumOutput: isPrefix ? Math.max(1, Math.floor(plan.turnPrefixOutput)) : maximumOutput,
    });
  });
  return parts.every((part) => part.inputTokens <= frame.limit) ? parts : partsWithMerge(read, stretches, frame);
}

/** What a summary request holds besides the transcript. Tokens. */
interface RequestFrame {
  readonly limit: number;
  readonly overhead: number;
  readonly previousTokens: number;
  readonly maximumOutput: number;
  readonly transcript: TranscriptLimits;
}

function partsWithMerge(read: EntriesRead, stretches: readonly Stretch[], frame: RequestFrame): PlanPart[] | null {
  const room = Math.max(1, frame.limit - frame.overhead);
  const by = { size: room, transcript: frame.transcript };
  const packed = stretches.flatMap((stretch) => packStretch(read, stretch, by));
  if (packed.length >= PARTS_MAXIMUM) return null;
  const forTexts = Math.max(0, room - Math.min(frame.previousTokens, room * PREVIOUS_SHARE));
  const maximumOutput = Math.max(
    Math.min(PART_OUTPUT_MINIMUM, frame.maximumOutput),
    Math.floor(Math.min(frame.maximumOutput, forTexts / packed.length)),
  );
  const parts = packed.map((stretch, index) => {
    const inputTokens = Math.min(frame.limit, frame.overhead + sumTokens(read, stretch));
    return readingPart(read, stretch, { number: index + 1, inputTokens, maximumOutput });
  });
  const mergeTokens = frame.overhead + frame.previousTokens + parts.length * maximumOutput;
  const merge: PlanPart = {
    number: parts.length + 1,
    wave: 2,
    kind: 'merge',
    inputTokens: Math.ceil(Math.min(frame.limit, mergeTokens)),
    maximumOutput: frame.maximumOutput,
  };
  return [...parts, merge];
}

function splitStretches(read: EntriesRead, turnStart: number | null): Stretch[] {
  const to = read.positions.length;
  if (turnStart === null) return [{ kind: 'history', from: 0, to }];
  const border = read.positions.findLastIndex((position) => read.table.sequenceAt(position) < turnStart) + 1;
  const stretches: readonly Stretch[] = [
    { kind: 'history', from: 0, to: border },
    { kind: 'turn_prefix', from: border, to },
  ];
  return stretches.filter((stretch) => stretch.from < stretch.to);
}

/**
 * Consecutive groups of at most `size` tokens, so that a part sees each call with its results. A
 * larger group is taken apart; a larger single entry is read in pieces (R9), unless the policy shortens its kind anyway.
 */
function packStretch(
  read: EntriesRead,
  stretch: Stretch,
  { size, transcript }: { readonly size: number; readonly transcript: TranscriptLimits },
): Stretch[] {
  const packed: Stretch[] = [];
  let open = stretch.from;
  let tokens = 0;
  // Before this place entries are packed one by one.
  let apart = stretch.from;
  for (let from = stretch.from, to = from; from < stretch.to; from = to) {
    to = from < apart ? from + 1 : groupEnd(read, from, stretch.to);
    const added = sumTokens(read, { from, to });
    if (added > size && to - from > 1) {
      apart = to;
      to = from;
      continue;
    }
    if (from > open && tokens + added > size) {
      packed.push({ kind: stretch.kind, from: open, to: from });
      open = from;
      tokens = 0;
    }
    if (added > size && isReadWhole(kindRead(read, from), transcript)) {
      const of = Math.ceil(added / (size * PIECE_SHARE));
      for (let number = 1; number <= of; number += 1) {
        packed.push({ kind: stretch.kind, from, to, piece: { number, of } });
      }
      open = to;
    } else tokens += added;
  }
  if (open < stretch.to) packed.push({ kind: stretch.kind, from: open, to: stretch.to });
  return packed;
}

function isReadWhole(kind: EntryKind | undefined, limits: TranscriptLimits): boolean {
  if (limits.total !== null) return false;
  switch (kind) {
    case 'user':
      return limits.user === null;
    case 'assistant':
      return limits.assistant === null && limits.toolInput === null;
    case 'tool_result':
      return limits.toolResult === null;
    default:
      return true;
  }
}

/** Results belong to what stands before them, in order of arrival: parts are ranges of sequences. */
function groupEnd(read: EntriesRead, from: number, limit: number): number {
  let end = from + 1;
  while (end < limit && kindRead(read, end) === 'tool_result') end += 1;
  return end;
}

function readingPart(
  read: EntriesRead,
  { kind, from, to, piece }: Stretch,
  of: { readonly number: number; readonly inputTokens: number; readonly maximumOutput: number },
): PlanPart {
  const fromSequence = read.table.sequenceAt(read.positions[from] ?? 0);
  const toSequence = read.table.sequenceAt(read.positions[to - 1] ?? 0);
  const inputTokens = Math.ceil(of.inputTokens);
  return { ...of, wave: 1, kind, fromSequence, toSequence, inputTokens, ...(piece !== undefined && { piece }) };
}

function sumTokens({ tokens }: EntriesRead, { from, to, piece }: Omit<Stretch, 'kind'>): number {
  let sum = 0;
  for (let index = from; index < to; index += 1) sum += tokens[index] ?? 0;
  return sum / (piece?.of ?? 1);
}

/** Kept, because to count the texts of a policy takes as long as to plan 1,000 entries. */
const requestTexts = new WeakMap<CompactionPolicy, Measurements>();

/** Prompt, sections and quoted instructions, counted with the longest of the prompts. */
function requestOverhead({ policy, calibration }: PlanInput): number {
  const texts = requestTexts.get(policy) ?? measureRequest(policy);
  requestTexts.set(policy, texts);
  return rawTokens(texts) * calibration.factor + QUOTED_TOKENS;
}

function measureRequest({ summary }: CompactionPolicy): Measurements {
  const { prompts, sections, turnPrefix, question } = summary;
  const { system, history, update, merge } = prompts;
  const asked = longestOf([history, update ?? history, turnPrefix?.prompt ?? history, merge].map(({ text }) => text));
  const headings = longestOf([sections, turnPrefix?.sections ?? []].map((each) => headingList(each)));
  return measureText([system.text, question ?? '', asked, headings].join('\n\n'));
}

function longestOf(texts: readonly string[]): string {
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest), '');
}

/** Frame and placeholders of one entry in a transcript, tokens. */
const ENTRY_FRAME_TOKENS = 20;

function kindRead({ table, positions }: EntriesRead, place: number): EntryKind {
  return table.kindAt(positions[place] ?? 0);
}

/** What the parts of a summary read, oldest first, with what each entry takes in a transcript. */
export interface EntriesRead {
  readonly table: OutlineTable;
  readonly positions: readonly number[];
  /** One for each of them. */
  readonly tokens: Float64Array;
}

export function entriesRead(state: PlanningState, positions: readonly number[]): EntriesRead {
  const tokens = new Float64Array(positions.length);
  for (let place = 0; place < positions.length; place += 1) {
    tokens[place] = originalTokens(state, positions[place] ?? 0);
  }
  return { table: state.table, positions, tokens };
}

/** As the transcript shows it: no longer than the policy lets a result be, media as one line each, and of encoded data only where it was. */
function originalTokens(state: PlanningState, position: number): number {
  const { columns } = state.table;
  const { dense, images, documentPages } = columns.measurements;
  const { toolResult } = state.input.policy.summary.transcript;
  const longest = state.table.kindAt(position) === 'tool_result' ? toolResult : null;
  const isPlain = dense[position] === 0 && images[position] === 0 && documentPages[position] === 0;
  const storedTokens = (state.storedTokens[position] ?? 0) + ENTRY_FRAME_TOKENS;
  if (isPlain && longest === null) return storedTokens;
  const measured = measurementsAt(columns.measurements, position);
  const isData = isEncodedData(measured.dense, characterCount(measured));
  const read = isData ? { ...measured, dense: 0 } : measured;
  const tokens = isPlain ? storedTokens : tokensWithoutMedia(state, read);
  return longest === null ? tokens : tokens * Math.min(1, longest / Math.max(1, characterCount(read)));
}

function tokensWithoutMedia({ input }: PlanningState, measurements: Measurements): number {
  const text = { ...measurements, images: 0, imagePatches: 0, documentPages: 0 };
  return calibratedTokens(text, input.calibration) + ENTRY_FRAME_TOKENS * (1 + measurements.images);
}
