import type { EntryKind } from './entry.ts';
import type { Positions } from './groups.ts';
import { SMALLEST_CLIP, clipTo } from './clip-to-size.ts';
import { isUnseen, operationOn, shownTokens, tryOperation } from './planning-state.ts';
import type { Draft, PlanningState } from './planning-state.ts';
import { showsMedia, stripImages, withoutMedia } from './reduce.ts';

/**
 * The last resort, for a single entry or turn that is larger than all that is allowed: clips the
 * largest of the entries, in the order in which a model can best do without them, until the view is
 * down to `goal` tokens or nothing is left to clip. Media that no request has carried go late, the
 * newest answer last of all (it loses its reasoning with it, R11).
 */
export function shrinkToFit(
  state: PlanningState,
  draft: Draft,
  input: { readonly positions: Positions; readonly goal: number },
): void {
  const { positions, goal } = input;
  if (draft.tokens <= goal) return;
  const of = (kind: EntryKind): number[] =>
    Array.from(positions).filter((position) => state.table.kindAt(position) === kind);
  const answers = of('assistant');
  const steps: readonly (() => void)[] = [
    () => stripImages(state, draft, 0),
    () => clipLargest(state, draft, { positions: of('tool_result'), goal, keepUnseenMedia: true }),
    () => clipLargest(state, draft, { positions: answers.slice(0, -1), goal, keepUnseenMedia: true }),
    () =>
      clipLargest(state, draft, { positions: [...of('user'), ...of('branch_summary')], goal, keepUnseenMedia: true }),
    () => stripAll(state, draft, positions),
    () => clipLargest(state, draft, { positions: answers.slice(-1), goal, keepUnseenMedia: false }),
  ];
  for (const step of steps) {
    if (draft.tokens <= goal) return;
    step();
  }
}

/** Replaces all media of the entries by markers, also what no request has carried. */
export function stripAll(state: PlanningState, draft: Draft, positions: Positions): void {
  for (const position of positions) {
    if (showsMedia(state, draft, position)) {
      tryOperation(state, draft, position, withoutMedia(state, draft, position));
    }
  }
}

/** Clips all entries above one common size, chosen so that the view comes down to the goal. */
function clipLargest(
  state: PlanningState,
  draft: Draft,
  input: { positions: readonly number[]; goal: number; keepUnseenMedia: boolean },
): void {
  const clippable = input.positions.filter((position) => operationOn(state, draft, position)?.kind !== 'clear');
  const sizes = Float64Array.from(clippable, (position) => shownTokens(state, draft, position));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const allowed = total - (draft.tokens - input.goal);
  const level = Math.max(SMALLEST_CLIP, commonSize(sizes.toSorted(), allowed));
  for (const [index, position] of clippable.entries()) {
    if ((sizes[index] ?? 0) <= level) continue;
    const hasImages = state.table.measurementsAt(position).images > 0;
    const keepMedia = input.keepUnseenMedia && isUnseen(state, position) && hasImages;
    tryOperation(state, draft, position, clipTo(state, { position, level, keepMedia }));
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
