import { z } from 'zod';

export const tokens = z.number().int().nonnegative();
export const fraction = z.number().min(0).max(1);
export const characters = z.number().int().nonnegative();
export const count = z.number().int().nonnegative();
export const toolNames = z.array(z.string()).readonly();

export function object<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape).readonly();
}

const amountShape = {
  tokens: tokens.exactOptional(),
  fraction: fraction.exactOptional(),
  of: z.enum(['window', 'input_budget', 'output_reserve', 'free']).exactOptional(),
  exact: z.boolean().exactOptional(),
};

/**
 * Tokens: a number, a fraction of something, or the smaller of both. A number shrinks in proportion for windows below 100,000 tokens,
 * unless `exact`. `of`: default `input_budget`; `free` is what a compaction leaves free, the input budget less the target.
 */
export function amount(description: string) {
  return object(amountShape)
    .refine((value) => value.tokens !== undefined || value.fraction !== undefined, 'needs tokens, fraction or both')
    .meta({ description, isAmount: true });
}

/**
 * Tokens kept free for the answer. `upToMaximumOutput`: no more than the model's longest answer.
 * `yieldsToMaximumInput`: none where the vendor caps the input below the window.
 */
export const outputReserve = object({
  ...amountShape,
  upToMaximumOutput: z.boolean().exactOptional(),
  yieldsToMaximumInput: z.boolean().exactOptional(),
})
  .meta({
    description:
      'Tokens kept free for the answer. `null`: the smallest of the longest answer, 16,384 tokens and a fifth of the window.',
    isAmount: true,
  })
  .nullable()
  .default(null);

/** A text that a model reads; name and version are stored with each summary. */
const prompt = object({
  name: z.string().min(1).default('own'),
  version: z.number().int().positive().default(1),
  text: z.string().min(1),
});

export function promptOf(description: string) {
  return prompt.meta({ description, isPrompt: true });
}

/** `{{sections}}` in a text becomes the list of headings with their instructions. */
export const summaryPrompts = object({
  system: promptOf('System prompt of each summary call.'),
  history: promptOf('Asks for the summary of a part of the conversation, or for the update of an earlier summary.'),
  update: promptOf('Asks for the update of an earlier summary. `null`: `history` asks for both.').nullable(),
  turnPrefix: promptOf('Asks for the summary of the beginning of a turn whose end stays visible.'),
  merge: promptOf('Asks to merge the summaries of all parts.'),
});

export const summaryFraming = object({
  opening: z.string().min(1).meta({ description: 'Text above the summary.' }),
  closing: z.string().meta({ description: 'Text below the summary.' }),
});

export const continuationTexts = object({
  afterSummary: z.string().min(1).meta({ description: 'After a summary by a model.' }),
  afterExtract: z.string().min(1).meta({ description: 'After a summary that no model wrote.' }),
  withoutSummary: z.string().min(1).meta({ description: 'After a compaction without a summary.' }),
});

export const placeholderTexts = object({
  clip: z.string().min(1).exactOptional().meta({
    description:
      'Text between head and tail of a clipped content. It may hold `{{tool}}` and the counts `{{original}}`, `{{omitted}}`, `{{head}}` and `{{tail}}`.',
  }),
  strip: z.string().min(1).exactOptional().meta({
    description: 'Text in place of stripped images.',
  }),
  clear: z.string().min(1).exactOptional().meta({
    description: 'Text in place of a cleared tool result.',
  }),
});

/** What a section is for, so that a summary can be written without a model. */
const subject = z.enum(['requests', 'progress', 'findings', 'open', 'decisions', 'files', 'state']);

const section = object({
  title: z.string().min(1),
  /** Told to the summarizing model. */
  instruction: z.string().min(1),
  subject,
  /** Filled by the program with the exact words of each user message; the model is not asked for it. */
  quotesUserMessages: z.boolean().exactOptional(),
  /** Shown unfolded where summaries are listed. */
  open: z.boolean().exactOptional(),
});

export function sectionsOf(description: string) {
  return z
    .array(section)
    .min(1)
    .readonly()
    .refine((all) => new Set(all.map(({ title }) => title.trim().toLowerCase())).size === all.length, {
      message: 'has two sections of the same title',
    })
    .meta({ description, typeText: 'list of `{ title, instruction, subject, quotesUserMessages, open }`' });
}

export type TokenAmount = z.output<ReturnType<typeof amount>>;
export type Prompt = z.output<typeof prompt>;
export type SummaryPrompts = z.output<typeof summaryPrompts>;
export type SummaryFraming = z.output<typeof summaryFraming>;
export type ContinuationTexts = z.output<typeof continuationTexts>;
export type PlaceholderTexts = z.output<typeof placeholderTexts>;
export type SectionSubject = z.output<typeof subject>;
export type SummarySection = z.output<typeof section>;
