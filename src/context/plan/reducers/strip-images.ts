import { count, object } from '../../policy/policy-parts.ts';
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
  for (let place = kept.length - 1; place >= 0; place -= 1) {
    const position = kept[place] ?? 0;
    if (table.kindAt(position) !== 'tool_result') continue;
    if (!table.showsMediaAt(position) || isUnseen(state, position)) continue;
    const { images, documentPages } = shownMeasurements(state, draft, position);
    if (images === 0 && documentPages === 0) continue;
    newest += Math.max(images, 1);
    if (newest > keepNewest) tryOperation(state, draft, position, withoutMedia(state, draft, position));
  }
}

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
