import { z } from 'zod';
import { characterCount, showsMedia } from '../../log/measurements.ts';
import { calibratedTokens } from '../../log/estimate.ts';
import { clearOperation, clipOperation } from '../../log/operations.ts';
import { resolveAmount } from '../../policy/budget.ts';
import { amount, characters, count, fraction, object, toolNames } from '../../policy/policy-parts.ts';
import type { Operation } from '../plan.ts';
import { isUnseen } from '../planning-state.ts';
import type { Draft, PlanningState } from '../planning-state.ts';

/** Replaces media of tool results by a marker, except the newest and those that no request has carried yet. */
const stripImagesReducer = reducer({
  name: 'strip_images',
  options: object({ keepNewest: count.meta({ description: 'Newest images that stay.', unit: 'images' }) }),
  apply: (draft, { keepNewest }) => stripImages(draft, keepNewest),
});

/** At once, so that the provider's cache breaks once. What users showed stays. */
export function stripImages(draft: Draft, keepNewest: number): void {
  const { state } = draft;
  let newest = 0;
  for (const position of state.arrangement.kept.toReversed()) {
    if (state.table.kindAt(position) !== 'tool_result' || isUnseen(state, position)) continue;
    const shown = draft.measurementsOf(position);
    if (!showsMedia(shown)) continue;
    newest += Math.max(shown.images, 1);
    if (newest > keepNewest) draft.strip(position);
  }
}

const clearing = object({
  protect: amount('Newest tool output that stays.'),
  minimum: amount('Nothing is cleared unless this much is won.'),
  protectedTools: toolNames.default([]).meta({ description: 'Tools whose results stay.' }),
  protectTurns: count.default(0).meta({ description: 'Newest turns whose results stay.', unit: 'user messages' }),
});

const clearToolResultsReducer = reducer({ name: 'clear_tool_results', options: clearing, apply: clearToolResults });

/**
 * Old results of successful calls beyond the protected amount become placeholders, oldest first, if
 * that wins enough. What lies behind a cleared result was looked at when that one was cleared.
 */
function clearToolResults(draft: Draft, given: z.output<typeof clearing>, goal: number): void {
  const { state } = draft;
  const { budget, policy } = state.input;
  const protect = resolveAmount(given.protect, budget);
  const newestTurns = turnsFrom(state, given.protectTurns);
  const candidates: number[] = [];
  let newest = 0;
  let won = 0;
  for (const position of state.arrangement.kept.toReversed()) {
    const { kind, toolName = '', isError } = state.table.at(position);
    if (kind !== 'tool_result' || position > newestTurns) continue;
    if (given.protectedTools.includes(toolName) || isError === true) continue;
    if (draft.operationOn(position)?.kind === 'clear') break;
    const shown = Math.ceil(draft.countedTokens(position));
    newest += shown;
    if (newest <= protect || isUnseen(state, position)) continue;
    won += shown;
    candidates.push(position);
  }
  if (won <= resolveAmount(given.minimum, budget)) return;
  for (const position of candidates.reverse()) {
    if (policy.target !== null && draft.tokens <= goal) return;
    draft.change(position, clearOperation(state.table.at(position), policy.placeholders?.clear));
  }
}

/** Position of the user message that began the given number of newest turns; `Infinity` for none, -1 when there are not as many. */
function turnsFrom({ table, arrangement: { olderUserMessages, kept } }: PlanningState, turns: number): number {
  if (turns === 0) return Infinity;
  const users = [...olderUserMessages, ...kept].filter((position) => table.kindAt(position) === 'user');
  return users.at(-turns) ?? -1;
}

/** Shortens every tool result beyond a limit: head and tail, or the first items of an array, at about the limit's size. */
const capToolResultsReducer = reducer({
  name: 'cap_tool_results',
  options: object({
    limit: amount('Longest tool result that stays whole.'),
    documentLimit: amount('The same for results of `documentTools`.'),
    documentTools: toolNames.default([]).meta({ description: 'Tools that read documents.' }),
    arrayItems: z
      .number()
      .int()
      .positive()
      .meta({ description: 'First items that stay of a result that is a JSON array.', unit: 'items' }),
  }),
  always: true,
  apply: (draft, { limit, documentLimit, documentTools, arrayItems }) => {
    const { state } = draft;
    const { budget } = state.input;
    const [ofDocuments, ofOthers] = [resolveAmount(documentLimit, budget), resolveAmount(limit, budget)];
    for (const position of state.arrangement.kept) {
      const { kind, toolName = '' } = state.table.at(position);
      if (kind !== 'tool_result') continue;
      const level = documentTools.includes(toolName) ? ofDocuments : ofOthers;
      if (draft.tokensOf(position) <= level) continue;
      if (draft.operationOn(position)?.kind === 'clear') continue;
      const operation = clipTo(state, {
        position,
        level,
        keepMedia: showsMedia(draft.measurementsOf(position)),
      });
      draft.change(position, { ...operation, arrayItems });
    }
  },
});

/** Below this a clip's label costs more than it wins (seeds/wolffish.md's code). Characters. */
const WORTH_CLIPPING = 200;

const clippedKind = z.enum(['tool_result', 'assistant', 'user']);

const clipping = object({
  of: z.array(clippedKind).readonly().meta({
    description:
      'Kinds of contents to clip, in this order. Of tool results the largest go first, of the others the oldest.',
  }),
  headFraction: fraction.meta({ description: 'Part of a content kept at its start.', unit: '0 to 1' }),
  headLimit: characters.meta({ description: 'Most that is kept at the start.', unit: 'characters' }),
  tailFraction: fraction.meta({ description: 'Part of a content kept at its end.', unit: '0 to 1' }),
  tailLimit: characters.meta({ description: 'Most that is kept at the end.', unit: 'characters' }),
  minimumCharacters: characters.meta({ description: 'Shorter contents stay whole.', unit: 'characters' }),
  protectNewest: count.meta({ description: 'Newest entries of each role that stay whole.', unit: 'entries' }),
  protectedTools: toolNames.default([]).meta({ description: 'Tools whose results stay whole.' }),
  protectFirstUserMessage: z.boolean().default(false).meta({ description: 'The first user message stays whole.' }),
  unseen: z.boolean().default(false).meta({
    description: 'Whether the reducer may clip contents that no request has held yet. A summary must cover them.',
  }),
  expectedRetention: fraction.nullable().default(null).meta({
    description:
      'Share of a content that is assumed to stay while Holdfast chooses what to clip. `null`: what head and tail keep.',
    unit: '0 to 1',
  }),
});

type ClipOptions = z.output<typeof clipping>;

/** Keeps head and tail of large contents, until the view, or what the policy expects of it, is down to the goal. */
const clipReducer = reducer({
  name: 'clip',
  options: clipping,
  apply: (draft, given, goal) => {
    const { expectedRetention } = given;
    const { table } = draft.state;
    let expected = draft.tokens;
    for (const position of given.of.flatMap((kind) => clipCandidates(draft, given, kind))) {
      if ((expectedRetention === null ? draft.tokens : expected) <= goal) return;
      const size = characterCount(table.at(position).measurements);
      const head = Math.floor(Math.min(size * given.headFraction, given.headLimit));
      const tail = Math.floor(Math.min(size * given.tailFraction, given.tailLimit));
      if (size <= head + tail + WORTH_CLIPPING) continue;
      const keepMedia = draft.measurementsOf(position).images > 0;
      const before = draft.tokensOf(position);
      const operation = clipOperation(table.at(position), { head, tail, keepMedia });
      if (!draft.change(position, operation)) continue;
      expected -= before * (1 - (expectedRetention ?? 0));
    }
  },
});

function clipCandidates(draft: Draft, given: ClipOptions, kind: z.output<typeof clippedKind>): number[] {
  const { table, arrangement } = draft.state;
  const ofKind = arrangement.kept.filter((position) => table.kindAt(position) === kind);
  const older = ofKind.slice(0, Math.max(0, ofKind.length - given.protectNewest));
  const candidates = older.filter((position) => isClippable(draft, position, given));
  if (kind !== 'tool_result') return candidates;
  const sizeOf = (position: number): number => characterCount(table.at(position).measurements);
  return candidates.sort((left, right) => sizeOf(right) - sizeOf(left));
}

function isClippable(draft: Draft, position: number, given: ClipOptions): boolean {
  const { state } = draft;
  const { toolName = '', isError, measurements } = state.table.at(position);
  if (!given.unseen && isUnseen(state, position)) return false;
  if (characterCount(measurements) < given.minimumCharacters) return false;
  if (given.protectFirstUserMessage && position === state.firstUserMessage) return false;
  // What went wrong is seldom said twice (W12).
  if (isError === true || given.protectedTools.includes(toolName)) return false;
  const inForce = draft.operationOn(position)?.kind;
  return inForce === undefined || inForce === 'strip';
}

export const BUILT_IN_REDUCERS = {
  strip_images: stripImagesReducer,
  clear_tool_results: clearToolResultsReducer,
  cap_tool_results: capToolResultsReducer,
  clip: clipReducer,
};

export const BUILT_IN_REGISTRY: Reducers = new Map(Object.entries(BUILT_IN_REDUCERS));

/** A clip below this is no longer worth reading: half of it is the label. Tokens. */
export const SMALLEST_CLIP = 100;
/** What rounding the measurements of a clip may add, and the digits of its counts. Tokens. */
const ROUNDING = 12;
const TAIL_SHARE = 0.4;
/** Of little that is kept, the end counts most: in the last line a tool says how to read on. Characters. */
const LAST_LINE = 120;

export function clipTo(
  state: PlanningState,
  input: { position: number; level: number; keepMedia: boolean },
): Operation {
  const { position, level, keepMedia } = input;
  const { calibration } = state.input;
  const entry = state.table.at(position);
  const empty = calibratedTokens(clipOperation(entry, { head: 0, tail: 0, keepMedia }).measurements, calibration);
  const text = { ...entry.measurements, images: 0, imagePatches: 0, documentPages: 0, frames: 0 };
  const perCharacter = calibratedTokens(text, calibration) / Math.max(1, characterCount(entry.measurements));
  const forText = Math.max(SMALLEST_CLIP / 2, level - empty - ROUNDING);
  const kept = perCharacter === 0 ? 0 : Math.floor(forText / perCharacter);
  const tail = Math.min(kept, Math.max(Math.floor(kept * TAIL_SHARE), LAST_LINE));
  return clipOperation(entry, { head: kept - tail, tail, keepMedia });
}

/** Makes the view smaller without a model: changes how kept entries are shown, and loses nothing. */
export interface Reducer<Options extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly options: Options;
  /** Applied also where entries are dropped for a summary, however much the compaction has still to win. Default: false. */
  readonly always?: boolean;
  /** Changes the draft until it is down to `goal` tokens. */
  apply(draft: Draft, options: z.output<Options>, goal: number): void;
}

export type Reducers = ReadonlyMap<string, Reducer>;

export function reducer<Options extends z.ZodType>(definition: Reducer<Options>): Reducer<Options> {
  return definition;
}
