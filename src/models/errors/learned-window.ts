import { definedOf } from '../../context/policy/defined-of.ts';
import type { ModelLimits } from '../../context/plan/plan.ts';
import type { ErrorVerdict } from '../model-client.ts';

/** A smaller number was misread: no model that agents are used with has less. Tokens. */
const SMALLEST_WINDOW = 1_000;

/** A window that is named without a count must be at least this share of what was sent: else it is another number. */
const PLAUSIBLE_SHARE = 0.5;

/**
 * The window to use from now on, when an error names a smaller one than is known; `undefined`
 * otherwise. Real windows can be smaller than advertised (google-gemini/gemini-cli#4118).
 */
export function windowToLearn(
  { kind, window, actual }: ErrorVerdict,
  { known, estimatedInput }: { readonly known: ModelLimits; readonly estimatedInput: number },
): number | undefined {
  if (kind !== 'overflow' || window === undefined || window < SMALLEST_WINDOW || window >= known.window)
    return undefined;
  // Counts of provider and estimate are further apart only when one was misread or is about something else.
  const isNear = actual !== undefined && actual < estimatedInput * 2 && actual > estimatedInput / 2;
  return (isNear && actual > window) || window >= estimatedInput * PLAUSIBLE_SHARE ? window : undefined;
}

/** What errors of a server taught about a model, in tokens, media of a request (0: it takes none) and their bytes in base64. */
export interface LearnedLimits {
  readonly tokens: number | null;
  readonly mediaParts: number | null;
  readonly mediaBytes: number | null;
}

export const NOTHING_LEARNED: LearnedLimits = { tokens: null, mediaParts: null, mediaBytes: null };

/** Limits with what was learned: a window, when it is the smaller one, and caps on media. */
export function withLearnedLimits(limits: ModelLimits, learned: Partial<LearnedLimits>): ModelLimits {
  const { tokens, mediaParts: parts, mediaBytes: bytes } = { ...NOTHING_LEARNED, ...learned };
  const maximumMedia = { ...limits.maximumMedia, ...(parts !== null && { parts }), ...(bytes !== null && { bytes }) };
  const known = { ...limits, ...(Object.keys(maximumMedia).length > 0 && { maximumMedia }) };
  if (tokens === null || tokens >= limits.window) return known;
  const { maximumOutput, maximumInput } = limits;
  const caps = {
    maximumOutput: Math.min(maximumOutput, tokens),
    maximumInput: maximumInput && Math.min(maximumInput, tokens),
  };
  return { ...known, window: tokens, ...definedOf(caps) };
}
