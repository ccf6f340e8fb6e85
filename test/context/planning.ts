import type { CompactionPlan, PlanInput } from '../../src/context/plan/plan.ts';
import { planCompaction } from '../../src/context/plan/plan-compaction.ts';
import type { CompactionPolicy } from '../../src/context/policy/policy.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { Conversation, prose } from './builders.ts';

export function planOf(conversation: Conversation, change: Partial<PlanInput> = {}): CompactionPlan {
  const result = planCompaction({ ...conversation.planInput(change.reason), ...change });
  if (result.kind !== 'planned') throw new Error(`nothing was planned: ${result.kind}`);
  return result.plan;
}

export function withPolicy(change: Partial<CompactionPolicy>): CompactionPolicy {
  return { ...DEFAULT_POLICY, ...change };
}

export const NO_REDUCERS = withPolicy({ reduce: [] });

/** A turn that reads `files` files of `characters` each. */
export function reading(files: number, characters: number, policy = DEFAULT_POLICY): Conversation {
  const conversation = new Conversation({ policy });
  conversation.log.user('Read all files and report their versions.');
  for (let file = 0; file < files; file += 1) conversation.log.step([prose(characters, file + 1)]);
  return conversation;
}
