/** Options under `policy`: what of a preset can be overridden. */
import { z } from 'zod';

const tokens = z.number().int().nonnegative();
const fraction = z.number().min(0).max(1);
const characters = z.number().int().nonnegative();

function amount(description: string) {
  return z
    .strictObject({
      tokens: tokens.optional().meta({ description: 'Absolute number, taken as it is.', unit: 'tokens' }),
      fraction: fraction
        .optional()
        .meta({ description: 'Part of `of`. With `tokens`, the smaller one counts.', unit: '0 to 1' }),
      of: z.enum(['window', 'input_budget']).optional().meta({
        description: 'What the fraction is a part of: the whole window, or the window less the output reserve.',
        defaultText: '`input_budget`',
      }),
    })
    .refine((value) => value.tokens !== undefined || value.fraction !== undefined, 'needs tokens, fraction or both')
    .optional()
    .meta({ description, isAmount: true });
}

const toolNames = z.array(z.string()).optional();

export const stripImages = z.strictObject({
  keepNewest: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .meta({ description: 'Newest images that stay.', unit: 'images' }),
});

export const clearToolResults = z.strictObject({
  protect: amount('Newest tool output that stays.'),
  minimum: amount('Nothing is cleared unless this much is won.'),
  protectedTools: toolNames.meta({ description: 'Tools whose results stay.' }),
});

export const clip = z.strictObject({
  of: z
    .array(z.enum(['tool_result', 'assistant', 'user']))
    .optional()
    .meta({ description: 'What is clipped, in this order.' }),
  headFraction: fraction.optional().meta({ description: 'Part of a content kept at its start.', unit: '0 to 1' }),
  headLimit: characters.optional().meta({ description: 'Most that is kept at the start.', unit: 'characters' }),
  tailFraction: fraction.optional().meta({ description: 'Part of a content kept at its end.', unit: '0 to 1' }),
  tailLimit: characters.optional().meta({ description: 'Most that is kept at the end.', unit: 'characters' }),
  minimumCharacters: characters.optional().meta({ description: 'Shorter contents stay whole.', unit: 'characters' }),
  protectNewest: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .meta({ description: 'Newest entries of each role that stay whole.', unit: 'entries' }),
  protectErrors: z.boolean().optional().meta({ description: 'Results of failed calls stay whole.' }),
  protectedTools: toolNames.meta({ description: 'Tools whose results stay whole.' }),
});

const limit = characters.nullable().optional();

const transcriptLimits = z.strictObject({
  user: limit.meta({ description: 'Longest user message; `null` for no limit.', unit: 'characters' }),
  assistant: limit.meta({ description: 'Longest text of an answer; `null` for no limit.', unit: 'characters' }),
  toolResult: limit.meta({ description: 'Longest tool result; `null` for no limit.', unit: 'characters' }),
  toolInput: limit.meta({ description: 'Longest arguments of a tool call; `null` for no limit.', unit: 'characters' }),
  total: limit.meta({ description: 'Longest transcript of one request; `null` for no limit.', unit: 'characters' }),
  headShare: fraction.optional().meta({ description: 'Part of a shortened text kept at its start.', unit: '0 to 1' }),
});

/** A reducer is changed by giving options of it, and left out of the policy by `false`. */
function reducer<Options extends z.ZodType>(options: Options, description: string) {
  return z
    .union([z.literal(false), options])
    .optional()
    .meta({ description });
}

export const policyOptions = z.strictObject({
  enabled: z.boolean().optional().meta({ description: 'Whether the conversation is compacted at all.' }),
  trigger: amount('A pass starts when the next request is larger.'),
  target: amount('What a pass aims for.'),
  outputReserve: amount(
    'Kept free for the answer. Without a number: the smallest of the longest answer, 16,384 tokens and a fifth of the window.',
  ),
  keep: z
    .strictObject({
      tail: amount('Newest entries that stay as they are.'),
      userMessages: amount('Older user messages that stay verbatim, newest first.'),
      splitTurns: z.boolean().optional().meta({ description: 'Whether a cut may fall inside a turn.' }),
    })
    .optional()
    .meta({ description: 'What stays verbatim.' }),
  reduce: z
    .strictObject({
      strip_images: reducer(stripImages, 'Images are replaced by a marker.'),
      clear_tool_results: reducer(clearToolResults, 'Old tool results are replaced by a placeholder.'),
      clip: reducer(clip, 'Of large contents only head and tail are kept.'),
    })
    .optional()
    .meta({ description: 'Reductions without a model. `false` leaves one out.' }),
  summary: z
    .strictObject({
      when: z
        .enum(['if_needed', 'always', 'never'])
        .optional()
        .meta({ description: 'When a model is asked for a summary.' }),
      hiddenMaximum: amount('How much of the originals reducing may hide before a summary covers them.'),
      splitTurn: z.enum(['together', 'separate']).optional().meta({
        description:
          'Whether the beginning of a split turn is summarized together with the history, if both fit into one request.',
      }),
      maximumOutput: amount('Longest summary.'),
      transcript: transcriptLimits
        .optional()
        .meta({ description: 'How much of each original the summarizing model reads.' }),
      model: z
        .string()
        .nullable()
        .optional()
        .meta({ description: "Model that summarizes, as `provider/model`; `null` for the agent's own." }),
    })
    .optional()
    .meta({ description: 'The summary.' }),
  continuation: z
    .enum(['inside_turn', 'always', 'never'])
    .optional()
    .meta({ description: 'When a note tells the model to go on after a pass.' }),
  minimumGain: fraction
    .optional()
    .meta({ description: 'A pass that frees less of the window counts as failed.', unit: '0 to 1' }),
  forcedTargetFactor: fraction.optional().meta({
    description: 'Part of the target that a pass aims for after the provider reported an overflow.',
    unit: '0 to 1',
  }),
});

export type PolicyOptions = z.output<typeof policyOptions>;
