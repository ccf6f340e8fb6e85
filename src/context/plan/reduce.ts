import { resolveAmount } from '../policy/budget.ts';
import { clipTo } from './clip-to-size.ts';
import type { NoteSlot } from '../log/entry.ts';
import { clearOperation, clipOperation, stripOperation } from '../log/operations.ts';
import {
  countedTokens,
  isFinished,
  isUnseen,
  operationOn,
  shownMeasurements,
  shownTokens,
  tryOperation,
} from './planning-state.ts';
import type { Draft, PlanningState } from './planning-state.ts';
import type { Operation } from './plan.ts';
import type { ClippedKind, Reducer, TokenAmount } from '../policy/policy.ts';

/** Below this a clip's label costs more than it wins (seeds/wolffish.md's code). Characters. */
const WORTH_CLIPPING = 200;

/**
 * Applies the policy's reducers in order until the view is down to `goal` tokens. They need no
 * model, touch only what some request has carried already, and lose nothing: each placeholder names
 * its original.
 */
export function reduce(state: PlanningState, draft: Draft, goal: number): void {
  clearSupersededNotes(state, draft, state.notes);
  applyReducers(state, draft, goal);
}

/** The same without the notes. */
export function applyReducers(state: PlanningState, draft: Draft, goal: number): void {
  for (const reducer of state.input.policy.reduce) {
    if (isFinished(draft, goal)) return;
    applyReducer(state, draft, reducer, goal);
  }
}

function applyReducer(state: PlanningState, draft: Draft, reducer: Reducer, goal: number): void {
  switch (reducer.kind) {
    case 'strip_images':
      stripImages(state, draft, reducer.keepNewest);
      return;
    case 'clear_tool_results':
      clearToolResults(state, draft, reducer, goal);
      return;
    case 'cap_tool_results':
      capToolResults(state, draft, reducer);
      return;
    case 'clip':
      clipByKind(state, draft, reducer, goal);
      return;
  }
}

/** A note that a newer one of its slot has replaced says nothing any more; the pass itself may append a continuation. */
export function clearSupersededNotes(state: PlanningState, draft: Draft, notes: readonly number[]): void {
  const seen = new Set<NoteSlot>(state.continuation ? ['continuation'] : []);
  for (const note of notes.toReversed()) {
    const slot = state.table.slotAt(note);
    if (slot === undefined) continue;
    if (seen.has(slot)) tryOperation(state, draft, note, clearOperation(state.table.at(note)));
    seen.add(slot);
  }
}

/** Replaces all media but the newest by markers; at once, so that the provider's cache breaks once. */
export function stripImages(state: PlanningState, draft: Draft, keepNewest: number): void {
  const { table } = state;
  const { kept } = state.arrangement;
  let newest = 0;
  for (let place = kept.length - 1; place >= 0; place -= 1) {
    const position = kept[place] ?? 0;
    if (!table.showsMediaAt(position) || isUnseen(state, position)) continue;
    const { images, documentPages } = shownMeasurements(state, draft, position);
    if (images === 0 && documentPages === 0) continue;
    newest += Math.max(images, 1);
    if (newest > keepNewest) tryOperation(state, draft, position, withoutMedia(state, draft, position));
  }
}

/** Whether the entry's media are still shown. */
export function showsMedia(state: PlanningState, draft: Draft, position: number): boolean {
  if (!state.table.showsMediaAt(position)) return false;
  const { images, documentPages } = shownMeasurements(state, draft, position);
  return images > 0 || documentPages > 0;
}

/** A strip; of an entry that is clipped already, the same clip without its media. */
export function withoutMedia(state: PlanningState, draft: Draft, position: number): Operation {
  const entry = state.table.at(position);
  const inForce = operationOn(state, draft, position);
  if (inForce?.kind !== 'clip') return stripOperation(entry);
  return clipOperation(entry, { head: inForce.headCharacters ?? 0, tail: inForce.tailCharacters ?? 0 });
}

function amount(state: PlanningState, value: TokenAmount): number {
  return resolveAmount(value, state.input.budget);
}

/**
 * Old results of successful calls beyond the protected amount become placeholders, oldest first, if
 * that wins enough. What lies behind a cleared result was looked at when that one was cleared.
 */
function clearToolResults(
  state: PlanningState,
  draft: Draft,
  reducer: Extract<Reducer, { kind: 'clear_tool_results' }>,
  goal: number,
): void {
  const { table } = state;
  const { kept } = state.arrangement;
  const protect = amount(state, reducer.protect);
  const newestTurns = turnsFrom(state, reducer.protectTurns);
  const candidates: number[] = [];
  let newest = 0;
  let won = 0;
  for (let place = kept.length - 1; place >= 0; place -= 1) {
    const position = kept[place] ?? 0;
    if (table.kindAt(position) !== 'tool_result' || position > newestTurns) continue;
    if (reducer.protectedTools.includes(table.toolNameAt(position)) || table.isErrorAt(position)) continue;
    if (operationOn(state, draft, position)?.kind === 'clear') break;
    const shown = Math.ceil(countedTokens(state, draft, position));
    newest += shown;
    if (newest <= protect || isUnseen(state, position)) continue;
    won += shown;
    candidates.push(position);
  }
  if (won <= amount(state, reducer.minimum)) return;
  const hasGoal = state.input.policy.target !== null;
  for (const position of candidates.reverse()) {
    if (isFinished(draft, hasGoal ? goal : -Infinity)) return;
    tryOperation(state, draft, position, clearOperation(table.at(position), reducer.placeholder));
  }
}

/** Position of the user message that began the given number of newest turns; `Infinity` for none, -1 when there are not as many. */
function turnsFrom({ table, arrangement }: PlanningState, turns: number): number {
  if (turns === 0) return Infinity;
  const { olderUserMessages, kept } = arrangement;
  let left = turns;
  for (const positions of [kept, olderUserMessages]) {
    for (let place = positions.length - 1; place >= 0; place -= 1) {
      const position = positions[place] ?? 0;
      if (table.kindAt(position) === 'user') left -= 1;
      if (left === 0) return position;
    }
  }
  return -1;
}

/** Every result beyond its limit keeps head and tail, or the first items of an array, at about the limit's size. */
export function capToolResults(
  state: PlanningState,
  draft: Draft,
  reducer: Extract<Reducer, { kind: 'cap_tool_results' }>,
): void {
  const limits = { limit: amount(state, reducer.limit), document: amount(state, reducer.documentLimit) };
  const { table } = state;
  for (const position of state.arrangement.kept) {
    if (table.kindAt(position) !== 'tool_result') continue;
    const limit = reducer.documentTools.includes(table.toolNameAt(position)) ? limits.document : limits.limit;
    if (shownTokens(state, draft, position) <= limit) continue;
    if (operationOn(state, draft, position)?.kind === 'clear') continue;
    const keepMedia = showsMedia(state, draft, position);
    const operation = clipTo(state, { position, level: limit, keepMedia });
    tryOperation(state, draft, position, { ...operation, arrayItems: reducer.arrayItems });
  }
}

/** Clips until the view, or what the policy expects of it, is down to the goal. */
function clipByKind(
  state: PlanningState,
  draft: Draft,
  reducer: Extract<Reducer, { kind: 'clip' }>,
  goal: number,
): void {
  const { expectedRetention } = reducer;
  let expected = draft.tokens;
  for (const position of candidatesOfKinds(state, draft, reducer)) {
    if (isFinished(draft, goal, expectedRetention === undefined ? draft.tokens : expected)) return;
    const size = state.table.charactersAt(position);
    const head = Math.floor(Math.min(size * reducer.headFraction, reducer.headLimit));
    const tail = Math.floor(Math.min(size * reducer.tailFraction, reducer.tailLimit));
    if (size <= head + tail + WORTH_CLIPPING) continue;
    const keepMedia = shownMeasurements(state, draft, position).images > 0;
    const before = shownTokens(state, draft, position);
    const operation = clipOperation(state.table.at(position), { head, tail, keepMedia });
    if (!tryOperation(state, draft, position, operation)) continue;
    expected -= before * (1 - (expectedRetention ?? 0));
  }
}

/** Kind after kind, each looked for when the one before it is through. */
function* candidatesOfKinds(
  state: PlanningState,
  draft: Draft,
  reducer: Extract<Reducer, { kind: 'clip' }>,
): Generator<number> {
  for (const kind of reducer.of) yield* clipCandidates(state, draft, reducer, kind);
}

/** Tool results largest first, others oldest first. */
function clipCandidates(
  state: PlanningState,
  draft: Draft,
  reducer: Extract<Reducer, { kind: 'clip' }>,
  kind: ClippedKind,
): number[] {
  const { table, arrangement } = state;
  const candidates: number[] = [];
  let ofKind = countOfKind(state, arrangement.kept, kind);
  const { kept } = arrangement;
  for (let place = 0; place < kept.length; place += 1) {
    const position = kept[place] ?? 0;
    if (table.kindAt(position) !== kind) continue;
    if (ofKind > reducer.protectNewest && isClippable(state, draft, position, reducer)) candidates.push(position);
    ofKind -= 1;
  }
  if (kind !== 'tool_result') return candidates;
  return candidates.sort((left, right) => table.charactersAt(right) - table.charactersAt(left));
}

function countOfKind({ table }: PlanningState, positions: Int32Array, kind: ClippedKind): number {
  let count = 0;
  for (let place = 0; place < positions.length; place += 1)
    if (table.kindAt(positions[place] ?? 0) === kind) count += 1;
  return count;
}

function isClippable(
  state: PlanningState,
  draft: Draft,
  position: number,
  reducer: Extract<Reducer, { kind: 'clip' }>,
): boolean {
  const { table } = state;
  if (reducer.unseen !== true && isUnseen(state, position)) return false;
  if (table.charactersAt(position) < reducer.minimumCharacters) return false;
  if (reducer.protectFirstUserMessage === true && position === state.firstUserMessage) return false;
  if (reducer.protectErrors && table.isErrorAt(position)) return false;
  if (reducer.protectedTools.includes(table.toolNameAt(position))) return false;
  const inForce = operationOn(state, draft, position)?.kind;
  return inForce === undefined || inForce === 'strip';
}
