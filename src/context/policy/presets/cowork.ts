import { definePolicy, FILE_TOOLS } from '../policy.ts';
import {
  CONDENSED_HANDOFF_SECTIONS,
  FLUSH_PROMPT,
  FLUSH_SECTIONS,
  HANDOFF_FRAMING,
  HANDOFF_PROMPTS,
  HANDOFF_SECTIONS,
} from '../prompts/handoff-summary.ts';

/**
 * seeds/cowork.md: at 90 % of the window oversized tool results are capped and older messages removed down to 50 %; a
 * hand-off summary stands after the first message and goes to memory.
 *
 * Taken from its code: the caps of tool results, the flush before a pass in a full window, older messages about active
 * files, 35 % after an overflow. Not taken: the reserve and thresholds that its code uses instead of the documented ones,
 * the cut of the transcript's newest part, the wrong tag.
 */
export const COWORK_POLICY = definePolicy({
  name: 'cowork',
  trigger: { fraction: 0.9, of: 'window' },
  // After an overflow every preset aims for 70 % of its target: here for 35 % of the window.
  target: { fraction: 0.5, of: 'window' },
  outputReserve: { tokens: 0 },
  keep: {
    // With summary, first message and a system prompt of some thousand tokens: half of the window.
    tail: { fraction: 0.42, of: 'window' },
    firstUserMessage: true,
    activeFiles: { fraction: 0.15, of: 'input_budget' },
  },
  reduce: [
    {
      use: 'cap_tool_results',
      options: {
        limit: { tokens: 10_000 },
        documentLimit: { tokens: 30_000 },
        documentTools: ['read_file'],
        arrayItems: 50,
      },
    },
  ],
  summary: {
    prompts: HANDOFF_PROMPTS,
    sections: HANDOFF_SECTIONS,
    condensed: { belowTokens: 2_000, sections: CONDENSED_HANDOFF_SECTIONS },
    // 8 % of the available tokens, which are the half of the window that the target leaves: the documented 640 of 16,000.
    maximumOutput: { tokens: 4_096, fraction: 0.04, of: 'window' },
    // A viable summary needs it, so it does not shrink with the window.
    minimumOutput: 500,
    quotedMessages: { tokens: 10_000, fraction: 0.05, of: 'window' },
    placement: 'after_first_message',
    framing: HANDOFF_FRAMING,
    overflowGuard: { fraction: 0.95, of: 'window' },
    memory: { dailyLogFolder: '.cowork' },
    flush: {
      slack: { tokens: 1_200 },
      cooldown: 120_000,
      minimumGrowth: 250,
      minimumMessages: 4,
      maximumOutput: 220,
      prompt: FLUSH_PROMPT,
      sections: FLUSH_SECTIONS,
    },
    // Not in the document: R18 holds for every preset.
    fileLists: FILE_TOOLS,
    transcript: {
      user: 3_000,
      assistant: 1_500,
      toolResult: 1_200,
      toolInput: 800,
      total: 60_000,
      headShare: 0.7,
    },
  },
});
