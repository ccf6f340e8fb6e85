import type { MediaLimits, ModelLimits } from '../../context/plan/plan.ts';
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
  verdict: ErrorVerdict,
  { known, estimatedInput }: { readonly known: ModelLimits; readonly estimatedInput: number },
): number | undefined {
  if (verdict.kind !== 'overflow' || verdict.window === undefined) return undefined;
  const { window, actual } = verdict;
  if (window < SMALLEST_WINDOW || window >= known.window) return undefined;
  // Counts of provider and estimate are further apart only when one was misread or is about something else.
  const isNear = actual !== undefined && actual < estimatedInput * 2 && actual > estimatedInput / 2;
  return (isNear && actual > window) || window >= estimatedInput * PLAUSIBLE_SHARE ? window : undefined;
}

/** What errors of a server taught about a model; `null`: nothing. */
export interface LearnedLimits {
  /** Tokens. */
  readonly tokens: number | null;
  /** Images and files of a request; 0: it takes none. */
  readonly mediaParts: number | null;
  /** Their bytes together, in base64. */
  readonly mediaBytes: number | null;
}

/** Nothing was learned. */
export const NOTHING_LEARNED: LearnedLimits = { tokens: null, mediaParts: null, mediaBytes: null };

/** Limits with what was learned: a window, when it is the smaller one, and caps on media. */
export function withLearnedLimits(limits: ModelLimits, learned: Partial<LearnedLimits>): ModelLimits {
  const { tokens, mediaParts, mediaBytes } = { ...NOTHING_LEARNED, ...learned };
  const maximumMedia: MediaLimits = {
    ...limits.maximumMedia,
    ...(mediaParts !== null && { parts: mediaParts }),
    ...(mediaBytes !== null && { bytes: mediaBytes }),
  };
  const known = { ...limits, ...(Object.keys(maximumMedia).length > 0 && { maximumMedia }) };
  if (tokens === null || tokens >= limits.window) return known;
  return {
    ...known,
    window: tokens,
    maximumOutput: Math.min(limits.maximumOutput, tokens),
    ...(limits.maximumInput !== undefined && { maximumInput: Math.min(limits.maximumInput, tokens) }),
  };
}
