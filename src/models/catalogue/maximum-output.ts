import type { ModelLimits } from '../../context/plan/plan.ts';

/**
 * Share of the view by which an estimate may be too low before a vendor that checks input +
 * maximum output against the window refuses the call (Anthropic, vLLM: facts of issue threads).
 */
const ESTIMATE_ERROR = 0.05;

/**
 * Tokens to ask for at most: what the model can write, never more than the window less the view.
 * Room for a wrong estimate is left too, but not out of the reserve, which the answer was promised.
 * At least 1, because no vendor accepts 0: a view that fills the window is refused by the vendor
 * and recovered as an overflow.
 */
export function maximumOutputFor(input: {
  readonly limits: ModelLimits;
  /** Tokens that the policy keeps free for the answer; 0 when only the window limits. */
  readonly reserve: number;
  /** Tokens of the view by the calibrated estimate. */
  readonly viewTokens: number;
}): number {
  const { limits, reserve, viewTokens } = input;
  const free = limits.window - viewTokens;
  const careful = Math.max(reserve, free - viewTokens * ESTIMATE_ERROR);
  return Math.max(1, Math.floor(Math.min(limits.maximumOutput, free, careful)));
}
