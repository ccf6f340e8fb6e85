import { characterCount } from '../log/measurements.ts';
import { clipOperation } from '../log/operations.ts';
import type { Operation } from './plan.ts';
import { tokensOf } from './planning-state.ts';
import type { PlanningState } from './planning-state.ts';

/** A clip below this is no longer worth reading. Tokens. */
export const SMALLEST_CLIP = 64;
/** What rounding the measurements of a clip may add. Tokens. */
const ROUNDING = 3;
const HEAD_SHARE = 0.6;

export function clipTo(
  state: PlanningState,
  input: { position: number; level: number; keepMedia: boolean },
): Operation {
  const { position, level, keepMedia } = input;
  const entry = state.table.at(position);
  const empty = tokensOf(state, clipOperation(entry, { head: 0, tail: 0, keepMedia }).measurements);
  const text = { ...entry.measurements, images: 0, imagePatches: 0, documentPages: 0, frames: 0 };
  const perCharacter = tokensOf(state, text) / Math.max(1, characterCount(entry.measurements));
  const forText = Math.max(SMALLEST_CLIP / 2, level - empty - ROUNDING);
  const kept = perCharacter === 0 ? 0 : Math.floor(forText / perCharacter);
  const head = Math.ceil(kept * HEAD_SHARE);
  return clipOperation(entry, { head, tail: kept - head, keepMedia });
}
