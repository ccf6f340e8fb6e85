import type { CompactionPolicy } from '../policy.ts';
import { CONTINUATION_PROMPTS, CONTINUATION_SECTIONS } from '../prompts/continuation-prompt.ts';

/**
 * seeds/opencode.md: when a step's usage is over the usable window, everything before a marker becomes the answer to a question,
 * and the work goes on from there. Besides, after each turn, old tool results beyond 40,000 tokens are cleared.
 *
 * Taken from its code: fixed headings, tool results cut to 2,000 characters, results of the two newest turns stay, the newest
 * request of the user is repeated after the summary, the longer continuation. Not taken: a tail that stays verbatim.
 */
export const OPENCODE_POLICY: CompactionPolicy = {
  name: 'opencode',
  enabled: true,
  window: null,
  counting: { charactersPerToken: 4, imageCharacters: null, reported: 'alone', unreported: 'wait' },
  checkAfterLastStep: true,
  reduceAfterTurn: true,
  trigger: { fraction: 1, of: 'input_budget' },
  target: null,
  // The product's cap on output tokens, as in its code.
  outputReserve: { tokens: 32_000, upToMaximumOutput: true, yieldsToMaximumInput: true },
  keep: {
    tail: { tokens: 0 },
    userMessages: { tokens: 0 },
    splitTurns: true,
    tailReaches: 'at_most',
    pivot: true,
    minimumMessages: 0,
  },
  reduce: [
    {
      kind: 'clear_tool_results',
      protect: { tokens: 40_000 },
      minimum: { tokens: 20_000 },
      protectedTools: ['skill'],
      protectTurns: 2,
      placeholder: '[Old tool result content cleared]',
    },
  ],
  summary: {
    when: 'always',
    prompts: CONTINUATION_PROMPTS,
    sections: CONTINUATION_SECTIONS,
    turnPrefixSections: null,
    splitTurn: 'together',
    maximumOutput: { fraction: 1, of: 'output_reserve' },
    turnPrefixOutput: null,
    appendedShare: 0,
    // Not in the document: R18 holds for every preset.
    fileLists: { read: ['read_file', 'read'], modified: ['write_file', 'edit_file', 'write', 'edit'] },
    question: 'What did we do so far?',
    transcript: { user: null, assistant: null, toolResult: 2_000, toolInput: null, total: null, headShare: 1 },
    model: null,
  },
  continuation: 'automatic',
  continuationText:
    'Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.',
  minimumGain: 0.1,
  forcedTargetFactor: 0.7,
};
