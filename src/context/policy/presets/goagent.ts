import { definePolicy, FILE_TOOLS } from '../policy.ts';
import { CHECKPOINT_PROMPTS, CHECKPOINT_SECTIONS, TURN_PREFIX } from '../prompts/checkpoint.ts';

/**
 * seeds/goagent.md: before every call, over the window less 16,384 tokens, everything before a user message becomes a summary
 * that is merged with the one before. The newest 20,000 tokens stay; a cut falls inside a turn only when the turn by itself
 * is larger than that.
 *
 * Taken from its code: summaries of 4,096 tokens, tool results cut to 2,000 characters, at least 4 messages. Not taken:
 * compaction off by default, failures that nobody sees.
 */
export const GOAGENT_POLICY = definePolicy({
  name: 'goagent',
  counting: { charactersPerToken: 4 },
  trigger: { fraction: 1, of: 'input_budget' },
  outputReserve: { tokens: 16_384 },
  keep: {
    tail: { tokens: 20_000 },
    splitTurns: false,
    tailReaches: 'at_least',
    minimumMessages: 4,
  },
  summary: {
    prompts: CHECKPOINT_PROMPTS,
    sections: CHECKPOINT_SECTIONS,
    maximumOutput: { tokens: 4_096 },
    turnPrefix: { ...TURN_PREFIX, maximumOutput: { tokens: 4_096 } },
    fileLists: FILE_TOOLS,
    transcript: { toolResult: 2_000 },
  },
});
