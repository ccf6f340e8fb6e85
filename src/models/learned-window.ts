import type { ModelLimits } from '../context/plan.ts';
import type { ErrorVerdict } from './model-client.ts';

/** A smaller number was misread: no model that agents are used with has less. Tokens. */
const SMALLEST_WINDOW = 1_000;

/** A window that is named without a count must be at least this share of what was sent: else it is another number. */
const PLAUSIBLE_SHARE = 0.25;

/** Counts of provider and estimate are further apart only when one was misread. */
const PLAUSIBLE_FACTOR = 2;

/**
 * The window to use from now on, when an error names a smaller one than is known; `undefined`
 * otherwise. Real windows can be smaller than advertised (google-gemini/gemini-cli#4118).
 */
export function windowToLearn(
  verdict: ErrorVerdict,
  { known, estimatedInput }: { readonly known: ModelLimits; readonly estimatedInput: number },
): number | undefined {
  if (verdict.kind !== 'overflow' || verdict.window === undefined) return undefined;
  const { window, actual } = verdict;
  if (window < SMALLEST_WINDOW || window >= known.window) return undefined;
  const counted =
    actual !== undefined &&
    actual > window &&
    actual < estimatedInput * PLAUSIBLE_FACTOR &&
    actual > estimatedInput / PLAUSIBLE_FACTOR;
  return counted || window >= estimatedInput * PLAUSIBLE_SHARE ? window : undefined;
}

/** Limits with a window that was learned, when it is the smaller one. */
export function withLearnedWindow(limits: ModelLimits, window: number | null): ModelLimits {
  if (window === null || window >= limits.window) return limits;
  return {
    window,
    maximumOutput: Math.min(limits.maximumOutput, window),
    ...(limits.maximumInput === undefined ? {} : { maximumInput: Math.min(limits.maximumInput, window) }),
  };
}
