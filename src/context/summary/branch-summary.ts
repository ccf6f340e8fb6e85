import type { Entry } from '../log/entry.ts';
import { estimateTokens } from '../log/estimate.ts';
import { frame, framed } from '../log/frames.ts';
import type { Calibration, CompactionPlan, ModelLimits } from '../plan/plan.ts';
import { NOTHING_PLANNED } from '../plan/planning-state.ts';
import { budgetFor } from '../policy/budget.ts';
import { CHECKPOINT_PROMPTS, CHECKPOINT_SECTIONS } from '../policy/prompts/checkpoint.ts';
import type { CompactionPolicy, Prompt } from '../policy/policy.ts';
import { renderFileLists } from './summary-message.ts';
import type { FileLists } from './summary-message.ts';
import { summaryRequestLimit } from './summary-request.ts';

/**
 * The summary of a branch that the user leaves (seeds/pi.md): the whole branch back to the common ancestor, without a cut
 * and without a previous summary. It is an entry of the branch that goes on, not a compaction.
 */

const BRANCH_PREAMBLE =
  'The user explored a different conversation branch before returning here. Summary of that exploration:';

/** Longest answer, tokens (packages/coding-agent/src/core/compaction/branch-summarization.ts). */
const BRANCH_SUMMARY_OUTPUT = 2_048;

/** Up to this share of the budget a summary still enters that would not fit whole. */
const SUMMARY_SHARE = 0.9;

const INSTRUCTION: Prompt = {
  name: 'branch.history',
  version: 1,
  text: `The transcript above is a branch of a conversation that the user has left in order to go on from an earlier point. Write a structured summary of it, so that what was tried and found there is known when the work goes on elsewhere.

Use exactly these headings, in this order. Under a heading with nothing to record write "- none".

{{sections}}

Keep each line short. Copy file paths, function names, identifiers, numbers and error messages exactly.`,
};

/** How a policy asks for the summary of a branch. */
export const BRANCH_SUMMARY = {
  headings: 'markdown',
  // Those of a checkpoint but the last: what the work needs to go on is not known here.
  sections: CHECKPOINT_SECTIONS.slice(0, -1),
  prompts: { ...CHECKPOINT_PROMPTS, history: INSTRUCTION },
  question: null,
  sharesPrefix: null,
} satisfies Partial<CompactionPolicy['summary']>;

/**
 * What of a branch enters the request, as far as the branch was walked back from its end. The summary of a compaction that was made on
 * it is an entry of kind `branch_summary`.
 */
export interface BranchChoice {
  readonly entries: readonly Entry[];
  readonly used: number;
  readonly isFull: boolean;
}

export const NOTHING_CHOSEN: BranchChoice = { entries: [], used: 0, isFull: false };

/**
 * What of the branch enters the request: the newest within the budget, the very newest shortened if it is larger. The walk ends at the
 * first entry that does not fit; a summary, which stands for many entries, still enters while less than 90 % is used. Tool results are left
 * out: answers tell what they said.
 * @param newer what was chosen of all that comes behind the entries
 * @param entries newest first
 */
export function chooseOfBranch(
  newer: BranchChoice,
  entries: readonly Entry[],
  { budget, calibration }: { readonly budget: number; readonly calibration: Calibration },
): BranchChoice {
  const chosen: Entry[] = [];
  let { used, isFull } = newer;
  for (const entry of entries) {
    if (isFull) break;
    if (entry.kind === 'tool_result' || entry.kind === 'note') continue;
    const tokens = estimateTokens(entry.measurements, calibration);
    const fits = used + tokens <= budget;
    const isNewest = newer.entries.length + chosen.length === 0;
    const isWorthIt = entry.kind === 'branch_summary' && used < budget * SUMMARY_SHARE;
    if (fits || isNewest || isWorthIt) chosen.push(entry);
    if (fits) used += tokens;
    else isFull = true;
  }
  return { entries: [...chosen.reverse(), ...newer.entries], used, isFull };
}

/** Tokens of a branch that enter the request for its summary: the budget of its model without answer and prompts. */
export function branchRoom(policy: CompactionPolicy, summarizer: ModelLimits): number {
  const input = Math.min(
    budgetFor(policy, summarizer).inputBudget - BRANCH_SUMMARY_OUTPUT,
    summaryRequestLimit(summarizer, BRANCH_SUMMARY_OUTPUT),
  );
  return Math.max(0, input - PROMPT_TOKENS);
}

/** System text, instruction, and what is quoted of the agent's own instructions. */
const PROMPT_TOKENS = 1_500;

/** One part reads all that is left; no view changes. */
export function branchPlan(range: {
  readonly fromSequence: number;
  readonly toSequence: number;
  readonly inputTokens: number;
  /** Longest answer of the model. */
  readonly maximumOutput: number;
}): CompactionPlan {
  const { inputTokens: tokensBefore } = range;
  const maximumOutput = Math.min(BRANCH_SUMMARY_OUTPUT, range.maximumOutput);
  return {
    ...NOTHING_PLANNED,
    form: 'summary',
    parts: [{ ...range, number: 1, wave: 1, kind: 'branch', maximumOutput }],
    summaryLimit: maximumOutput,
    tokensBefore,
    tokensAfter: tokensBefore,
    acceptedTokens: 0,
    requiredGain: 0,
  };
}

/** The entry of the branch that goes on. The text was checked, and its lists come from the program. */
export function branchSummaryText(text: string, files: FileLists): string {
  const listed = renderFileLists(files);
  const inside = framed([text, ...(listed === '' ? [] : [listed])].join('\n\n'));
  return `${BRANCH_PREAMBLE}\n\n${frame('branchSummary', [inside])}`;
}
