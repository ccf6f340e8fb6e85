import { countRequest } from '../../../src/context/policy/budget.ts';
import { fixedMeasurements } from '../../../src/context/view/system-text.ts';
import { measureView } from '../../../src/context/view/view-arrangement.ts';
import type { CompactionPlan, CountedRequest, ModelLimits, PlanInput } from '../../../src/context/plan/plan.ts';
import { planCompaction } from '../../../src/context/plan/plan-compaction.ts';
import type { CompactionPolicy } from '../../../src/context/policy/policy.ts';
import type { AgentView, View } from '../../../src/context/view/view.ts';
import { AGENT, Conversation, outline } from '../builders.ts';

export const WINDOW: ModelLimits = { window: 200_000, maximumOutput: 16_000 };

export function conversationWith(policy: CompactionPolicy, limits: ModelLimits = WINDOW): Conversation {
  return new Conversation({ policy, limits });
}

/** The next request as the policy counts it. */
export function countOf(
  conversation: Conversation,
  reported?: { input: number; output: number },
  agent: AgentView = AGENT,
): CountedRequest {
  const request = measureView({
    fixed: fixedMeasurements(agent),
    entries: conversation.needed().map(outline),
    summary: conversation.summary,
    operations: conversation.operations,
  });
  return countRequest({
    policy: conversation.policy,
    budget: conversation.budget,
    request,
    calibration: conversation.calibration,
    reported:
      reported === undefined
        ? null
        : {
            usage: reported,
            since: measureView({ fixed: fixedMeasurements(agent), entries: [], summary: null, operations: [] }),
          },
  });
}

/** As `compactContext` plans: with the policy's own count. */
export function planWith(conversation: Conversation, change: Partial<PlanInput> = {}): CompactionPlan {
  const result = planCompaction({
    ...conversation.planInput(change.reason),
    counted: countOf(conversation),
    ...change,
  });
  if (result.kind !== 'planned') throw new Error(`nothing was planned: ${result.kind}`);
  return result.plan;
}

export function isPlanned(conversation: Conversation, change: Partial<PlanInput> = {}): boolean {
  const input = { ...conversation.planInput(change.reason), counted: countOf(conversation), ...change };
  return planCompaction(input).kind === 'planned';
}

/** All text of one message of a view. */
export function textAt(view: View, index: number): string {
  return JSON.stringify(view.messages.at(index));
}

export function changedIds(plan: CompactionPlan): readonly string[] {
  return plan.operations.map((operation) => operation.entryId);
}

export function sectionsText(policy: CompactionPolicy, body: string): string {
  const labels = policy.summary.headings === 'labels';
  return policy.summary.sections
    .map(({ title }) => (labels ? `${title}: ${body}` : `## ${title}\n- ${body}`))
    .join('\n\n');
}
