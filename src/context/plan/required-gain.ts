import type { PlanningState } from './planning-state.ts';

/** Tokens that a pass must free: a share of the window (R5); one that the user asked for only has to be smaller. */
export function requiredGain(state: PlanningState): number {
  const { budget, policy, reason } = state.input;
  if (reason === 'manual' || state.isOverMessageCap) return 1;
  const base = reason === 'overflow' ? Math.min(budget.window, state.tokens) : budget.window;
  return Math.max(1, Math.ceil(policy.minimumGain * base));
}
