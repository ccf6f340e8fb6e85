import type { CompactionPolicy } from '../policy.ts';
import { CHECKPOINT_PROMPTS, CHECKPOINT_SECTIONS, TURN_PREFIX_SECTIONS } from '../prompts/checkpoint.ts';

/**
 * seeds/goagent.md: before every call, over the window less 16,384 tokens, everything before a user message becomes a summary
 * that is merged with the one before. The newest 20,000 tokens stay; a cut falls inside a turn only when the turn by itself
 * is larger than that.
 *
 * Taken from its code: summaries of 4,096 tokens, tool results cut to 2,000 characters, at least 4 messages. Not taken:
 * compaction off by default, failures that nobody sees.
 */
export const GOAGENT_POLICY: CompactionPolicy = {
  name: 'goagent',
  enabled: true,
  window: null,
  counting: { charactersPerToken: 4, imageCharacters: null, reported: 'plus_estimate', unreported: 'estimate' },
  checkAfterLastStep: false,
  reduceAfterTurn: false,
  trigger: { fraction: 1, of: 'input_budget' },
  target: null,
  outputReserve: { tokens: 16_384 },
  keep: {
    tail: { tokens: 20_000 },
    userMessages: { tokens: 0 },
    splitTurns: false,
    tailReaches: 'at_least',
    pivot: false,
    minimumMessages: 4,
  },
  reduce: [],
  summary: {
    when: 'always',
    prompts: CHECKPOINT_PROMPTS,
    sections: CHECKPOINT_SECTIONS,
    turnPrefixSections: TURN_PREFIX_SECTIONS,
    splitTurn: 'separate',
    maximumOutput: { tokens: 4_096 },
    turnPrefixOutput: null,
    appendedShare: 0,
    fileLists: { read: ['read_file', 'read'], modified: ['write_file', 'edit_file', 'write', 'edit'] },
    question: null,
    transcript: { user: null, assistant: null, toolResult: 2_000, toolInput: null, total: null, headShare: 1 },
    model: null,
  },
  continuation: 'never',
  continuationText: null,
  minimumGain: 0.1,
  forcedTargetFactor: 0.7,
};
