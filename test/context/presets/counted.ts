import { NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { countRequest } from '../../../src/context/policy/budget.ts';
import { addMeasurements, NO_MEASUREMENTS } from '../../../src/context/log/measurements.ts';
import { measureView } from '../../../src/context/view/view-arrangement.ts';
import type { CompactionPlan, CountedRequest, ModelLimits, PlanInput } from '../../../src/context/plan/plan.ts';
import { planCompaction } from '../../../src/context/plan/plan-compaction.ts';
import type { CompactionPolicy } from '../../../src/context/policy/policy.ts';
import { Conversation } from '../builders.ts';

/** The window of the documents. */
export const LARGE: ModelLimits = { window: 200_000, maximumOutput: 64_000 };

export interface Reported {
  readonly input: number;
  readonly output: number;
  /** Entries from this sequence on came after the answer that reported it. */
  readonly since: number;
}

/** Counts the next request of a conversation as its policy does. */
export function counted(conversation: Conversation, reported: Reported | null = null): CountedRequest {
  const { fixed, entries, summary, operations } = conversation.planInput();
  const view = { fixed, entries, summary, operations };
  const following = [...entries].filter((entry) => reported !== null && entry.sequence >= reported.since);
  return countRequest({
    policy: conversation.policy,
    budget: conversation.budget,
    request: measureView(view),
    calibration: NO_CALIBRATION,
    reported:
      reported === null
        ? null
        : {
            usage: { input: reported.input, output: reported.output },
            since: following.reduce((sum, entry) => addMeasurements(sum, entry.measurements), NO_MEASUREMENTS),
          },
  });
}

/** A conversation with a policy at the window of the documents. */
export function large(policy: CompactionPolicy, limits: ModelLimits = LARGE): Conversation {
  return new Conversation({ policy, limits });
}

/** The plan of a pass that is due because the provider counted that much. */
export function planAt(conversation: Conversation, change: Partial<PlanInput> = {}): CompactionPlan {
  const due = { tokens: null, calibratedPerToken: 1, isDue: true };
  const result = planCompaction({ ...conversation.planInput(change.reason), counted: due, ...change });
  if (result.kind !== 'planned') throw new Error(`nothing was planned: ${result.kind}`);
  return result.plan;
}
