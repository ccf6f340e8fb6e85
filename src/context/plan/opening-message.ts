import type { PlanningState } from './planning-state.ts';

/**
 * Share of the budget for user messages up to which one counts as short: a request, no pasted text. A list of 41 files takes a
 * third of that of a window of 16,000 tokens; of a quarter, where it was first, the soak lost such tasks.
 */
const SHORT_SHARE = 0.5;

/**
 * Position of the message that opened the running turn, when it is short; `null` when it is long or not among them. Messages that
 * steer a turn say little without what it was asked, so a short one stays as it is. What is short is not measured by the room of
 * one pass: where there is little, remarks without the task are of least use. A long one would push out all others; of
 * that the summary tells.
 * @param positions of user entries, oldest first
 */
export function shortOpening(
  { input, table }: PlanningState,
  positions: readonly number[],
  tokensAt: (position: number) => number,
): number | null {
  if (input.turnIsOver === true) return null;
  const opening = positions.find((position) => table.turnIdAt(position) === input.turnId);
  return opening !== undefined && isShortMessage(tokensAt(opening), input.budget.userMessages) ? opening : null;
}

/** @param budget for user messages, tokens */
export function isShortMessage(tokens: number, budget: number): boolean {
  return tokens <= SHORT_SHARE * budget;
}
