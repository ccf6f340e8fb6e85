import { calibratedTokens, rawTokens } from '../log/estimate.ts';
import { measureText } from '../log/measure.ts';
import type { PartPiece, PlanInput, PlanPart, SummaryForm } from './plan.ts';
import type { CompactionPolicy, TranscriptLimits } from '../policy/policy.ts';
import { PREVIOUS_SHARE, summaryRequestLimit } from '../summary/summary-request.ts';
import { headingList } from '../summary/sections.ts';
import type { PlanningState } from './planning-state.ts';
import type { Rooms } from './summary-layout.ts';
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

/** What the parts of a summary read, oldest first, and what a request holds besides. Token numbers are unrounded. */
interface Reading {
  readonly table: OutlineTable;
  readonly positions: readonly number[];
  /** What each entry takes in a transcript. */
  readonly tokens: Float64Array;
  readonly transcript: TranscriptLimits;
  /** Largest request. */
  readonly limit: number;
  /** Of a request without transcript and previous summary. */
  readonly overhead: number;
  readonly previousTokens: number;
  readonly maximumOutput: number;
}

/**
 * The calls of the summarizing model: one part when all originals fit into one request, otherwise
 * parts that run in parallel and a merge; the beginning of a split turn is then a part of its own.
 * No part is ever larger than the summarizer's window allows, and no text is left out to make it so: `null` when that would take too
 * many parts (R8, R9).
 */
export function summaryParts(
  state: PlanningState,
  form: SummaryForm,
  plan: {
    /** Of entries that no summary covers yet and the cut drops. */
    readonly positions: readonly number[];
    /** Sequence of the message that opened the turn which the cut splits; `null`: nothing gets a summary of its own. */
    readonly turnStart: number | null;
    /** Longest answers of the last part and for the beginning of a split turn, tokens. */
    readonly rooms: Pick<Rooms, 'summary' | 'turnPrefix'>;
    /** The same for all of it together. */
    readonly summaryLimit: number;
  },
): PlanPart[] | null {
  const { input, table } = state;
  const { positions, rooms } = plan;
  const maximumOutput = Math.max(1, Math.floor(rooms.summary));
  const reading: Reading = {
    table,
    positions,
    tokens: transcriptTokens(state, positions),
    transcript: input.policy.summary.transcript,
    limit: Math.floor(summaryRequestLimit(input.summarizer, maximumOutput) * shareOf(form)),
    overhead: requestOverhead(input),
    previousTokens: state.summaryTokens,
    maximumOutput,
  };
  if (form === 'extractive_summary') {
    // Written by the program, so no window limits what it reads.
    const all: Stretch = { kind: 'history', from: 0, to: positions.length };
    return [readingPart(reading, all, { number: 1, inputTokens: 0, maximumOutput: plan.summaryLimit })];
  }
  const stretches = splitStretches(reading, plan.turnStart);
  const parts = stretches.map((stretch, index) => {
    const isPrefix = stretch.kind === 'turn_prefix';
    return readingPart(reading, stretch, {
      number: index + 1,
      inputTokens: reading.overhead + (isPrefix ? 0 : reading.previousTokens) + sumTokens(reading, stretch),
      maximumOutput: isPrefix ? Math.max(1, Math.floor(rooms.turnPrefix)) : maximumOutput,
    });
  });
  return parts.every((part) => part.inputTokens <= reading.limit) ? parts : partsWithMerge(reading, stretches);
}

function partsWithMerge(reading: Reading, stretches: readonly Stretch[]): PlanPart[] | null {
  const { limit, overhead, previousTokens } = reading;
  const room = Math.max(1, limit - overhead);
  const packed = stretches.flatMap((stretch) => packStretch(reading, stretch, room));
  if (packed.length >= PARTS_MAXIMUM) return null;
  const forTexts = Math.max(0, room - Math.min(previousTokens, room * PREVIOUS_SHARE));
  const maximumOutput = Math.max(
    Math.min(PART_OUTPUT_MINIMUM, reading.maximumOutput),
    Math.floor(Math.min(reading.maximumOutput, forTexts / packed.length)),
  );
  const parts = packed.map((stretch, index) => {
    const inputTokens = Math.min(limit, overhead + sumTokens(reading, stretch));
    return readingPart(reading, stretch, { number: index + 1, inputTokens, maximumOutput });
  });
  const mergeTokens = overhead + previousTokens + parts.length * maximumOutput;
  const merge: PlanPart = {
    number: parts.length + 1,
    wave: 2,
    kind: 'merge',
    inputTokens: Math.ceil(Math.min(limit, mergeTokens)),
    maximumOutput: reading.maximumOutput,
  };
  return [...parts, merge];
}

function splitStretches({ table, positions }: Reading, turnStart: number | null): Stretch[] {
  const to = positions.length;
  const start = turnStart ?? Infinity;
  const border = positions.findLastIndex((position) => table.sequenceAt(position) < start) + 1;
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
function packStretch(reading: Reading, { kind, ...stretch }: Stretch, size: number): Stretch[] {
  const packed: Stretch[] = [];
  let open = stretch.from;
  let tokens = 0;
  // Before this place entries are packed one by one.
  let apart = stretch.from;
  for (let from = stretch.from, to = from; from < stretch.to; from = to) {
    to = from < apart ? from + 1 : groupEnd(reading, from, stretch.to);
    const added = sumTokens(reading, { from, to });
    if (added > size && to - from > 1) {
      apart = to;
      to = from;
      continue;
    }
    if (from > open && tokens + added > size) {
      packed.push({ kind, from: open, to: from });
      open = from;
      tokens = 0;
    }
    if (added > size && isReadWhole(kindRead(reading, from), reading.transcript)) {
      const of = Math.ceil(added / (size * PIECE_SHARE));
      for (let number = 1; number <= of; number += 1) packed.push({ kind, from, to, piece: { number, of } });
      open = to;
    } else tokens += added;
  }
  if (open < stretch.to) packed.push({ kind, from: open, to: stretch.to });
  return packed;
}

/** Results belong to what stands before them, in order of arrival: parts are ranges of sequences. */
function groupEnd(reading: Reading, from: number, limit: number): number {
  let end = from + 1;
  while (end < limit && kindRead(reading, end) === 'tool_result') end += 1;
  return end;
}

function isReadWhole(kind: EntryKind, { total, user, assistant, toolInput, toolResult }: TranscriptLimits): boolean {
  const ofKinds: Partial<Record<EntryKind, readonly (number | null)[]>> = {
    user: [user],
    assistant: [assistant, toolInput],
    tool_result: [toolResult],
  };
  return [total, ...(ofKinds[kind] ?? [])].every((limit) => limit === null);
}

function readingPart(
  { table, positions }: Reading,
  { kind, from, to, piece }: Stretch,
  of: { readonly number: number; readonly inputTokens: number; readonly maximumOutput: number },
): PlanPart {
  const fromSequence = table.sequenceAt(positions[from] ?? 0);
  const toSequence = table.sequenceAt(positions[to - 1] ?? 0);
  const inputTokens = Math.ceil(of.inputTokens);
  return { ...of, wave: 1, kind, fromSequence, toSequence, inputTokens, ...(piece !== undefined && { piece }) };
}

function sumTokens({ tokens }: Reading, { from, to, piece }: Omit<Stretch, 'kind'>): number {
  let sum = 0;
  for (let index = from; index < to; index += 1) sum += tokens[index] ?? 0;
  return sum / (piece?.of ?? 1);
}

function kindRead({ table, positions }: Reading, place: number): EntryKind {
  return table.kindAt(positions[place] ?? 0);
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

/** `Float64Array.from` takes as long as all other planning. */
function transcriptTokens(state: PlanningState, positions: readonly number[]): Float64Array {
  const tokens = new Float64Array(positions.length);
  for (let place = 0; place < positions.length; place += 1) {
    tokens[place] = originalTokens(state, positions[place] ?? 0);
  }
  return tokens;
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
