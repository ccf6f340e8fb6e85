import type { NoteSlot } from '../log/entry.ts';
import { clearOperation } from '../log/operations.ts';
import { tryOperation } from './planning-state.ts';
import type { Draft, PlanningState } from './planning-state.ts';
import { BUILT_IN_REGISTRY } from './reducers/built-in.ts';
import type { ReducerUse } from '../policy/policy.ts';

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
  for (const use of state.input.policy.reduce) {
    if (draft.tokens <= goal) return;
    applyOne(state, draft, { use, goal });
  }
}

/** Those of the reducers that shorten whatever is kept when others are dropped. */
export function applyAlways(state: PlanningState, draft: Draft): void {
  const { policy, reducers = BUILT_IN_REGISTRY } = state.input;
  for (const use of policy.reduce) {
    if (reducers.get(use.use)?.always === true) applyOne(state, draft, { use, goal: draft.tokens });
  }
}

/** A reducer that fails, or that this worker does not have, is passed over; the others and the weaker forms still shrink the view. */
function applyOne(
  state: PlanningState,
  draft: Draft,
  { use, goal }: { readonly use: ReducerUse; readonly goal: number },
): void {
  const { reducers = BUILT_IN_REGISTRY, onReducerFailed } = state.input;
  const reducer = reducers.get(use.use);
  try {
    if (reducer === undefined) throw new UnknownReducer(`there is no reducer ${use.use}`);
    reducer.apply(state, draft, use.options, goal);
  } catch (error) {
    if (onReducerFailed === undefined) throw error;
    onReducerFailed(use.use, error);
  }
}

/** A policy names a reducer that was not passed to `createWorker`. */
class UnknownReducer extends Error {
  override readonly name = 'UnknownReducer';
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
