import { calibratedTokens, rawTokens } from '../log/estimate.ts';
import { measureText } from '../log/measure.ts';
import type { PartPiece, PlanInput, PlanPart, SummaryForm } from './plan.ts';
import type { TranscriptLimits } from '../policy/policy.ts';
import { kindRead, sequenceRead } from './summary-sizes.ts';
import type { EntriesRead } from './summary-sizes.ts';
import { headingList, PREVIOUS_SHARE, summaryRequestLimit } from '../summary/summary-request.ts';
import { resolveAmount } from '../policy/budget.ts';
import type { PlanningState } from './planning-state.ts';

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

/** With how a transcript shows the kinds. */
interface SizedEntries extends EntriesRead {
  readonly limits: TranscriptLimits;
}

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
    /** Sequence of the message that opened the turn which the cut splits; `null` when it falls between turns. */
    readonly turnStart: number | null;
    /** Longest answer of the last part, tokens. */
    readonly maximumOutput: number;
    /** The same for the beginning of a split turn that is a part of its own. */
    readonly turnPrefixOutput: number;
    /** The same for all of it together. */
    readonly summaryLimit: number;
  },
): PlanPart[] | null {
  if (form === 'extractive_summary') {
    const all: Stretch = { kind: 'history', from: 0, to: plan.read.positions.length };
    // Written by the program, so no window limits what it reads.
    return [readingPart(plan.read, all, { number: 1, inputTokens: 0, maximumOutput: plan.summaryLimit })];
  }
  const maximumOutput = Math.max(1, Math.floor(plan.maximumOutput));
  const { table, positions, tokens } = plan.read;
  // An object that is spread gets a hidden class of its own each time, and compiled code is thrown away.
  const sized: SizedEntries = { table, positions, tokens, limits: input.policy.summary.transcript };
  const stretches = splitStretches(plan.read, plan.turnStart);
  const frame: RequestFrame = {
    limit: Math.floor(summaryRequestLimit(input.summarizer, maximumOutput) * shareOf(form)),
    overhead: requestOverhead(input),
    previousTokens: input.summary === null ? 0 : calibratedTokens(input.summary.measurements, input.calibration),
    maximumOutput,
  };
  if (input.policy.summary.splitTurn === 'separate') {
    const turnPrefixOutput = Math.max(1, Math.floor(plan.turnPrefixOutput));
    const parts = separateParts(sized, stretches, { ...frame, turnPrefixOutput });
    return fitsAll(parts, frame) ? parts : partsWithMerge(sized, stretches, frame);
  }
  const all = { from: 0, to: plan.read.positions.length };
  const inputTokens = frame.overhead + frame.previousTokens + sumTokens(sized, all);
  if (inputTokens > frame.limit) return partsWithMerge(sized, stretches, frame);
  const kind = stretches.length === 1 ? (stretches[0]?.kind ?? 'history') : 'history';
  return [readingPart(sized, { kind, ...all }, { number: 1, inputTokens, maximumOutput })];
}

/** What a summary request holds besides the transcript. Tokens. */
interface RequestFrame {
  readonly limit: number;
  readonly overhead: number;
  readonly previousTokens: number;
  readonly maximumOutput: number;
}

/** One part for the history, which updates the previous summary, and one for the beginning of the split turn; both at once (seeds/pi.md). */
function separateParts(
  sized: SizedEntries,
  stretches: readonly Stretch[],
  frame: RequestFrame & { readonly turnPrefixOutput: number },
): PlanPart[] {
  return stretches.map((stretch, index) => {
    const isHistory = stretch.kind === 'history';
    const previous = isHistory ? frame.previousTokens : 0;
    const inputTokens = frame.overhead + previous + sumTokens(sized, stretch);
    const maximumOutput = isHistory ? frame.maximumOutput : frame.turnPrefixOutput;
    return readingPart(sized, stretch, { number: index + 1, inputTokens, maximumOutput });
  });
}

function fitsAll(parts: readonly PlanPart[], { limit }: RequestFrame): boolean {
  return parts.every((part) => part.inputTokens <= limit);
}

function partsWithMerge(sized: SizedEntries, stretches: readonly Stretch[], frame: RequestFrame): PlanPart[] | null {
  const room = Math.max(1, frame.limit - frame.overhead);
  const packed = packAll(sized, stretches, room);
  if (packed === null) return null;
  const forTexts = Math.max(0, room - Math.min(frame.previousTokens, room * PREVIOUS_SHARE));
  const maximumOutput = Math.max(
    Math.min(PART_OUTPUT_MINIMUM, frame.maximumOutput),
    Math.floor(Math.min(frame.maximumOutput, forTexts / packed.length)),
  );
  const parts = packed.map((stretch, index) => {
    const inputTokens = Math.min(frame.limit, frame.overhead + sumTokens(sized, stretch));
    return readingPart(sized, stretch, { number: index + 1, inputTokens, maximumOutput });
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

/** As many parts as the summarizer's window asks for; `null` when those are too many. */
function packAll(sized: SizedEntries, stretches: readonly Stretch[], room: number): Stretch[] | null {
  const packed = stretches.flatMap((stretch) => packStretch(sized, stretch, room));
  return packed.length < PARTS_MAXIMUM ? packed : null;
}

function splitStretches(read: EntriesRead, turnStart: number | null): Stretch[] {
  const to = read.positions.length;
  const border =
    turnStart === null ? -1 : read.positions.findIndex((_, place) => sequenceRead(read, place) >= turnStart);
  if (border === -1) return [{ kind: 'history', from: 0, to }];
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
function packStretch(sized: SizedEntries, stretch: Stretch, size: number): Stretch[] {
  const packed: Stretch[] = [];
  let open = stretch.from;
  let tokens = 0;
  const add = (from: number, to: number): void => {
    const added = sumTokens(sized, { from, to });
    if (added > size && to - from > 1) {
      for (let index = from; index < to; index += 1) add(index, index + 1);
      return;
    }
    if (from > open && tokens + added > size) {
      packed.push({ kind: stretch.kind, from: open, to: from });
      open = from;
      tokens = 0;
    }
    if (added > size && isReadWhole(sized, from)) {
      const of = Math.ceil(added / (size * PIECE_SHARE));
      for (let number = 1; number <= of; number += 1) {
        packed.push({ kind: stretch.kind, from, to, piece: { number, of } });
      }
      open = to;
      return;
    }
    tokens += added;
  };
  for (let from = stretch.from; from < stretch.to;) {
    const to = groupEnd(sized, from, stretch.to);
    add(from, to);
    from = to;
  }
  if (open < stretch.to) packed.push({ kind: stretch.kind, from: open, to: stretch.to });
  return packed;
}

function isReadWhole(sized: SizedEntries, place: number): boolean {
  const { limits } = sized;
  if (limits.total !== null) return false;
  switch (kindRead(sized, place)) {
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
  const fromSequence = sequenceRead(read, from);
  const toSequence = sequenceRead(read, to - 1);
  const inputTokens = Math.ceil(of.inputTokens);
  return { ...of, wave: 1, kind, fromSequence, toSequence, inputTokens, ...(piece !== undefined && { piece }) };
}

function sumTokens({ tokens }: SizedEntries, { from, to, piece }: Omit<Stretch, 'kind'>): number {
  let sum = 0;
  for (let index = from; index < to; index += 1) sum += tokens[index] ?? 0;
  return sum / (piece?.of ?? 1);
}

/** Prompt, sections and quoted instructions, counted with the longest of the prompts. */
function requestOverhead(input: PlanInput): number {
  const { prompts, sections, turnPrefixSections, question } = input.policy.summary;
  const { history, update, turnPrefix, merge } = prompts;
  const tokens = (text: string): number => rawTokens(measureText(text));
  const asked = [history, update, turnPrefix, merge].map((prompt) => (prompt === null ? 0 : tokens(prompt.text)));
  const headings = [sections, turnPrefixSections ?? []].map((each) => tokens(headingList(each)));
  const fixed = tokens(`${prompts.system.text}\n\n${question ?? ''}`);
  return (fixed + Math.max(...asked) + Math.max(...headings)) * input.calibration.factor + QUOTED_TOKENS;
}

/**
 * The parts of a plan, behind a small one for the memory when next to nothing is left of the window:
 * it is durable before anything is taken out of the view (C17).
 */
export function flushPart(state: PlanningState, parts: readonly PlanPart[]): readonly PlanPart[] {
  const flush = state.input.policy.summary.flush;
  const { table } = state;
  const isNoNote = (position: number): boolean => table.kindAt(position) !== 'note';
  const newest = state.arrangement.kept.findLast(isNoNote);
  const oldest = state.arrangement.kept.find(isNoNote);
  if (flush === null || newest === undefined || oldest === undefined || !isFlushDue(state)) return parts;
  const { summarizer } = state.input;
  const limit = summaryRequestLimit(summarizer, flush.maximumOutput);
  const part: PlanPart = {
    number: 1,
    wave: 1,
    kind: 'flush',
    fromSequence: table.sequenceAt(oldest),
    toSequence: table.sequenceAt(newest),
    inputTokens: Math.ceil(Math.min(limit, state.tokens)),
    maximumOutput: flush.maximumOutput,
  };
  return [part, ...parts.map((other) => ({ ...other, number: other.number + 1, wave: other.wave + 1 }))];
}

function isFlushDue(state: PlanningState): boolean {
  const { policy, budget, flushed } = state.input;
  const { flush } = policy.summary;
  if (flush === null || state.entriesInView < flush.minimumMessages) return false;
  if (budget.window - state.tokens >= resolveAmount(flush.slack, budget)) return false;
  if (flushed === undefined) return true;
  return flushed.millisecondsAgo >= flush.cooldown && state.tokens - flushed.tokens >= flush.minimumGrowth;
}
