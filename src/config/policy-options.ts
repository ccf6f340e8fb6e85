/** Options under `policy`: what of a preset can be overridden. */
import { z } from 'zod';
import { MOST_OVERFLOW_RECOVERIES } from '../turn/limits.ts';
import {
  amount,
  capToolResults,
  characters,
  clearToolResults,
  clip,
  fraction,
  stripImages,
  tokens,
} from './reducer-options.ts';

const activeFiles = z.strictObject({
  amount: amount('What these messages may take.'),
  messages: z
    .number()
    .int()
    .positive()
    .optional()
    .meta({ description: 'Newest messages whose files are active.', unit: 'messages' }),
});

/** What can be changed of a preset's flush to memory; its prompt is text. */
export const flush = z.strictObject({
  slack: amount('Only when less than this is left of the window.'),
  cooldown: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .meta({ description: 'Not again within this time.', unit: 'milliseconds' }),
  minimumGrowth: tokens.optional().meta({ description: 'Not again before the view grew by this.', unit: 'tokens' }),
  minimumMessages: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .meta({ description: 'Only from this many messages on.', unit: 'messages' }),
  maximumOutput: tokens.optional().meta({ description: 'Longest answer.', unit: 'tokens' }),
});

const characterCounting = z.strictObject({
  charactersPerToken: z
    .number()
    .positive()
    .optional()
    .meta({ description: 'Characters that count as one token.', unit: 'characters', defaultText: '4' }),
  imageCharacters: characters.nullable().optional().meta({
    description: 'What an image counts as; `null` for a token per 28 × 28 pixels.',
    unit: 'characters',
    defaultText: '`null`',
  }),
  reported: z.enum(['ignored', 'plus_estimate', 'alone', 'higher']).optional().meta({
    description:
      "The provider's count of the newest call: ignored, with an estimate of what came after it, alone, or that sum or the estimate of everything, whichever is higher.",
    defaultText: '`plus_estimate`',
  }),
  unreported: z.enum(['estimate', 'wait']).optional().meta({
    description: 'What counts before the provider has counted anything: the estimate, or nothing.',
    defaultText: '`estimate`',
  }),
});

const fileLists = z.strictObject({
  read: z.array(z.string()).optional().meta({ description: 'Tools whose calls read the files that they name.' }),
  modified: z.array(z.string()).optional().meta({ description: 'Tools whose calls change the files that they name.' }),
});

const requestStubs = z.strictObject({
  equalCharacters: characters.optional().meta({
    description: 'Of results that are equal and at least this long, only the first is shown.',
    unit: 'characters',
    defaultText: '2,000',
  }),
  pageTools: z
    .array(z.string())
    .optional()
    .meta({ description: 'Tools that read pages: a read gives way to a newer one with the same arguments.' }),
  newestImagesOnly: z
    .boolean()
    .optional()
    .meta({ description: 'Whether images of older results give way to those of a newer one.', defaultText: '`false`' }),
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
  window: tokens.nullable().optional().meta({
    description: "Context window to count with, `null` for the model's; 0 switches off like `enabled: false`.",
    unit: 'tokens',
  }),
  counting: z
    .union([z.literal('calibrated'), characterCounting])
    .optional()
    .meta({
      description:
        'How the policy counts for its own numbers: by the calibrated estimate, or by a fixed number of characters per token.',
    }),
  checkAfterLastStep: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the check is made after the last step of a turn too, not only before each call.' }),
  reduceAfterTurn: z
    .boolean()
    .optional()
    .meta({ description: 'Whether reducing happens after each turn, however full the window is, and not in passes.' }),
  trigger: amount('A pass starts when the next request is larger.'),
  target: amount('What a pass aims for.'),
  outputReserve: amount(
    'Kept free for the answer. Without a number: the smallest of the longest answer, 16,384 tokens and a fifth of the window.',
  ),
  keep: z
    .strictObject({
      tail: amount('Newest entries that stay as they are.'),
      userMessages: amount(
        'Older user messages that stay verbatim: the newest, up to the first that does not fit; longer ones than half of it are passed over.',
      ),
      splitTurns: z.boolean().optional().meta({ description: 'Whether a cut may fall inside a turn.' }),
      tailReaches: z.enum(['at_most', 'at_least']).optional().meta({
        description: 'Whether the entry with which the tail gets larger than its budget still belongs to it.',
      }),
      pivot: z.boolean().optional().meta({
        description: 'Whether everything is summarized but a user message that nobody has answered.',
      }),
      minimumMessages: z
        .number()
        .int()
        .nonnegative()
        .optional()
        .meta({ description: 'Fewer messages are never summarized.', unit: 'messages' }),
      firstUserMessage: z.boolean().optional().meta({ description: 'Whether the first user message stays verbatim.' }),
      activeFiles: activeFiles
        .optional()
        .meta({ description: 'Older messages stay that name files of the newest ones.' }),
    })
    .optional()
    .meta({ description: 'What stays verbatim.' }),
  reduce: z
    .strictObject({
      strip_images: reducer(stripImages, 'Images are replaced by a marker.'),
      clear_tool_results: reducer(clearToolResults, 'Old tool results are replaced by a placeholder.'),
      cap_tool_results: reducer(capToolResults, 'Very long tool results are shortened in every pass.'),
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
      turnPrefixOutput: amount(
        'Longest text for the beginning of a split turn that is summarized separately. Without a number: as `maximumOutput`.',
      ),
      appendedShare: fraction.optional().meta({
        description: 'Part of `maximumOutput` that is kept for what the check after the summary appends.',
        unit: '0 to 1',
      }),
      fileLists: fileLists.nullable().optional().meta({
        description: 'Tools from whose calls lists of files are made, to stand below the summary; `null` for no lists.',
      }),
      results: amount(
        'What the list of the newest results that a summary stands for may take: call, size and, with recall, the id that opens it. Without a number: 2,000 tokens, at most 2 % of the input budget.',
      ),
      question: z.string().min(1).nullable().optional().meta({
        description:
          "Stands before the summary, which is then the assistant's answer to it; `null`: the summary is a message of its own.",
      }),
      minimumOutput: tokens
        .optional()
        .meta({ description: 'Least room for a summary, however small the window.', unit: 'tokens' }),
      of: z.enum(['dropped', 'shortened']).optional().meta({
        description:
          'What a summary stands for: messages that are dropped, or the originals of those shortened in place.',
      }),
      placement: z
        .enum(['first', 'after_first_message', 'end'])
        .optional()
        .meta({ description: 'Where the summary stands in the view.' }),
      headings: z.enum(['markdown', 'labels']).optional().meta({ description: 'How sections are headed.' }),
      condensed: z
        .strictObject({
          belowTokens: tokens.optional().meta({ description: 'Summaries below this are condensed.', unit: 'tokens' }),
        })
        .optional()
        .meta({ description: 'Shorter instructions for short summaries, if the preset has them.' }),
      quotedMessages: amount('What quoted user messages may take in a summary, if the preset quotes them.'),
      overflowGuard: amount('A finished summary is shortened until the view is at most this.'),
      memory: z
        .strictObject({
          dailyLogFolder: z
            .string()
            .meta({ description: 'Folder of the workspace; if it exists, summaries are added to a daily log there.' }),
        })
        .optional()
        .meta({ description: 'Each summary becomes a memory of the workspace.' }),
      flush: flush
        .optional()
        .meta({ description: 'A small summary to memory before a pass in a full window, if the preset has one.' }),
      sharesPrefix: z.boolean().optional().meta({
        description:
          "Whether a summary is asked for behind the request of the last call, most of which the provider has cached, when the agent's own model summarizes, that call was made within the cache's lifetime, and all of it fits the window; otherwise with a transcript.",
        defaultText: '`true` with the preset `default`',
      }),
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
  continuation: z.enum(['inside_turn', 'automatic', 'always', 'never']).optional().meta({
    description: 'When a note tells the model to go on after a pass; `automatic`: unless a user asked for it.',
  }),
  continuationText: z
    .string()
    .min(1)
    .nullable()
    .optional()
    .meta({ description: 'Text of that note; `null` for one that also says how to look things up.' }),
  lasts: z
    .enum(['conversation', 'turn'])
    .optional()
    .meta({ description: 'How long a pass counts: a new turn may begin with the whole conversation again.' }),
  toolsOneByOne: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the tool calls of one answer run one after another.' }),
  requestStubs: z
    .union([z.literal(false), requestStubs])
    .optional()
    .meta({ description: 'Results that say nothing new are one line in each request; `false`: all are shown.' }),
  namedBlocks: z.boolean().optional().meta({ description: 'Whether the system prompt is made of named blocks.' }),
  minimumGain: fraction
    .optional()
    .meta({ description: 'A pass that frees less of the window counts as failed.', unit: '0 to 1' }),
  forcedTargetFactor: fraction.optional().meta({
    description: 'Part of the target that a pass aims for after the provider reported an overflow.',
    unit: '0 to 1',
  }),
  overflowRecoveries: z.number().int().min(1).max(MOST_OVERFLOW_RECOVERIES).optional().meta({
    description:
      'Passes that a turn may make after overflows that the provider reported; each aims lower. One more overflow ends it.',
    unit: 'passes',
    defaultText: '1',
  }),
});

export type PolicyOptions = z.output<typeof policyOptions>;
