import type { EntryOutline } from './entry.ts';
import { SMALLEST_CLIP, clipTo } from './clip-to-size.ts';
import { isUnseen, operationOn, shownMeasurements, tokensOf, tryOperation } from './planning-state.ts';
import type { Draft, PlanningState } from './planning-state.ts';
import { showsMedia, stripImages, withoutMedia } from './reduce.ts';

/**
 * The last resort, for a single entry or turn that is larger than all that is allowed: clips the
 * largest of `entries`, in the order in which a model can best do without them, until the view is
 * down to `goal` tokens or nothing is left to clip. Media that no request has carried go late, the
 * newest answer last of all (it loses its reasoning with it, R11).
 */
export function shrinkToFit(
  state: PlanningState,
  draft: Draft,
  input: { readonly entries: readonly EntryOutline[]; readonly goal: number },
): void {
  const { entries, goal } = input;
  const of = (kind: EntryOutline['kind']): EntryOutline[] => entries.filter((entry) => entry.kind === kind);
  const answers = of('assistant');
  const steps: readonly (() => void)[] = [
    () => stripImages(state, draft, 0),
    () => clipLargest(state, draft, { entries: of('tool_result'), goal, keepUnseenMedia: true }),
    () => clipLargest(state, draft, { entries: answers.slice(0, -1), goal, keepUnseenMedia: true }),
    () => clipLargest(state, draft, { entries: [...of('user'), ...of('branch_summary')], goal, keepUnseenMedia: true }),
    () => stripAll(state, draft, entries),
    () => clipLargest(state, draft, { entries: answers.slice(-1), goal, keepUnseenMedia: false }),
  ];
  for (const step of steps) {
    if (draft.tokens <= goal) return;
    step();
  }
}

/** Replaces all media of the entries by markers, also what no request has carried. */
export function stripAll(state: PlanningState, draft: Draft, entries: readonly EntryOutline[]): void {
  for (const entry of entries) {
    if (showsMedia(entry.measurements) && showsMedia(shownMeasurements(state, draft, entry))) {
      tryOperation(state, draft, entry, withoutMedia(entry, operationOn(state, draft, entry)));
    }
  }
}

/** Clips all entries above one common size, chosen so that the view comes down to the goal. */
function clipLargest(
  state: PlanningState,
  draft: Draft,
  input: { entries: readonly EntryOutline[]; goal: number; keepUnseenMedia: boolean },
): void {
  const sized = input.entries
    .filter((entry) => operationOn(state, draft, entry)?.kind !== 'clear')
    .map((entry) => ({ entry, tokens: tokensOf(state, shownMeasurements(state, draft, entry)) }));
  const total = sized.reduce((sum, item) => sum + item.tokens, 0);
  const allowed = total - (draft.tokens - input.goal);
  const level = Math.max(
    SMALLEST_CLIP,
    commonSize(
      sized.map((item) => item.tokens),
      allowed,
    ),
  );
  for (const { entry, tokens } of sized) {
    if (tokens <= level) continue;
    const keepMedia = input.keepUnseenMedia && isUnseen(state, entry) && entry.measurements.images > 0;
    tryOperation(state, draft, entry, clipTo(state, { entry, level, keepMedia }));
  }
}

/** The size at which everything larger must be cut so that all together take `allowed`. */
function commonSize(sizes: number[], allowed: number): number {
  const ascending = sizes.sort((left, right) => left - right);
  let left = allowed;
  for (const [index, size] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (size > share) return share;
    left -= size;
  }
  return Infinity;
}
