/** What a policy is made of, and its part under `summary`. */
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
  of: z.enum(['window', 'input_budget', 'output_reserve']).exactOptional(),
  exact: z.boolean().exactOptional(),
};

/**
 * Tokens: a number, a fraction of something, or the smaller of both. A number shrinks in proportion for windows below 100,000 tokens,
 * unless `exact`. `of`: default `input_budget`.
 */
export function amount(description: string) {
  return object(amountShape)
    .refine((value) => value.tokens !== undefined || value.fraction !== undefined, 'needs tokens, fraction or both')
    .meta({ description, isAmount: true });
}

/**
 * Tokens kept free for the answer. `yieldsToModel`: no more than the model's longest answer, and only what the vendor leaves where it caps
 * the input below the window.
 */
export const outputReserve = object({
  ...amountShape,
  yieldsToModel: z.boolean().exactOptional(),
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

/** A prompt that asks for the policy's sections: an answer without their headings is refused. */
function sectionsPromptOf(description: string) {
  const message = 'needs {{sections}} in its text, where the headings with their instructions go';
  return prompt.refine(({ text }) => text.includes('{{sections}}'), message).meta({ description, isPrompt: true });
}

/** `{{sections}}` in a text becomes the list of headings with their instructions. */
export const summaryPrompts = object({
  system: promptOf('System prompt of each summary call.'),
  history: sectionsPromptOf(
    'Asks for the summary of a part of the conversation, or for the update of an earlier summary.',
  ),
  update: sectionsPromptOf('Asks for the update of an earlier summary. `null`: `history` asks for both.').nullable(),
  merge: sectionsPromptOf('Asks to merge the summaries of all parts.'),
});

/** Prompts of a design, each with its name. @param version to be raised with each change of a text */
export function promptsOf(
  design: string,
  texts: Readonly<Record<'system' | 'history' | 'merge', string>> & { readonly update?: string },
  version = 1,
): SummaryPrompts {
  const prompt = (kind: keyof SummaryPrompts, text: string): Prompt => ({ name: `${design}.${kind}`, version, text });
  return {
    system: prompt('system', texts.system),
    history: prompt('history', texts.history),
    update: texts.update === undefined ? null : prompt('update', texts.update),
    merge: prompt('merge', texts.merge),
  };
}

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
      'Text between head and tail of a clipped content. It may hold the counts `{{original}}`, `{{omitted}}`, `{{head}}` and `{{tail}}`.',
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

const limit = (description: string) => characters.nullable().default(null).meta({ description, unit: 'characters' });

const transcript = object({
  user: limit('Longest user message. `null`: no limit.'),
  assistant: limit('Longest text of an answer. `null`: no limit.'),
  toolResult: limit('Longest tool result. `null`: no limit.'),
  toolInput: limit('Longest arguments of a tool call. `null`: no limit.'),
  total: limit('Longest transcript of one request. `null`: no limit.'),
  headShare: fraction.default(1).meta({
    description: 'Part of a shortened text that is kept at its start. The rest is kept at its end.',
    unit: '0 to 1',
  }),
});

const flush = object({
  slack: amount('Runs only if less than this is left of the window.'),
  cooldown: count.meta({ description: 'Least time between two runs.', unit: 'milliseconds' }),
  minimumGrowth: tokens.meta({ description: 'Least growth of the view between two runs.', unit: 'tokens' }),
  minimumMessages: count.meta({ description: 'Least number of messages.', unit: 'messages' }),
  maximumOutput: tokens.meta({ description: 'Longest answer.', unit: 'tokens' }),
  prompt: sectionsPromptOf('Asks for the small summary.'),
  sections: sectionsOf('Sections of the small summary.'),
});

export const summary = object({
  when: z.enum(['if_needed', 'always', 'never']).default('always').meta({
    description: 'When a model is asked for a summary. `if_needed`: only if the reducers do not reach the target.',
  }),
  prompts: summaryPrompts.meta({ description: 'What the summarizing model is asked.' }),
  sections: sectionsOf('Sections of a summary. A list replaces the whole list of the preset.'),
  maximumOutput: amount('Longest summary.'),
  turnPrefix: object({
    prompt: sectionsPromptOf('Asks for it.'),
    sections: sectionsOf('Its sections.'),
    maximumOutput: amount('Its longest text.'),
  })
    .nullable()
    .default(null)
    .meta({
      description:
        'A summary of its own for the beginning of a split turn (`keep.splitTurns`). `null`: one summary covers it and the history.',
    }),
  fileLists: object({
    read: toolNames.default([]).meta({ description: 'Tools that read files.' }),
    modified: toolNames.default([]).meta({ description: 'Tools that change files.' }),
  })
    .nullable()
    .default(null)
    .meta({ description: 'Puts lists of files below the summary, from the calls of these tools.' }),
  question: z.string().min(1).nullable().default(null).meta({
    description:
      "A user message before the summary, which is then the assistant's answer. `null`: the summary is a message of its own.",
  }),
  transcript: transcript.prefault({}).meta({ description: 'How much of each original the summarizing model reads.' }),
  sharesPrefix: sectionsPromptOf(
    "Asks for the summary behind the last request, so that the provider reads it from its cache. It needs the agent's own model, a fresh cache and enough room. Otherwise, and with `null`, a transcript is sent.",
  )
    .nullable()
    .default(null),
  minimumOutput: tokens
    .default(0)
    .meta({ description: 'Smallest room for a summary, however small the window.', unit: 'tokens' }),
  of: z.enum(['dropped', 'shortened']).default('dropped').meta({
    description:
      'What a summary covers: `dropped` messages, which leave the view, or all of a view whose large texts are `shortened`, as in `wolffish`.',
  }),
  placement: z.enum(['first', 'after_first_message', 'after_user_messages', 'end']).default('first').meta({
    description:
      'Place of the summary in the view. After the user messages: those that were kept at the compaction before, so that the cache of the provider has them.',
  }),
  framing: summaryFraming.nullable().default(null).meta({
    description: 'Texts around a summary. `null`: the built-in ones.',
  }),
  extractOpening: z.string().min(1).nullable().default(null).meta({
    description: 'Replaces `framing.opening` if no model wrote the summary. `null`: the same text.',
  }),
  headings: z.enum(['markdown', 'labels']).default('markdown').meta({ description: 'Form of the section headings.' }),
  condensed: object({
    belowTokens: tokens.meta({
      description: 'Shorter summaries than this get the condensed instructions.',
      unit: 'tokens',
    }),
    sections: sectionsOf('The same sections with shorter instructions.'),
  })
    .nullable()
    .default(null)
    .meta({ description: 'Shorter instructions for short summaries.' }),
  quotedMessages: amount('Room for quoted user messages in a summary. It needs a section with `quotesUserMessages`.')
    .nullable()
    .default(null),
  overflowGuard: amount('A finished summary is shortened until the view is at most this.').nullable().default(null),
  memory: object({
    dailyLogFolder: z
      .string()
      .meta({ description: 'Folder of the workspace. If it exists, summaries are added to a daily log in it.' }),
  })
    .nullable()
    .default(null)
    .meta({ description: 'Each summary becomes a memory of the workspace.' }),
  flush: flush
    .nullable()
    .default(null)
    .meta({ description: 'Writes a small summary to memory before a compaction in a full window.' }),
  model: z
    .string()
    .nullable()
    .default(null)
    .meta({ description: "Model that summarizes, as `provider/model`. `null`: the agent's own." }),
}).meta({ description: 'How summaries are made.' });

type SummaryPolicy = z.output<typeof summary>;
export type TranscriptLimits = SummaryPolicy['transcript'];
