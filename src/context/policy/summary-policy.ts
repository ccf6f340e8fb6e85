/** The part of a policy under `summary`. */
import { z } from 'zod';
import {
  amount,
  characters,
  count,
  fraction,
  object,
  promptOf,
  sectionsOf,
  summaryFraming,
  summaryPrompts,
  tokens,
  toolNames,
} from './policy-parts.ts';

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
  prompt: promptOf('Asks for the small summary.'),
  sections: sectionsOf('Sections of the small summary.'),
});

export const summary = object({
  when: z.enum(['if_needed', 'always', 'never']).default('always').meta({
    description: 'When a model is asked for a summary. `if_needed`: only if the reducers do not reach the target.',
  }),
  prompts: summaryPrompts.meta({ description: 'What the summarizing model is asked.' }),
  sections: sectionsOf('Sections of a summary. A list replaces the whole list of the preset.'),
  turnPrefixSections: sectionsOf('Sections of a separate summary of the beginning of a split turn. `null`: `sections`.')
    .nullable()
    .default(null),
  splitTurn: z.enum(['together', 'separate']).default('together').meta({
    description: 'Whether history and the beginning of a split turn share one summary, if both fit into one request.',
  }),
  maximumOutput: amount('Longest summary.'),
  turnPrefixOutput: amount('Longest separate summary of the beginning of a split turn. `null`: as `maximumOutput`.')
    .nullable()
    .default(null),
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
  sharesPrefix: promptOf(
    "Asks for the summary behind the last request, so that the provider reads it from its cache. It needs the agent's own model, a fresh cache and enough room. Otherwise, and with `null`, a transcript is sent.",
  )
    .nullable()
    .default(null),
  minimumOutput: tokens
    .default(0)
    .meta({ description: 'Smallest room for a summary, however small the window.', unit: 'tokens' }),
  of: z.enum(['dropped', 'shortened']).default('dropped').meta({
    description: 'What a summary covers: dropped messages, or messages that are shortened in place.',
  }),
  placement: z.enum(['first', 'after_first_message', 'end']).default('first').meta({
    description: 'Place of the summary in the view.',
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
export type SummaryPlacement = SummaryPolicy['placement'];
