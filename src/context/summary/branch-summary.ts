import type { Entry } from '../log/entry.ts';
import { estimateTokens } from '../log/estimate.ts';
import { frame } from '../log/frames.ts';
import { textTokens } from '../log/measure.ts';
import type { Calibration } from '../plan/plan.ts';
import { CHECKPOINT_PROMPTS, CHECKPOINT_SECTIONS } from '../policy/prompts/checkpoint.ts';
import type { CompactionPolicy, Prompt } from '../policy/policy.ts';
import { headingList } from './summary-request.ts';
import { transcriptText } from './transcript.ts';
import type { View } from '../view/view.ts';

/**
 * The summary of a branch that the user leaves (seeds/pi.md): the whole branch back to the common ancestor, without a cut
 * and without a previous summary. It is an entry of the branch that goes on, not a compaction.
 */

export const BRANCH_PREAMBLE =
  'The user explored a different conversation branch before returning here. Summary of that exploration:';

/** Longest answer, tokens (packages/coding-agent/src/core/compaction/branch-summarization.ts). */
export const BRANCH_SUMMARY_OUTPUT = 2_048;

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

/** Those of a checkpoint but the last: what the work needs to go on is not known here. */
const SECTIONS = CHECKPOINT_SECTIONS.slice(0, -1);

/** A policy whose summaries are those of branches, for the checks and forms that every summary passes. */
export function branchPolicy(policy: CompactionPolicy): CompactionPolicy {
  return {
    ...policy,
    summary: { ...policy.summary, headings: 'markdown', sections: SECTIONS, prompts: CHECKPOINT_PROMPTS },
  };
}

/** One entry of the branch, or the summary of a compaction that was made on it, as an entry of kind `branch_summary`. */
export interface BranchItem {
  readonly entry: Entry;
  /** A summary is worth more than its size: it stands for many entries. */
  readonly isSummary: boolean;
}

/** What of a branch enters the request, as far as the branch was walked back from its end. */
export interface BranchChoice {
  readonly items: readonly BranchItem[];
  readonly used: number;
  readonly isFull: boolean;
}

export const NOTHING_CHOSEN: BranchChoice = { items: [], used: 0, isFull: false };

/**
 * What of the branch enters the request: the newest within the budget. The walk ends at the first item that
 * does not fit; a summary still enters while less than 90 % is used. Tool results are left out: answers tell what they said.
 * @param newer what was chosen of all that comes behind the items
 * @param items newest first
 */
export function chooseBranchItems(
  newer: BranchChoice,
  items: readonly BranchItem[],
  { budget, calibration }: { readonly budget: number; readonly calibration: Calibration },
): BranchChoice {
  const chosen: BranchItem[] = [];
  let { used, isFull } = newer;
  for (const item of items) {
    if (isFull) break;
    if (item.entry.kind === 'tool_result' || item.entry.kind === 'note') continue;
    const tokens = estimateTokens(item.entry.measurements, calibration);
    const fits = used + tokens <= budget;
    if (fits || (item.isSummary && used < budget * SUMMARY_SHARE)) chosen.push(item);
    if (fits) used += tokens;
    else isFull = true;
  }
  return { items: [...chosen.reverse(), ...newer.items], used, isFull };
}

/** The request to the summarizing model. Offers no tools. `room`: tokens that all of it may hold. */
export function branchSummaryView(input: {
  readonly items: readonly BranchItem[];
  readonly policy: CompactionPolicy;
  readonly room: number;
  readonly calibration: Calibration;
}): { readonly view: View; readonly promptVersion: string } {
  const { items, policy, room, calibration } = input;
  const system = CHECKPOINT_PROMPTS.system.text;
  const instruction = INSTRUCTION.text.replace('{{sections}}', () => headingList(SECTIONS));
  const around = textTokens(system + instruction, calibration) + FRAME_TOKENS;
  const transcript = transcriptText({
    entries: items.map(({ entry }) => entry),
    maximumTokens: Math.max(0, room - around),
    calibration,
    limits: policy.summary.transcript,
  });
  const text = `${frame('transcript', [transcript])}\n\n${instruction}`;
  return {
    view: { system, tools: [], messages: [{ role: 'user', content: [{ type: 'text', text }], origin: 'note' }] },
    promptVersion: `${INSTRUCTION.name}@${INSTRUCTION.version}`,
  };
}

const FRAME_TOKENS = 60;
