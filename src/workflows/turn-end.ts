import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import type { EndTurnInput, EndTurnResult, TurnResult } from '../turn/activity-values.ts';
import type { TurnProgress } from '../turn/progress.ts';
import type { TurnOutcome } from '../turn/turn-reference.ts';
import type { TurnActivities } from './activity-options.ts';
import { fitContext } from './compaction.ts';
import type { FittedContext } from './compaction.ts';
import type { TurnDisplay } from './display.ts';

interface TurnEnd {
  readonly outcome: TurnOutcome;
  readonly reason: string | null;
}

/** `history_full`: the turn continues in a new run. */
export type LoopEnd = TurnEnd | 'history_full';

/**
 * A failure that no retry can repair ends the turn with an outcome, so that nobody waits in vain. If another run took the turn over,
 * writing the outcome fails too, and so does the workflow.
 */
export function interruption(error: unknown): TurnEnd {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  return {
    outcome: 'interrupted',
    reason: cause instanceof ApplicationFailure ? (cause.type ?? null) : error.activityType,
  };
}

/** What follows if the context could not be prepared. */
export function endWithoutContext(context: Exclude<FittedContext, { kind: 'ready' }>): TurnEnd {
  switch (context.kind) {
    case 'limit':
      return { outcome: 'budget_exhausted', reason: context.reason };
    case 'exhausted':
      return { outcome: 'context_exhausted', reason: 'irreducible' };
  }
}

/** @returns what is stored: a stop may have changed the outcome meanwhile, or messages let the turn go on */
export function endTurn({ endTurn: write }: TurnActivities, input: EndTurnInput): Promise<EndTurnResult> {
  return write.executeWithOptions({ summary: input.outcome }, [input]);
}

/** Outcomes that need a person. Temporal lists their runs as failed, with the outcome as the failure's type. */
const FAILED: ReadonlySet<TurnOutcome> = new Set(['interrupted', 'model_failed', 'context_exhausted']);

/** The result for the Temporal UI only. Clients read the outcome from the turn's row. */
export function resultOfRun({ outcome, reason, explanation, steps, cost }: TurnResult): TurnResult {
  const result = { outcome, reason, explanation, steps, cost };
  if (!FAILED.has(outcome)) return result;
  throw ApplicationFailure.create({ type: outcome, message: explanation, details: [result], nonRetryable: true });
}

/** A command for an idle conversation: the turn has no step. */
export async function obeyCommand(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
): Promise<TurnEnd> {
  if (progress.settings.branchRequested === true) return changeBranch(activities, progress);
  progress.callNumber += 1;
  const context = await fitContext(activities, progress, display);
  if (context.kind === 'limit') return { outcome: 'budget_exhausted', reason: context.reason };
  const isDeclined = context.kind !== 'ready' || context.declined === true;
  return { outcome: 'completed', reason: isDeclined ? 'nothing_to_compact' : null };
}

async function changeBranch(activities: TurnActivities, { turn }: TurnProgress): Promise<TurnEnd> {
  const change = await activities.changeBranch({ turn });
  return { outcome: 'completed', reason: change.kind === 'refused' ? change.reason : null };
}
