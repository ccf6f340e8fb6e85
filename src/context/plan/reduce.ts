import type { NoteSlot } from '../log/entry.ts';
import { clearOperation } from '../log/operations.ts';
import { isFinished, tryOperation } from './planning-state.ts';
import type { Draft, PlanningState } from './planning-state.ts';
import { BUILT_IN_REGISTRY } from './reducers/built-in.ts';
import type { Reducer } from './reducers/reducer.ts';

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
  for (const [reducer, options] of reducersOf(state)) {
    if (isFinished(draft, goal)) return;
    reducer.apply(state, draft, options, goal);
  }
}

/** Those of the reducers that shorten whatever is kept when others are dropped. */
export function applyAlways(state: PlanningState, draft: Draft): void {
  for (const [reducer, options] of reducersOf(state)) {
    if (reducer.always) reducer.apply(state, draft, options, draft.tokens);
  }
}

function reducersOf({ input }: PlanningState): (readonly [Reducer, unknown])[] {
  return input.policy.reduce.map(({ use, options }) => {
    const reducer = BUILT_IN_REGISTRY.get(use);
    if (reducer === undefined) throw new Error(`there is no reducer ${use}`);
    return [reducer, options] as const;
  });
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
