import type { z } from 'zod';
import { resolveAmount } from '../../policy/budget.ts';
import { amount, count, object, toolNames } from '../../policy/policy-parts.ts';
import { clearOperation } from '../../log/operations.ts';
import { countedTokens, isUnseen, operationOn, tryOperation } from '../planning-state.ts';
import type { Draft, PlanningState } from '../planning-state.ts';
import { reducer } from './reducer.ts';

const options = object({
  protect: amount('Newest tool output that stays.'),
  minimum: amount('Nothing is cleared unless this much is won.'),
  protectedTools: toolNames.default([]).meta({ description: 'Tools whose results stay.' }),
  protectTurns: count.default(0).meta({ description: 'Newest turns whose results stay.', unit: 'user messages' }),
});

/** Replaces old tool results by a placeholder. */
export const clearToolResultsReducer = reducer({ name: 'clear_tool_results', options, apply: clearToolResults });

/**
 * Old results of successful calls beyond the protected amount become placeholders, oldest first, if
 * that wins enough. What lies behind a cleared result was looked at when that one was cleared.
 */
function clearToolResults(state: PlanningState, draft: Draft, given: z.output<typeof options>, goal: number): void {
  const { table } = state;
  const { budget, policy } = state.input;
  const { kept } = state.arrangement;
  const protect = resolveAmount(given.protect, budget);
  const newestTurns = turnsFrom(state, given.protectTurns);
  const candidates: number[] = [];
  let newest = 0;
  let won = 0;
  for (let place = kept.length - 1; place >= 0; place -= 1) {
    const position = kept[place] ?? 0;
    if (table.kindAt(position) !== 'tool_result' || position > newestTurns) continue;
    if (given.protectedTools.includes(table.toolNameAt(position)) || table.isErrorAt(position)) continue;
    if (operationOn(state, draft, position)?.kind === 'clear') break;
    const shown = Math.ceil(countedTokens(state, draft, position));
    newest += shown;
    if (newest <= protect || isUnseen(state, position)) continue;
    won += shown;
    candidates.push(position);
  }
  if (won <= resolveAmount(given.minimum, budget)) return;
  for (const position of candidates.reverse()) {
    if (policy.target !== null && draft.tokens <= goal) return;
    tryOperation(state, draft, position, clearOperation(table.at(position), policy.placeholders?.clear));
  }
}

/** Position of the user message that began the given number of newest turns; `Infinity` for none, -1 when there are not as many. */
function turnsFrom({ table, arrangement }: PlanningState, turns: number): number {
  if (turns === 0) return Infinity;
  const { olderUserMessages, kept } = arrangement;
  let left = turns;
  for (const positions of [kept, olderUserMessages]) {
    for (let place = positions.length - 1; place >= 0; place -= 1) {
      const position = positions[place] ?? 0;
      if (table.kindAt(position) === 'user') left -= 1;
      if (left === 0) return position;
    }
  }
  return -1;
}
