import { resolveAmount } from '../policy/budget.ts';
import type { PlanPart } from '../plan/plan.ts';
import type { PlanningState } from '../plan/planning-state.ts';
import { summaryRequestLimit } from './summary-request.ts';

/**
 * The parts of a plan, behind a small one for the memory when next to nothing is left of the window:
 * it is durable before anything is taken out of the view (C17).
 */
export function flushPart(state: PlanningState, parts: readonly PlanPart[]): readonly PlanPart[] {
  const flush = state.input.policy.summary.flush;
  const { table } = state;
  const isNoNote = (position: number): boolean => table.kindAt(position) !== 'note';
  const newest = state.arrangement.kept.findLast(isNoNote);
  const oldest = state.arrangement.kept.find(isNoNote);
  if (flush === null || newest === undefined || oldest === undefined || !isFlushDue(state)) return parts;
  const { summarizer } = state.input;
  const limit = summaryRequestLimit(summarizer, flush.maximumOutput);
  const part: PlanPart = {
    number: 1,
    wave: 1,
    kind: 'flush',
    fromSequence: table.sequenceAt(oldest),
    toSequence: table.sequenceAt(newest),
    inputTokens: Math.ceil(Math.min(limit, state.tokens)),
    maximumOutput: flush.maximumOutput,
  };
  return [part, ...parts.map((other) => ({ ...other, number: other.number + 1, wave: other.wave + 1 }))];
}

function isFlushDue(state: PlanningState): boolean {
  const { policy, budget, flushed } = state.input;
  const { flush } = policy.summary;
  if (flush === null || state.entriesInView < flush.minimumMessages) return false;
  if (budget.window - state.tokens >= resolveAmount(flush.slack, budget)) return false;
  if (flushed === undefined) return true;
  return flushed.millisecondsAgo >= flush.cooldown && state.tokens - flushed.tokens >= flush.minimumGrowth;
}
