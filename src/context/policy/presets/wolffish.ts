import { LINES } from '../../log/frames.ts';
import { definePolicy } from '../policy.ts';
import {
  BATCH_ADVICE,
  STATE_CONTINUATIONS,
  STATE_NOTICE,
  STATE_PROMPTS,
  STATE_SECTIONS,
} from '../prompts/state-summary.ts';

/**
 * seeds/wolffish.md: before a call that is over 75 % of the input budget, long contents are shortened where they stand, the
 * largest tool results first, and one summary of their originals is put at the end, with the order to go on.
 *
 * Taken from its code: tool schemas, arguments and images are counted too; a content that head, tail and 200 characters
 * would cover stays; unknown models reserve 8,000 tokens, and no reserve is more than half of the window; the summary is
 * trusted; the counters of the turn stand at the end of the request, the advice in the system prompt; results that say
 * nothing new are stubs. Not taken: its plain
 * joining of parts, a reported count that replaces the estimate, a rolling summary between turns.
 */
export const WOLFFISH_POLICY = definePolicy({
  name: 'wolffish',
  // Over-counting costs a pass too early, under-counting a refused request.
  counting: { charactersPerToken: 1.5, reported: 'higher' },
  trigger: { fraction: 0.75, of: 'input_budget' },
  target: { fraction: 0.5, of: 'input_budget' },
  outputReserve: { tokens: 8_000, fraction: 0.5, of: 'window' },
  outputReserves: {
    'deepseek-v4-pro': 32_768,
    'claude-opus': 0,
    // From 4.6 on: those before have the reserve of any model.
    'claude-opus-4': 8_000,
    'claude-opus-4-6': 0,
    'claude-opus-4-7': 0,
    'claude-opus-4-8': 0,
    'claude-sonnet-4-6': 0,
    'grok-4.3': 65_536,
    'gpt-5': 65_536,
    'gpt-4.1': 32_768,
    'kimi-k2': 65_536,
    'qwen-3.7-max': 65_536,
    'qwen3.7-max': 65_536,
  },
  keep: {
    // Nothing is cut off; the reducers say what stays whole.
    tail: { tokens: 0 },
  },
  reduce: [
    { use: 'strip_images', options: { keepNewest: 0 } },
    {
      use: 'clip',
      options: {
        of: ['tool_result', 'assistant', 'user'],
        headFraction: 0.15,
        headLimit: 6_000,
        tailFraction: 0.08,
        tailLimit: 3_000,
        minimumCharacters: 500,
        protectNewest: 3,
        protectFirstUserMessage: true,
        unseen: true,
        expectedRetention: 0.25,
      },
    },
  ],
  summary: {
    of: 'shortened',
    prompts: STATE_PROMPTS,
    sections: STATE_SECTIONS,
    headings: 'labels',
    maximumOutput: { tokens: 8_192, fraction: 0.1, of: 'input_budget' },
    placement: 'end',
    framing: { opening: LINES.stateSummary, closing: '' },
    extractOpening: STATE_NOTICE,
    transcript: { headShare: 0.7 },
  },
  placeholders: {
    clip:
      '[TRUNCATED — {{original}} chars original, {{omitted}} chars omitted,\n' +
      'showing first {{head}} + last {{tail}} chars]',
    strip: '[Screenshot analyzed — image omitted from context]',
  },
  continuation: 'always',
  continuationText: STATE_CONTINUATIONS,
  lasts: 'turn',
  toolsOneByOne: true,
  runtimeNote: BATCH_ADVICE,
  requestStubs: {
    equalCharacters: 2_000,
    pageTools: ['read_page', 'browser_read', 'web_fetch'],
    newestImagesOnly: true,
  },
  // The whole file in the window of its reference run; its own ratio counts this as 13 % of a smaller one.
  taskFile: { tokens: 25_000, fraction: 0.05, of: 'input_budget' },
  namedBlocks: true,
});
