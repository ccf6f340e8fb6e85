import type { PlanPart } from '../plan/plan.ts';
import type { CompactionPolicy } from './policy.ts';
import { askedPolicy } from '../summary/summary-quotes.ts';

/** The policy as a part asks with it: a flush has sections and a prompt of its own; others are asked for what a model has to write. */
export function partPolicy(policy: CompactionPolicy, part: PlanPart): CompactionPolicy {
  const { flush } = policy.summary;
  if (part.kind !== 'flush' || flush === null) return askedPolicy(policy, part.maximumOutput);
  const { summary } = policy;
  const prompts = { ...summary.prompts, history: flush.prompt };
  return { ...policy, summary: { ...summary, prompts, sections: flush.sections, headings: 'markdown' } };
}

/** Whether no other part follows: its text, or the one it is put together with, is the summary. */
export function isLastPart(parts: readonly PlanPart[], part: PlanPart): boolean {
  return parts.every((other) => other.number <= part.number);
}
