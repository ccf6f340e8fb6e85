import type { EntryOutline } from './entry.ts';
import { rawTokens } from './estimate.ts';
import { measureText } from './measure.ts';
import type { PlanInput, PlanPart } from './plan.ts';
import { PREVIOUS_SHARE, summaryRequestLimit } from './summary-request.ts';

/** Frame and placeholders of one entry in a transcript, tokens. */
const ENTRY_FRAME_TOKENS = 20;
/** The quoted instructions of the agent, a focus, and the fixed sentences of a request, tokens. */
const QUOTED_TOKENS = 1_000;
/** Parts of a plan at most: what crosses Temporal is bounded. Beyond it, transcripts are shortened. */
const PARTS_MAXIMUM = 48;
/** A part's summary is at least this long, tokens. */
const PART_OUTPUT_MINIMUM = 128;

interface SizedEntry {
  readonly sequence: number;
  readonly turnId: string;
  readonly isResult: boolean;
  /** Of the original as a transcript shows it. */
  readonly tokens: number;
}

interface Stretch {
  readonly kind: 'history' | 'turn_prefix';
  readonly entries: readonly SizedEntry[];
}

/** The one part of an extractive summary: written by the program, so no window limits what it reads. */
export function extractivePart(dropped: readonly EntryOutline[], maximumOutput: number): PlanPart[] {
  const fromSequence = dropped[0]?.sequence ?? 0;
  const toSequence = dropped.at(-1)?.sequence ?? 0;
  return [{ number: 1, wave: 1, kind: 'history', fromSequence, toSequence, inputTokens: 0, maximumOutput }];
}

/**
 * The calls of the summarizing model: one part when all originals fit into one request, otherwise
 * parts that run in parallel and a merge; the beginning of a split turn is then a part of its own.
 * No part is ever larger than the summarizer's window allows (R8, R9).
 */
export function summaryParts(
  input: PlanInput,
  plan: {
    /** Entries that no summary covers yet and the cut drops, oldest first. */
    readonly dropped: readonly EntryOutline[];
    /** Turn that the cut splits; `null` when it falls between turns. */
    readonly splitTurnId: string | null;
    /** Longest answer of the last part, tokens. */
    readonly maximumOutput: number;
  },
): PlanPart[] {
  const sized = plan.dropped.map((entry) => sizedEntry(input, entry));
  const stretches = splitStretches(sized, plan.splitTurnId);
  const frame: RequestFrame = {
    limit: summaryRequestLimit(input.summarizer, plan.maximumOutput),
    overhead: requestOverhead(input),
    previousTokens: input.summary === null ? 0 : rawTokens(input.summary.measurements) * input.calibration.factor,
    maximumOutput: plan.maximumOutput,
  };
  const mayBeOne = stretches.length === 1 || input.policy.summary.splitTurn === 'together';
  const inputTokens = frame.overhead + frame.previousTokens + sumTokens(sized);
  if (!mayBeOne || inputTokens > frame.limit) return partsWithMerge(stretches, frame);
  const kind = stretches.length === 1 ? (stretches[0]?.kind ?? 'history') : 'history';
  const { maximumOutput } = plan;
  return [readingPart({ kind, entries: sized }, { number: 1, inputTokens, maximumOutput })];
}

/** What a summary request holds besides the transcript. Tokens. */
interface RequestFrame {
  readonly limit: number;
  readonly overhead: number;
  readonly previousTokens: number;
  readonly maximumOutput: number;
}

function partsWithMerge(stretches: readonly Stretch[], frame: RequestFrame): PlanPart[] {
  const room = Math.max(1, frame.limit - frame.overhead);
  const packed = packAll(stretches, room);
  const forTexts = Math.max(0, room - Math.min(frame.previousTokens, room * PREVIOUS_SHARE));
  const maximumOutput = Math.max(
    Math.min(PART_OUTPUT_MINIMUM, frame.maximumOutput),
    Math.floor(Math.min(frame.maximumOutput, forTexts / packed.length)),
  );
  const parts = packed.map((stretch, index) => {
    const inputTokens = Math.min(frame.limit, frame.overhead + sumTokens(stretch.entries));
    return readingPart(stretch, { number: index + 1, inputTokens, maximumOutput });
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

/** As many parts as the summarizer's window asks for; when those are too many, larger ones that are shortened when read. */
function packAll(stretches: readonly Stretch[], room: number): Stretch[] {
  for (let size = room; ; size *= 1.5) {
    const packed = stretches.flatMap((stretch) => packStretch(stretch, size));
    if (packed.length < PARTS_MAXIMUM || packed.length === stretches.length) return packed;
  }
}

function splitStretches(dropped: readonly SizedEntry[], splitTurnId: string | null): Stretch[] {
  const border = splitTurnId === null ? -1 : dropped.findIndex((entry) => entry.turnId === splitTurnId);
  if (border === -1) return [{ kind: 'history', entries: dropped }];
  const stretches: Stretch[] = [
    { kind: 'history', entries: dropped.slice(0, border) },
    { kind: 'turn_prefix', entries: dropped.slice(border) },
  ];
  return stretches.filter((stretch) => stretch.entries.length > 0);
}

/**
 * Consecutive groups of at most `size` tokens, so that a part sees each call with its results. A
 * larger group is taken apart; a larger single entry stands alone and is shortened when read.
 */
function packStretch(stretch: Stretch, size: number): Stretch[] {
  const packed: SizedEntry[][] = [];
  let open: SizedEntry[] = [];
  let tokens = 0;
  const add = (entries: readonly SizedEntry[]): void => {
    const added = sumTokens(entries);
    if (added > size && entries.length > 1) {
      for (const entry of entries) add([entry]);
      return;
    }
    if (open.length > 0 && tokens + added > size) {
      packed.push(open);
      open = [];
      tokens = 0;
    }
    open.push(...entries);
    tokens += added;
  };
  for (const group of groupsInOrder(stretch.entries)) add(group);
  if (open.length > 0) packed.push(open);
  return packed.map((entries) => ({ kind: stretch.kind, entries }));
}

/** Entries up to the next group border, in order of arrival: parts are ranges of sequences. */
function groupsInOrder(entries: readonly SizedEntry[]): SizedEntry[][] {
  const groups: SizedEntry[][] = [];
  for (const entry of entries) {
    const open = groups.at(-1);
    if (entry.isResult && open !== undefined) open.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

function readingPart(
  { kind, entries }: Stretch,
  of: { readonly number: number; readonly inputTokens: number; readonly maximumOutput: number },
): PlanPart {
  const fromSequence = entries[0]?.sequence ?? 0;
  const toSequence = entries.at(-1)?.sequence ?? 0;
  return { ...of, wave: 1, kind, fromSequence, toSequence, inputTokens: Math.ceil(of.inputTokens) };
}

function sumTokens(entries: readonly SizedEntry[]): number {
  let sum = 0;
  for (const entry of entries) sum += entry.tokens;
  return sum;
}

/** An original as a transcript shows it: media are one line each. */
function sizedEntry(input: PlanInput, { sequence, turnId, kind, measurements }: EntryOutline): SizedEntry {
  const hasMedia = measurements.images > 0 || measurements.documentPages > 0;
  const read = hasMedia ? { ...measurements, images: 0, imagePatches: 0, documentPages: 0 } : measurements;
  const tokens = rawTokens(read) * input.calibration.factor + ENTRY_FRAME_TOKENS * (1 + measurements.images);
  return { sequence, turnId, isResult: kind === 'tool_result', tokens };
}

/** Prompt, sections and quoted instructions, counted with the longest of the three prompts. */
function requestOverhead(input: PlanInput): number {
  const { prompts, sections } = input.policy.summary;
  const asked = [prompts.history, prompts.turnPrefix, prompts.merge].map((prompt) =>
    rawTokens(measureText(prompt.text)),
  );
  const headings = sections.map((section) => `## ${section.title}\n${section.instruction}`).join('\n\n');
  const fixed = rawTokens(measureText(`${prompts.system.text}\n\n${headings}`));
  return (fixed + Math.max(...asked)) * input.calibration.factor + QUOTED_TOKENS;
}
