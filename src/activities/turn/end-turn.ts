import { estimateTokens } from '../../context/log/estimate.ts';
import { addMeasurements } from '../../context/log/measurements.ts';
import type { WindowBreakdown } from '../../context/plan/plan.ts';
import { budgetFor } from '../../context/policy/budget.ts';
import { breakdownWindow } from '../../context/view/view-arrangement.ts';
import { readPlanSource } from '../../store/compactions/fit-check.ts';
import type { FitCheck } from '../../store/compactions/fit-check.ts';
import { StoreError } from '../../store/database/errors.ts';
import { isStopWaiting } from '../../store/messages/waiting.ts';
import * as store from '../../store/turns/end-turn.ts';
import type { ContextUsage } from '../../store/turns/open-work.ts';
import type { EndTurnInput, EndTurnResult, OfTurn, StopLook } from '../../turn/activity-values.ts';
import { explainOutcome } from '../../turn/explain-outcome.ts';
import { readFit } from '../compaction/plan-compaction.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { closeToolCall } from '../tool/decisions.ts';

/**
 * Stores the outcome and what the window holds. Closes open tool calls with a result that says so, and shows what fills the window if
 * that was the reason. A completed turn goes on instead if steering messages wait.
 */
export async function endTurn(dependencies: ActivityDependencies, input: EndTurnInput): Promise<EndTurnResult> {
  const check = await readFitOfOpenTurn(dependencies, input);
  const isFull = check !== null && input.outcome === 'context_exhausted';
  const breakdown = isFull ? await breakdownFor(dependencies, input, check) : null;
  const contextUsage = check === null ? null : contextUsageOf(check);
  const ended = await store.endTurn(
    dependencies.database,
    { ...input, breakdown, contextUsage },
    closeToolCall(dependencies),
  );
  if (ended === 'messages_waiting') return { kind: 'messages_waiting' };
  return { kind: 'ended', ...ended, explanation: explainOutcome(ended.outcome, ended.reason) };
}

/** `null` if an earlier attempt ended the turn, or if nothing was said. */
async function readFitOfOpenTurn({ database }: ActivityDependencies, { turn }: EndTurnInput): Promise<FitCheck | null> {
  try {
    return await readFit(database, turn);
  } catch (error) {
    if (error instanceof StoreError && (error.code === 'stale_epoch' || error.code === 'entry_not_found')) return null;
    throw error;
  }
}

function contextUsageOf({ view, fixed, calibration, reported }: FitCheck): ContextUsage {
  const contextTokens = estimateTokens(addMeasurements(view, fixed), calibration);
  if (reported === null) return { contextTokens, usageTokens: null, trailingTokens: contextTokens };
  return {
    contextTokens,
    usageTokens: reported.usage.input + reported.usage.output,
    trailingTokens: estimateTokens(reported.since, calibration),
  };
}

async function breakdownFor(
  { database }: ActivityDependencies,
  { turn }: EndTurnInput,
  check: FitCheck,
): Promise<WindowBreakdown> {
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

/** Only reads, so a look that is repeated after a crash returns the same. */
export async function lookForStop({ database }: ActivityDependencies, { turn }: OfTurn): Promise<StopLook> {
  return { stopRequested: await isStopWaiting(database, turn) };
}
