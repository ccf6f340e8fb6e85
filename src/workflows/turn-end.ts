import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import type { EndTurnInput, EndTurnResult, TurnResult } from '../turn/activity-values.ts';
import type { TurnOutcome } from '../turn/turn-reference.ts';
import type { TurnActivities } from './activity-options.ts';
import type { FittedContext } from './compaction.ts';

export interface TurnEnd {
  readonly outcome: TurnOutcome;
  readonly reason: string | null;
}

/** `history_full`: the turn goes on in a new run, where it stood. */
export type LoopEnd = TurnEnd | 'history_full';

/**
 * An activity that no retry can mend ends the turn with an outcome, so that nobody waits for it in
 * vain. If the turn was taken over, writing the outcome fails too, and the workflow with it.
 */
export function interruption(error: unknown): TurnEnd {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  return {
    outcome: 'interrupted',
    reason: cause instanceof ApplicationFailure ? (cause.type ?? null) : error.activityType,
  };
}

/** What follows when the context was not made ready. */
export function endWithoutContext(context: Exclude<FittedContext, { kind: 'ready' }>): TurnEnd {
  switch (context.kind) {
    case 'limit':
      return { outcome: 'budget_exhausted', reason: context.reason };
    case 'exhausted':
      return { outcome: 'context_exhausted', reason: 'irreducible' };
  }
}

/** @returns what stands: a stop that came meanwhile may have changed the outcome, or messages let the turn go on */
export function endTurn({ endTurn: write }: TurnActivities, input: EndTurnInput): Promise<EndTurnResult> {
  return write.executeWithOptions({ summary: input.outcome }, [input]);
}

/** Outcomes that a person has to look at: Temporal lists their runs as failed, the outcome as the failure's type. */
const FAILED: ReadonlySet<TurnOutcome> = new Set(['interrupted', 'model_failed', 'context_exhausted']);

/** What the workflow returns, for the Temporal UI alone: whoever waits for an outcome reads the turn's row. */
export function resultOfRun({ outcome, reason, explanation, steps, cost }: TurnResult): TurnResult {
  const result = { outcome, reason, explanation, steps, cost };
  if (!FAILED.has(outcome)) return result;
  throw ApplicationFailure.create({ type: outcome, message: explanation, details: [result], nonRetryable: true });
}
