import { definePolicy } from '../policy.ts';
import type { SummarySection } from '../policy.ts';
import { SHARED_PREFIX_PROMPT, WORKING_SUMMARY_PROMPTS } from '../prompts/working-summary.ts';

/**
 * What a long task needs after a compaction, learned from how such systems fail: handled requests
 * answered again (R17), everything read again (R18), a part of a batch taken for all of it (W4).
 */
const sections: readonly SummarySection[] = [
  {
    title: 'Requests and Outcomes',
    subject: 'requests',
    open: true,
    instruction:
      'One line per request of the user, oldest first: what is asked, with every requirement, count, format and limit ' +
      'in its exact words, then an arrow and its outcome: "→ done: <result>", "→ in progress" or "→ open". Requests that are done ' +
      'stay, so that they are not answered again.',
  },
  {
    title: 'Completed Items',
    subject: 'progress',
    instruction:
      'The ledger: one line for every file, e-mail, page, record or step that was dealt with, by its exact name, path or id, ' +
      'followed by every fact that the task asks for about it as "name: value". Files created or changed, with what changed. ' +
      'Every item of the previous summary stays.',
  },
  {
    title: 'Facts and Values',
    subject: 'findings',
    instruction:
      'Exact values that later steps may need and that belong to no single item above: names, ids, numbers, dates, paths, ' +
      'URLs, commands, settings, error messages with what solved them.',
  },
  {
    title: 'Decisions',
    subject: 'decisions',
    instruction: 'What the user confirmed, rejected or prefers, and choices made on the way, each with its reason.',
  },
  {
    title: 'Open Items',
    subject: 'open',
    open: true,
    instruction:
      'Everything that is still to be done, each item by its exact name, path or id, in the order in which it comes; ' +
      'requests without an answer; tool calls whose outcome is unknown.',
  },
  {
    title: 'Current State',
    subject: 'state',
    open: true,
    instruction: 'What was being done where the transcript ends, the last stated plan, and the very next action.',
  },
];

/**
 * Few and deep compactions: each breaks the provider's cache, so it takes away all but the newest messages at once. The
 * summarizing model reads the conversation from the cache. What leaves the view can be opened again by id.
 */
export const DEFAULT_POLICY = definePolicy({
  name: 'default',
  // Leaves room for the error of an estimate above it, beside the output reserve.
  trigger: { fraction: 0.92, of: 'input_budget' },
  target: { fraction: 0.5, of: 'input_budget' },
  // With half, a session whose system prompt and tools take 13,449 tokens of 32,000 cost 14 % more.
  leastRoom: 0.4,
  keep: {
    tail: { tokens: 20_000, fraction: 0.1, of: 'input_budget' },
    userMessages: { tokens: 20_000, fraction: 0.25, of: 'input_budget' },
  },
  // Where no summary can be written.
  reduce: [
    { use: 'strip_images', options: { keepNewest: 2 } },
    {
      use: 'clear_tool_results',
      options: {
        // PROTECT and MIN_PRUNE of seeds/opencode.md.
        protect: { tokens: 40_000 },
        minimum: { tokens: 20_000 },
        protectedTools: ['update_plan'],
      },
    },
    {
      use: 'clip',
      options: {
        of: ['tool_result'],
        // Head and tail of seeds/wolffish.md.
        headFraction: 0.15,
        headLimit: 6_000,
        tailFraction: 0.08,
        tailLimit: 3_000,
        minimumCharacters: 2_000,
        protectNewest: 3,
        protectedTools: ['update_plan'],
      },
    },
  ],
  summary: {
    prompts: WORKING_SUMMARY_PROMPTS,
    sections,
    // Room for a ledger of some hundred lines.
    maximumOutput: { tokens: 13_600, fraction: 0.11, of: 'input_budget' },
    // Of six recorded sessions, no more facts came into the summaries when results were read whole, which cost up to 12 % more. The
    // head share is that of seeds/cowork.md.
    transcript: { toolResult: 6_000, headShare: 0.7 },
    sharesPrefix: SHARED_PREFIX_PROMPT,
    // What the user said last stands behind it, and is believed where the summary still says something else.
    placement: 'after_user_messages',
  },
  continuation: 'inside_turn',
});
