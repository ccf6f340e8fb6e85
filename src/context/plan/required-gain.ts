import type { PlanningState } from './planning-state.ts';

/**
 * Tokens that a compaction must free: a share of the window (R5), in the policy's own tokens, so that one which reaches the policy's
 * target wins enough whatever the policy counts by. One that the user asked for only has to be smaller.
 */
export function requiredGain(state: PlanningState): number {
  const { budget, policy, reason, counted } = state.input;
  if (reason === 'manual' || state.isOverMessageCap) return 1;
  const base =
    reason === 'overflow'
      ? Math.min(budget.window, state.tokens)
      : budget.window * Math.min(1, counted?.calibratedPerToken ?? 1);
  return Math.max(1, Math.ceil(policy.minimumGain * base));
}
