import * as fc from 'fast-check';
import { expect } from 'vitest';
import { estimateTokens, NO_CALIBRATION } from '../../src/context/estimate.ts';
import { measureView } from '../../src/context/measure-view.ts';
import { planCompaction } from '../../src/context/plan-compaction.ts';
import type { CompactionPlan } from '../../src/context/plan.ts';
import type { CompactionPolicy } from '../../src/context/policy.ts';
import { Conversation, prose } from './builders.ts';
import { happen, happenings, limits } from './random-conversations.ts';
import type { Happening } from './random-conversations.ts';

/** What a summarizer may answer for a plan: as long as it was allowed to. */
export function writtenSummary(plan: CompactionPlan, pass: number): string {
  return plan.summaryLimit === 0 ? '' : `Summary ${pass}. ${prose(Math.floor(plan.summaryLimit * 3), pass)}`;
}

export function tokensOf(conversation: Conversation): number {
  const input = conversation.planInput();
  return estimateTokens(measureView(input), NO_CALIBRATION);
}

export interface Pass {
  readonly plan: CompactionPlan;
  readonly before: Conversation['summary'];
}

/** Lets everything happen, compacting whenever the plan says so; `check` sees the conversation after each pass. */
export function play(
  events: readonly Happening[],
  conversation: Conversation,
  check: (pass: Pass) => void,
): { readonly passes: number; readonly exhausted: boolean } {
  for (const [seed, event] of events.entries()) {
    const reason = happen(conversation, event, seed + 1);
    const result = planCompaction(conversation.planInput(reason));
    if (result.kind === 'exhausted') {
      // Nothing to shrink but a few short messages: an overflow reported then is beyond repair.
      const { breakdown } = result;
      return { passes: conversation.passes, exhausted: breakdown.total - breakdown.fixed - breakdown.summary > 1_500 };
    }
    if (result.kind === 'fits') {
      expect(tokensOf(conversation)).toBeLessThanOrEqual(conversation.budget.inputBudget);
      continue;
    }
    const before = conversation.summary;
    conversation.commit(result.plan, writtenSummary(result.plan, conversation.passes + 1));
    check({ plan: result.plan, before });
  }
  return { passes: conversation.passes, exhausted: false };
}

/** Checks each pass over random conversations. Default: 30 conversations under the preset `default`. */
export function property(
  check: (conversation: Conversation, pass: Pass) => void,
  options: {
    readonly arbitrary?: fc.Arbitrary<readonly Happening[]>;
    readonly policy?: CompactionPolicy;
    readonly runs?: number;
  } = {},
): void {
  const { arbitrary = happenings, policy, runs = 30 } = options;
  fc.assert(
    fc.property(arbitrary, limits, (events, modelLimits) => {
      const conversation = new Conversation({ limits: modelLimits, ...(policy !== undefined && { policy }) });
      play(events, conversation, (pass) => check(conversation, pass));
    }),
    { numRuns: runs },
  );
}
