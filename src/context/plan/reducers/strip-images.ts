import { count, object } from '../../policy/policy-parts.ts';
import { hasMedia } from '../../log/measurement-arithmetic.ts';
import { clipOperation, stripOperation } from '../../log/operations.ts';
import type { Operation } from '../plan.ts';
import { isUnseen, operationOn, shownMeasurements, tryOperation } from '../planning-state.ts';
import type { Draft, PlanningState } from '../planning-state.ts';
import { reducer } from './reducer.ts';

/** Replaces media of tool results by a marker, except the newest and those that no request has carried yet. */
export const stripImagesReducer = reducer({
  name: 'strip_images',
  options: object({ keepNewest: count.meta({ description: 'Newest images that stay.', unit: 'images' }) }),
  apply: (state, draft, { keepNewest }) => stripImages(state, draft, keepNewest),
});

/** At once, so that the provider's cache breaks once. What users showed stays. */
export function stripImages(state: PlanningState, draft: Draft, keepNewest: number): void {
  const { table } = state;
  const { kept } = state.arrangement;
  let newest = 0;
  for (const position of kept.toReversed()) {
    if (table.at(position).kind !== 'tool_result' || isUnseen(state, position)) continue;
    if (!showsMedia(state, draft, position)) continue;
    newest += Math.max(shownMeasurements(state, draft, position).images, 1);
    if (newest > keepNewest) tryOperation(state, draft, position, withoutMedia(state, draft, position));
  }
}

export function showsMedia(state: PlanningState, draft: Draft, position: number): boolean {
  return hasMedia(shownMeasurements(state, draft, position));
}

/** A strip; of an entry that is clipped already, the same clip without its media. */
export function withoutMedia(state: PlanningState, draft: Draft, position: number): Operation {
  const entry = state.table.at(position);
  const inForce = operationOn(state, draft, position);
  if (inForce?.kind !== 'clip') return stripOperation(entry);
  return clipOperation(entry, { head: inForce.headCharacters ?? 0, tail: inForce.tailCharacters ?? 0 });
}
