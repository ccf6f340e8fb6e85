import { definePolicy, FILE_TOOLS } from '../policy.ts';
import { CHECKPOINT_PROMPTS, CHECKPOINT_SECTIONS, TURN_PREFIX } from '../prompts/checkpoint.ts';

/**
 * seeds/pi.md: after a step and before a call, over the window less 16,384 tokens, everything but the newest 20,000
 * becomes a checkpoint in six sections that is carried on from pass to pass. A cut may split a turn.
 *
 * Taken from its code: tool results are cut to 2,000 characters for the summarizing model. Not taken: summarizing nothing when
 * the log ends in large tool results, dropping the previous summary when a split turn has no history before it.
 */
export const PI_POLICY = definePolicy({
  name: 'pi',
  counting: { charactersPerToken: 4, imageCharacters: 4_800, unreported: 'wait' },
  checkAfterLastStep: true,
  trigger: { fraction: 1, of: 'input_budget' },
  outputReserve: { tokens: 16_384 },
  keep: {
    tail: { tokens: 20_000 },
    tailReaches: 'at_least',
  },
  summary: {
    prompts: CHECKPOINT_PROMPTS,
    sections: CHECKPOINT_SECTIONS,
    maximumOutput: { fraction: 0.8, of: 'output_reserve' },
    turnPrefix: { ...TURN_PREFIX, maximumOutput: { fraction: 0.5, of: 'output_reserve' } },
    fileLists: FILE_TOOLS,
    transcript: { toolResult: 2_000 },
  },
});
