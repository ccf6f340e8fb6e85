import type { EntryKind, NoteSlot } from '../log/entry.ts';
import { calibratedTokens } from '../log/estimate.ts';
import { characterCount } from '../log/measurements.ts';
import { clearOperation, clipOperation } from '../log/operations.ts';
import type { ReducerUse } from '../policy/policy.ts';
import { shortOpening } from './cut-point.ts';
import type { Operation } from './plan.ts';
import { isUnseen, requiredGain } from './planning-state.ts';
import type { Draft } from './planning-state.ts';
import { BUILT_IN_REGISTRY, SMALLEST_CLIP, clipTo, stripImages } from './reducers/built-in.ts';

/**
 * Applies the policy's reducers in order until the view is down to `goal` tokens. They need no
 * model, touch only what some request has carried already, and lose nothing: each placeholder names
 * its original.
 */
export function reduce(draft: Draft, goal: number): void {
  clearSupersededNotes(draft, draft.state.notes);
  applyReducers(draft, goal);
}

/**
 * The same without the notes. A reducer that fails, or that this worker does not have, is passed over; the others and the weaker forms
 * still shrink the view.
 */
export function applyReducers(
  draft: Draft,
  goal: number,
  uses: readonly ReducerUse[] = draft.state.input.policy.reduce,
): void {
  const { reducers = BUILT_IN_REGISTRY, onReducerFailed } = draft.state.input;
  for (const { use, options } of uses) {
    if (draft.tokens <= goal) return;
    const reducer = reducers.get(use);
    try {
      if (reducer === undefined) throw new UnknownReducer(`there is no reducer ${use}`);
      reducer.apply(draft, reducer.options.parse(options), goal);
    } catch (error) {
      if (onReducerFailed === undefined) throw error;
      onReducerFailed(use, error);
    }
  }
}

/** Those of the reducers that shorten whatever is kept when others are dropped. */
export function applyAlways(draft: Draft): void {
  const { policy, reducers = BUILT_IN_REGISTRY } = draft.state.input;
  const always = policy.reduce.filter(({ use }) => reducers.get(use)?.always === true);
  applyReducers(draft, 0, always);
}

/** A policy names a reducer that was not passed to `createWorker`. */
class UnknownReducer extends Error {
  override readonly name = 'UnknownReducer';
}

/** A note that a newer one of its slot has replaced says nothing any more; the pass itself may append a continuation. */
export function clearSupersededNotes(draft: Draft, notes: readonly number[]): void {
  const { state } = draft;
  const seen = new Set<NoteSlot>(state.continuation ? ['continuation'] : []);
  for (const note of notes.toReversed()) {
    const { slot } = state.table.at(note);
    if (slot === undefined) continue;
    if (seen.has(slot)) draft.change(note, clearOperation(state.table.at(note)));
    seen.add(slot);
  }
}

/**
 * The last resort, for a single entry or turn that is larger than all that is allowed: clips the largest of the entries, in
 * the order in which a model can best do without them. Results and older answers are clipped down to `goal`, but what the user said only
 * where more than `limit` would be left. Older messages of the user go before the newest (R17), media that no request has carried late, and
 * what the newest message of the user shows never, because nothing tells what is on it: its images are scaled down where there would be no
 * pass without (R23, D2). What the running turn was asked, when it is short, and a first message that the policy keeps (C1) are clipped
 * only then too: remarks without the task are of no use. The newest answer is clipped only where the request does not fit its budget: a model goes on from what it said last, and a vendor
 * refuses it edited (R11).
 */
export function shrinkToFit(
  draft: Draft,
  input: { readonly positions: readonly number[]; readonly goal: number; readonly limit: number },
): void {
  const { positions, goal, limit } = input;
  const { state } = draft;
  const { reason, budget } = state.input;
  const { inputBudget } = budget;
  // The largest view with which the turn can go on: what overflowed has to become smaller, whatever the estimate says.
  const most = reason === 'overflow' ? Math.min(inputBudget, state.tokens - requiredGain(state)) : inputBudget;
  const of = (kind: EntryKind): number[] => positions.filter((position) => state.table.kindAt(position) === kind);
  const answers = of('assistant');
  const opening = shortOpening(draft, of('user'));
  const keepsFirst = state.input.policy.keep.firstUserMessage;
  const isTask = (position: number): boolean =>
    position === opening || (keepsFirst && position === state.firstUserMessage);
  const tasks = of('user').filter(isTask);
  const users = of('user').filter((position) => !isTask(position));
  const clip = (clipped: readonly number[], media: KeptMedia) => (down: number) =>
    clipLargest(draft, { positions: clipped, goal: down, media });
  const strip = (stripped: readonly number[]) => () => {
    for (const position of stripped) draft.strip(position);
  };
  const steps: readonly (readonly [goal: number, step: (goal: number) => void])[] = [
    [goal, () => stripImages(draft, 0)],
    [goal, clip(of('tool_result'), 'unseen')],
    [goal, clip(answers.slice(0, -1), 'unseen')],
    [limit, strip(of('user').slice(0, -1))],
    [limit, clip([...users.slice(0, -1), ...of('branch_summary')], 'unseen')],
    [limit, clip(users.slice(-1), 'all')],
    [limit, strip(of('tool_result'))],
    [most, (down) => scaleImages(draft, of('user').at(-1), down)],
    [most, clip(tasks, 'all')],
    [inputBudget, () => clip(answers.slice(-1), 'none')(goal)],
  ];
  for (const [down, step] of steps) if (draft.tokens > down) step(down);
}

/** An image of fewer patches of 28 × 28 pixels tells little. */
const SMALLEST_IMAGE = 64;

function scaleImages(draft: Draft, position: number | undefined, goal: number): void {
  const { state } = draft;
  const images = position === undefined ? 0 : draft.measurementsOf(position).images;
  if (position === undefined || images === 0) return;
  const shown = draft.operationOn(position);
  const { headCharacters: head = characterCount(state.table.at(position).measurements), tailCharacters: tail = 0 } =
    shown ?? {};
  const scaled = (mostPatches: number): Operation =>
    clipOperation(state.table.at(position), { head, tail, keepMedia: true, mostPatches });
  const tokensWith = (patches: number): number =>
    calibratedTokens(scaled(patches).measurements, state.input.calibration);
  const room = draft.tokensOf(position) - (draft.tokens - goal) - tokensWith(0);
  const patches = Math.floor(room / (tokensWith(1) - tokensWith(0)));
  draft.change(position, scaled(Math.max(SMALLEST_IMAGE, patches)));
}

/** Which media of a clipped entry stay. `unseen`: those that no request has carried. */
type KeptMedia = 'all' | 'unseen' | 'none';

/** Clips all entries above one common size, chosen so that the view comes down to the goal. */
function clipLargest(
  draft: Draft,
  input: { readonly positions: readonly number[]; readonly goal: number; readonly media: KeptMedia },
): void {
  const { positions, goal, media } = input;
  const { state } = draft;
  const clippable = positions.filter((position) => draft.operationOn(position)?.kind !== 'clear');
  const sizes = Float64Array.from(clippable, (position) => draft.tokensOf(position));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const allowed = total - (draft.tokens - goal);
  const level = Math.max(SMALLEST_CLIP, commonSize(sizes.toSorted(), allowed));
  for (const [index, position] of clippable.entries()) {
    if ((sizes[index] ?? 0) <= level) continue;
    const isKept = media === 'all' || (media === 'unseen' && isUnseen(state, position));
    const keepMedia = isKept && state.table.at(position).measurements.images > 0;
    draft.change(position, clipTo(state, { position, level, keepMedia }));
  }
}

/** The size at which everything larger must be cut so that all together take `allowed`. */
function commonSize(ascending: Float64Array, allowed: number): number {
  let left = allowed;
  for (const [index, size] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (size > share) return share;
    left -= size;
  }
  return Infinity;
}
