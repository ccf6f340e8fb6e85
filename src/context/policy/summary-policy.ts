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
  user: limit('Longest user message; `null` for no limit.'),
  assistant: limit('Longest text of an answer; `null` for no limit.'),
  toolResult: limit('Longest tool result; `null` for no limit.'),
  toolInput: limit('Longest arguments of a tool call; `null` for no limit.'),
  total: limit('Longest transcript of one request; `null` for no limit.'),
  headShare: fraction
    .default(1)
    .meta({ description: 'Part of a shortened text kept at its start; the end keeps the rest.', unit: '0 to 1' }),
});

const flush = object({
  slack: amount('Only when less than this is left of the window.'),
  cooldown: count.meta({ description: 'Not again within this time.', unit: 'milliseconds' }),
  minimumGrowth: tokens.meta({ description: 'Not again before the view grew by this.', unit: 'tokens' }),
  minimumMessages: count.meta({ description: 'Only from this many messages on.', unit: 'messages' }),
  maximumOutput: tokens.meta({ description: 'Longest answer.', unit: 'tokens' }),
  prompt: promptOf('Asks for it.'),
  sections: sectionsOf('Its sections.'),
});

export const summary = object({
  when: z.enum(['if_needed', 'always', 'never']).default('always').meta({
    description: 'When a model is asked for a summary; `if_needed`: only if reducing does not reach the target.',
  }),
  prompts: summaryPrompts.meta({ description: 'What the summarizing model is asked.' }),
  sections: sectionsOf('Sections of a summary. A list replaces the whole list of the preset.'),
  turnPrefixSections: sectionsOf(
    'Sections for the beginning of a split turn that is summarized separately; `null`: `sections`.',
  )
    .nullable()
    .default(null),
  splitTurn: z.enum(['together', 'separate']).default('together').meta({
    description:
      'Whether the beginning of a split turn is summarized together with the history, if both fit into one request.',
  }),
  maximumOutput: amount('Longest summary.'),
  turnPrefixOutput: amount(
    'Longest text for the beginning of a split turn that is summarized separately; `null`: as `maximumOutput`.',
  )
    .nullable()
    .default(null),
  fileLists: object({
    read: toolNames.default([]).meta({ description: 'Tools whose calls read the files that they name.' }),
    modified: toolNames.default([]).meta({ description: 'Tools whose calls change the files that they name.' }),
  })
    .nullable()
    .default(null)
    .meta({ description: 'Tools from whose calls lists of files are made, to stand below the summary.' }),
  question: z.string().min(1).nullable().default(null).meta({
    description:
      "Stands before the summary, which is then the assistant's answer to it; `null`: the summary is a message of its own.",
  }),
  transcript: transcript.prefault({}).meta({ description: 'How much of each original the summarizing model reads.' }),
  sharesPrefix: promptOf(
    "Asked behind the beginning of the last request, which the provider has cached, when the agent's own model summarizes, the last call was made within the cache's lifetime, and all of it fits; otherwise, and with `null`, a transcript is sent.",
  )
    .nullable()
    .default(null),
  minimumOutput: tokens
    .default(0)
    .meta({ description: 'Least room for a summary, however small the window.', unit: 'tokens' }),
  of: z.enum(['dropped', 'shortened']).default('dropped').meta({
    description: 'What a summary stands for: messages that are dropped, or the originals of those shortened in place.',
  }),
  placement: z.enum(['first', 'after_first_message', 'end']).default('first').meta({
    description: 'Where the summary stands in the view.',
  }),
  framing: summaryFraming.nullable().default(null).meta({
    description: 'The words around a summary; `null` for the built-in ones.',
  }),
  extractOpening: z.string().min(1).nullable().default(null).meta({
    description: 'In place of `framing.opening` where no model wrote the summary; `null`: the same.',
  }),
  headings: z.enum(['markdown', 'labels']).default('markdown').meta({ description: 'How sections are headed.' }),
  condensed: object({
    belowTokens: tokens.meta({ description: 'Summaries below this are condensed.', unit: 'tokens' }),
    sections: sectionsOf('The same sections with shorter instructions.'),
  })
    .nullable()
    .default(null)
    .meta({ description: 'Shorter instructions for short summaries.' }),
  quotedMessages: amount('What quoted user messages may take in a summary; needs a section that quotes them.')
    .nullable()
    .default(null),
  overflowGuard: amount('A finished summary is shortened until the view is at most this.').nullable().default(null),
  memory: object({
    dailyLogFolder: z
      .string()
      .meta({ description: 'Folder of the workspace; if it exists, summaries are added to a daily log there.' }),
  })
    .nullable()
    .default(null)
    .meta({ description: 'Each summary becomes a memory of the workspace.' }),
  flush: flush
    .nullable()
    .default(null)
    .meta({ description: 'A small summary to memory before a compaction in a full window.' }),
  model: z
    .string()
    .nullable()
    .default(null)
    .meta({ description: "Model that summarizes, as `provider/model`; `null` for the agent's own." }),
}).meta({ description: 'The summary.' });

type SummaryPolicy = z.output<typeof summary>;
export type TranscriptLimits = SummaryPolicy['transcript'];
export type SummaryPlacement = SummaryPolicy['placement'];
