import { budgetFor } from '../context/budget.ts';
import { breakdownWindow } from '../context/measure-view.ts';
import type { WindowBreakdown } from '../context/plan.ts';
import * as store from '../store/end-turn.ts';
import { readPlanSource } from '../store/fit-check.ts';
import type { EndTurnInput } from '../turn/activity-values.ts';
import { closeToolCall } from './close-tool-call.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { readFit } from './read-fit.ts';

/** Writes the outcome, gives open tool calls a result that says so, and shows what fills the window when that was the reason. */
export async function endTurn(dependencies: ActivityDependencies, input: EndTurnInput): Promise<void> {
  const breakdown = input.outcome === 'context_exhausted' ? await breakdownFor(dependencies, input) : null;
  await store.endTurn(dependencies.database, { ...input, breakdown }, closeToolCall);
  dependencies.reachCrashPoint('endTurn:written');
}

async function breakdownFor({ database }: ActivityDependencies, { turn }: EndTurnInput): Promise<WindowBreakdown> {
  const check = await readFit(database, turn);
  const source = await readPlanSource(database, turn);
  return breakdownWindow({
    fixed: check.fixed,
    entries: source.entries,
    summary: source.summary,
    operations: source.operations,
    calibration: check.calibration,
    budget: budgetFor(check.policy, check.modelLimits),
  });
}
