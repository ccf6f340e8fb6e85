/** Options of the reducers, and what options of a policy are made of. */
import { z } from 'zod';

export const tokens = z.number().int().nonnegative();
export const fraction = z.number().min(0).max(1);
export const characters = z.number().int().nonnegative();

export function amount(description: string) {
  return z
    .strictObject({
      tokens: tokens.optional().meta({ description: 'Absolute number, taken as it is.', unit: 'tokens' }),
      fraction: fraction
        .optional()
        .meta({ description: 'Part of `of`. With `tokens`, the smaller one counts.', unit: '0 to 1' }),
      of: z.enum(['window', 'input_budget', 'output_reserve', 'free']).optional().meta({
        description:
          'What the fraction is a part of: the whole window, the window less the output reserve, that reserve, or what a pass leaves free.',
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
  protectTurns: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .meta({ description: 'Newest turns whose results stay.', unit: 'user messages' }),
  placeholder: z
    .string()
    .min(1)
    .nullable()
    .optional()
    .meta({ description: 'Stands for a cleared result; `null` for a line that names it and says how to get it back.' }),
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
  protectFirstUserMessage: z.boolean().optional().meta({ description: 'The first user message stays whole.' }),
  unseen: z
    .boolean()
    .optional()
    .meta({ description: 'Whether contents may be clipped that no request has carried yet.' }),
  expectedRetention: fraction.optional().meta({
    description: 'Part of a content that is expected to stay when contents are chosen.',
    unit: '0 to 1',
  }),
});

export const capToolResults = z.strictObject({
  limit: amount('Longest tool result that stays whole.'),
  documentLimit: amount('The same for results of `documentTools`.'),
  documentTools: toolNames.meta({ description: 'Tools that read documents.' }),
  arrayItems: z
    .number()
    .int()
    .positive()
    .optional()
    .meta({ description: 'First items that stay of a result that is a JSON array.', unit: 'items' }),
});
