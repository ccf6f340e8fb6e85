import { resolveAmount } from './budget.ts';
import { clipTo } from './clip-to-size.ts';
import type { EntryOutline, NoteSlot } from './entry.ts';
import type { Measurements } from './measurements.ts';
import { characterCount } from './measurement-arithmetic.ts';
import { clearOperation, clipOperation, stripOperation } from './operations.ts';
import { countedTokens, isUnseen, operationOn, shownMeasurements, tokensOf, tryOperation } from './planning-state.ts';
import type { Draft, PlanningState } from './planning-state.ts';
import type { Operation } from './plan.ts';
import type { ClippedKind, Reducer, TokenAmount } from './policy.ts';

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
    if (draft.tokens <= goal) return;
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
export function clearSupersededNotes(state: PlanningState, draft: Draft, notes: readonly EntryOutline[]): void {
  const seen = new Set<NoteSlot>(state.continuation ? ['continuation'] : []);
  for (const note of notes.toReversed()) {
    if (note.slot === undefined) continue;
    if (seen.has(note.slot)) tryOperation(state, draft, note, clearOperation(note));
    seen.add(note.slot);
  }
}

/** Replaces all media but the newest by markers; at once, so that the provider's cache breaks once. */
export function stripImages(state: PlanningState, draft: Draft, keepNewest: number): void {
  let kept = 0;
  const entries = state.arrangement.kept;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry === undefined || !showsMedia(entry.measurements) || isUnseen(state, entry)) continue;
    const { images, documentPages } = shownMeasurements(state, draft, entry);
    if (images === 0 && documentPages === 0) continue;
    kept += Math.max(images, 1);
    if (kept > keepNewest) tryOperation(state, draft, entry, withoutMedia(entry, operationOn(state, draft, entry)));
  }
}

export function showsMedia(measurements: Measurements): boolean {
  return measurements.images > 0 || measurements.documentPages > 0;
}

/** A strip; of an entry that is clipped already, the same clip without its media. */
export function withoutMedia(entry: EntryOutline, inForce: Operation | undefined): Operation {
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
  const protect = amount(state, reducer.protect);
  const newestTurns = turnsFrom(state, reducer.protectTurns);
  const candidates: EntryOutline[] = [];
  let newest = 0;
  let won = 0;
  for (const entry of state.arrangement.kept.toReversed()) {
    if (entry.kind !== 'tool_result' || entry.sequence > newestTurns) continue;
    if (reducer.protectedTools.includes(entry.toolName ?? '') || entry.isError === true) continue;
    if (operationOn(state, draft, entry)?.kind === 'clear') break;
    const shown = Math.ceil(countedTokens(state, shownMeasurements(state, draft, entry)));
    newest += shown;
    if (newest <= protect || isUnseen(state, entry)) continue;
    won += shown;
    candidates.push(entry);
  }
  if (won <= amount(state, reducer.minimum)) return;
  for (const entry of candidates.toReversed()) {
    if (state.input.policy.target !== null && draft.tokens <= goal) return;
    tryOperation(state, draft, entry, clearOperation(entry, reducer.placeholder));
  }
}

/** Sequence of the user message that began the given number of newest turns; `Infinity` for none, 0 when there are not as many. */
function turnsFrom({ arrangement }: PlanningState, turns: number): number {
  if (turns === 0) return Infinity;
  const users = [...arrangement.olderUserMessages, ...arrangement.kept].filter((entry) => entry.kind === 'user');
  return users.at(-turns)?.sequence ?? 0;
}

/** Every result beyond its limit keeps head and tail, or the first items of an array, at about the limit's size. */
export function capToolResults(
  state: PlanningState,
  draft: Draft,
  reducer: Extract<Reducer, { kind: 'cap_tool_results' }>,
): void {
  const limits = { limit: amount(state, reducer.limit), document: amount(state, reducer.documentLimit) };
  for (const entry of state.arrangement.kept) {
    if (entry.kind !== 'tool_result' || operationOn(state, draft, entry)?.kind === 'clear') continue;
    const limit = reducer.documentTools.includes(entry.toolName ?? '') ? limits.document : limits.limit;
    const tokens = tokensOf(state, shownMeasurements(state, draft, entry));
    if (tokens <= limit) continue;
    const keepMedia = showsMedia(shownMeasurements(state, draft, entry));
    const operation = clipTo(state, { entry, level: limit, keepMedia });
    tryOperation(state, draft, entry, { ...operation, arrayItems: reducer.arrayItems });
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
  for (const entry of reducer.of.flatMap((kind) => clipCandidates(state, draft, reducer, kind))) {
    if ((expectedRetention === undefined ? draft.tokens : expected) <= goal) return;
    const head = Math.floor(Math.min(size(entry) * reducer.headFraction, reducer.headLimit));
    const tail = Math.floor(Math.min(size(entry) * reducer.tailFraction, reducer.tailLimit));
    if (size(entry) <= head + tail + WORTH_CLIPPING) continue;
    const shown = shownMeasurements(state, draft, entry);
    const operation = clipOperation(entry, { head, tail, keepMedia: shown.images > 0 });
    if (!tryOperation(state, draft, entry, operation)) continue;
    expected -= tokensOf(state, shown) * (1 - (expectedRetention ?? 0));
  }
}

/** Tool results largest first, others oldest first. */
function clipCandidates(
  state: PlanningState,
  draft: Draft,
  reducer: Extract<Reducer, { kind: 'clip' }>,
  kind: ClippedKind,
): EntryOutline[] {
  const candidates: EntryOutline[] = [];
  let ofKind = state.arrangement.kept.reduce((count, entry) => count + (entry.kind === kind ? 1 : 0), 0);
  for (const entry of state.arrangement.kept) {
    if (entry.kind !== kind) continue;
    if (ofKind > reducer.protectNewest && isClippable(state, draft, entry, reducer)) candidates.push(entry);
    ofKind -= 1;
  }
  return kind === 'tool_result' ? candidates.sort((left, right) => size(right) - size(left)) : candidates;
}

function isClippable(
  state: PlanningState,
  draft: Draft,
  entry: EntryOutline,
  reducer: Extract<Reducer, { kind: 'clip' }>,
): boolean {
  if (reducer.unseen !== true && isUnseen(state, entry)) return false;
  if (size(entry) < reducer.minimumCharacters) return false;
  if (reducer.protectFirstUserMessage === true && entry.id === state.firstUserMessage?.id) return false;
  if (reducer.protectErrors && entry.isError === true) return false;
  if (reducer.protectedTools.includes(entry.toolName ?? '')) return false;
  const inForce = operationOn(state, draft, entry)?.kind;
  return inForce === undefined || inForce === 'strip';
}

function size(entry: EntryOutline): number {
  return characterCount(entry.measurements);
}
