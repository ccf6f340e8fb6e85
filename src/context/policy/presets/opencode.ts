import { definePolicy, FILE_TOOLS } from '../policy.ts';
import { CONTINUATION_PROMPTS, CONTINUATION_SECTIONS } from '../prompts/continuation-prompt.ts';

/**
 * seeds/opencode.md: when a step's usage is over the usable window, everything before a marker becomes the answer to a question,
 * and the work goes on from there. Besides, after each turn, old tool results beyond 40,000 tokens are cleared.
 *
 * Taken from its code: fixed headings, tool results cut to 2,000 characters, results of the two newest turns stay, the newest
 * request of the user is repeated after the summary, the longer continuation. Not taken: a tail that stays verbatim.
 */
export const OPENCODE_POLICY = definePolicy({
  name: 'opencode',
  counting: { charactersPerToken: 4, reported: 'alone', unreported: 'wait' },
  checkAfterLastStep: true,
  reduceAfterTurn: true,
  trigger: { fraction: 1, of: 'input_budget' },
  // The product's cap on output tokens, as in its code.
  outputReserve: { tokens: 32_000, yieldsToModel: true },
  keep: {
    tail: { tokens: 0 },
    pivot: true,
  },
  reduce: [
    {
      use: 'clear_tool_results',
      options: {
        protect: { tokens: 40_000 },
        minimum: { tokens: 20_000 },
        protectedTools: ['skill'],
        protectTurns: 2,
      },
    },
  ],
  summary: {
    prompts: CONTINUATION_PROMPTS,
    sections: CONTINUATION_SECTIONS,
    maximumOutput: { fraction: 1, of: 'output_reserve' },
    // Not in the document: R18 holds for every preset.
    fileLists: FILE_TOOLS,
    question: 'What did we do so far?',
    transcript: { toolResult: 2_000 },
  },
  placeholders: { clear: '[Old tool result content cleared]' },
  continuation: 'automatic',
  continuationText:
    'Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.',
});
