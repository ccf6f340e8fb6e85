import type { EntryOutline } from './entry.ts';
import { rawTokens } from './estimate.ts';
import { measureText } from './measure.ts';
import type { PlanInput, PlanPart } from './plan.ts';
import { summaryRequestLimit } from './summary-request.ts';

/** Frame and placeholders of one entry in a transcript, tokens. */
const ENTRY_FRAME_TOKENS = 20;
/** The quoted instructions of the agent, a focus, and the fixed sentences of a request, tokens. */
const QUOTED_TOKENS = 1_000;
/** Parts of a plan at most: what crosses Temporal is bounded. Beyond it, transcripts are shortened. */
const PARTS_MAXIMUM = 48;
/** A part's summary is at least this long, tokens. */
const PART_OUTPUT_MINIMUM = 128;

/** The one part of an extractive summary: written by the program, so no window limits what it reads. */
export function extractivePart(dropped: readonly EntryOutline[], maximumOutput: number): PlanPart[] {
  return [part({ number: 1, wave: 1, stretch: { kind: 'history', entries: dropped }, inputTokens: 0, maximumOutput })];
}

interface Stretch {
  readonly kind: 'history' | 'turn_prefix';
  readonly entries: readonly EntryOutline[];
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
  const previousTokens = input.summary === null ? 0 : tokensOf(input, input.summary.measurements);
  const stretches = splitStretches(plan.dropped, plan.splitTurnId);
  const overhead = requestOverhead(input);
  const limit = summaryRequestLimit(input.summarizer, plan.maximumOutput);
  const single =
    stretches.length === 1 || input.policy.summary.splitTurn === 'together' ? whole(plan.dropped, stretches) : null;
  if (single !== null) {
    const tokens = overhead + previousTokens + transcriptTokens(input, single.entries);
    if (tokens <= limit) {
      return [part({ number: 1, wave: 1, stretch: single, inputTokens: tokens, maximumOutput: plan.maximumOutput })];
    }
  }
  return partsWithMerge(input, { stretches, overhead, limit, previousTokens, maximumOutput: plan.maximumOutput });
}

/** All that is dropped as one stretch. */
function whole(dropped: readonly EntryOutline[], [first, ...others]: readonly Stretch[]): Stretch {
  return { kind: others.length === 0 && first !== undefined ? first.kind : 'history', entries: dropped };
}

function partsWithMerge(
  input: PlanInput,
  plan: {
    stretches: readonly Stretch[];
    overhead: number;
    limit: number;
    previousTokens: number;
    maximumOutput: number;
  },
): PlanPart[] {
  const room = Math.max(1, plan.limit - plan.overhead);
  const all = plan.stretches.reduce((sum, stretch) => sum + transcriptTokens(input, stretch.entries), 0);
  const size = Math.max(room, all / (PARTS_MAXIMUM - plan.stretches.length));
  const packed = plan.stretches.flatMap((stretch) => packStretch(input, stretch, size));
  const forTexts = Math.max(0, room - Math.min(plan.previousTokens, room * 0.4));
  const maximumOutput = Math.max(
    Math.min(PART_OUTPUT_MINIMUM, plan.maximumOutput),
    Math.floor(Math.min(plan.maximumOutput, forTexts / packed.length)),
  );
  const parts = packed.map((stretch, index) =>
    part({
      number: index + 1,
      wave: 1,
      stretch,
      inputTokens: Math.min(plan.limit, plan.overhead + transcriptTokens(input, stretch.entries)),
      maximumOutput,
    }),
  );
  const mergeTokens = plan.overhead + plan.previousTokens + parts.length * maximumOutput;
  const merge: PlanPart = {
    number: parts.length + 1,
    wave: 2,
    kind: 'merge',
    inputTokens: Math.ceil(Math.min(plan.limit, mergeTokens)),
    maximumOutput: plan.maximumOutput,
  };
  return [...parts, merge];
}

function splitStretches(dropped: readonly EntryOutline[], splitTurnId: string | null): Stretch[] {
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
function packStretch(input: PlanInput, stretch: Stretch, size: number): Stretch[] {
  const packed: EntryOutline[][] = [];
  let open: EntryOutline[] = [];
  let tokens = 0;
  const add = (entries: readonly EntryOutline[]): void => {
    const added = transcriptTokens(input, entries);
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
function groupsInOrder(entries: readonly EntryOutline[]): EntryOutline[][] {
  const groups: EntryOutline[][] = [];
  for (const entry of entries) {
    const open = groups.at(-1);
    if (entry.kind === 'tool_result' && open !== undefined) open.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

function part(of: {
  number: number;
  wave: number;
  stretch: Stretch;
  inputTokens: number;
  maximumOutput: number;
}): PlanPart {
  const first = of.stretch.entries[0];
  const last = of.stretch.entries.at(-1);
  return {
    number: of.number,
    wave: of.wave,
    kind: of.stretch.kind,
    ...(first === undefined || last === undefined ? {} : { fromSequence: first.sequence, toSequence: last.sequence }),
    inputTokens: Math.ceil(of.inputTokens),
    maximumOutput: of.maximumOutput,
  };
}

function tokensOf(input: PlanInput, measurements: EntryOutline['measurements']): number {
  return rawTokens(measurements) * input.calibration.factor;
}

/** Originals as a transcript shows them: media are one line each. */
function transcriptTokens(input: PlanInput, entries: readonly EntryOutline[]): number {
  let tokens = 0;
  for (const { measurements } of entries) {
    const media = measurements.images + measurements.documentPages;
    const read = media === 0 ? measurements : { ...measurements, images: 0, imagePatches: 0, documentPages: 0 };
    tokens += tokensOf(input, read) + ENTRY_FRAME_TOKENS * (1 + measurements.images);
  }
  return tokens;
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
