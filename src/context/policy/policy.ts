/**
 * A compaction policy: data that the pipeline `trigger → select → reduce → summarize → inject` reads. A preset is one value of this
 * type; nothing in the pipeline knows a preset's name. This schema makes the types, checks presets and `holdfast.yaml`, and writes
 * docs/configuration.md. `null` means none, unless a description says otherwise.
 */
import { z } from 'zod';
import {
  amount,
  characters,
  continuationTexts,
  count,
  fraction,
  object,
  outputReserve,
  placeholderTexts,
  promptOf,
  tokens,
  toolNames,
} from './policy-parts.ts';
import { summary } from './summary-policy.ts';

export type { SummaryPlacement, TranscriptLimits } from './summary-policy.ts';

export type {
  ContinuationTexts,
  PlaceholderTexts,
  Prompt,
  SectionSubject,
  SummaryFraming,
  SummaryPrompts,
  SummarySection,
  TokenAmount,
} from './policy-parts.ts';

/** Forced compactions that a turn may make after reported overflows, at most. */
export const MOST_OVERFLOW_RECOVERIES = 3;

/** A fixed ratio of characters to tokens, with which a policy counts for its own numbers. */
const characterCounting = object({
  charactersPerToken: z
    .number()
    .positive()
    .default(4)
    .meta({ description: 'Characters that count as one token.', unit: 'characters', defaultText: '4' }),
  imageCharacters: characters.nullable().default(null).meta({
    description: 'What an image counts as; `null` for a token per 28 × 28 pixels.',
    unit: 'characters',
    defaultText: '`null`',
  }),
  reported: z.enum(['plus_estimate', 'alone', 'higher']).default('plus_estimate').meta({
    description:
      "The provider's count of the newest call: with an estimate of what came after it, alone, or its input or the estimate of everything, whichever is higher.",
    defaultText: '`plus_estimate`',
  }),
  unreported: z.enum(['estimate', 'wait']).default('estimate').meta({
    description: 'What counts before the provider has counted anything: the estimate, or nothing.',
    defaultText: '`estimate`',
  }),
});

const keep = object({
  tail: amount('Newest entries that stay as they are.'),
  userMessages: amount(
    'Older user messages that stay verbatim: the newest, up to the first that does not fit; longer ones than half of it are passed over.',
  ).default({ tokens: 0 }),
  splitTurns: z.boolean().default(true).meta({
    description: 'Whether a cut may fall inside a turn. A turn that is larger than the tail by itself is always split.',
  }),
  tailReaches: z.enum(['at_most', 'at_least']).default('at_most').meta({
    description: 'Whether the entry with which the tail gets larger than its budget still belongs to it.',
  }),
  pivot: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether everything is summarized but a user message that nobody has answered.' }),
  minimumMessages: count.default(0).meta({ description: 'Fewer messages are never summarized.', unit: 'messages' }),
  firstUserMessage: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the first user message stays verbatim, before everything else.' }),
  activeFiles: object({
    amount: amount('What these messages may take.'),
    messages: count
      .positive()
      .default(4)
      .meta({ description: 'Newest messages whose files are active.', unit: 'messages' }),
  })
    .nullable()
    .default(null)
    .meta({ description: 'Older messages stay that name files of the newest ones.' }),
}).meta({ description: 'What stays verbatim.' });

const requestStubs = object({
  equalCharacters: characters.default(2_000).meta({
    description: 'Of results that are equal and at least this long, only the first is shown.',
    unit: 'characters',
    defaultText: '2,000',
  }),
  pageTools: toolNames
    .default([])
    .meta({ description: 'Tools that read pages: a read gives way to a newer one with the same arguments.' }),
  newestImagesOnly: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether images of older results give way to those of a newer one.', defaultText: '`false`' }),
});

/** What can be changed of a preset; `reduce` has a form of its own there. */
export const policyShape = {
  enabled: z.boolean().default(true).meta({ description: 'Whether the conversation is compacted at all.' }),
  window: tokens.nullable().default(null).meta({
    description: "Context window to count with, `null` for the model's; 0 switches off like `enabled: false`.",
    unit: 'tokens',
  }),
  counting: z
    .union([z.literal('calibrated'), characterCounting])
    .default('calibrated')
    .meta({
      description:
        'How the policy counts for its own numbers: by the calibrated estimate, or by a fixed number of characters per token.',
    }),
  checkAfterLastStep: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the check is made after the last step of a turn too, not only before each call.' }),
  reduceAfterTurn: z.boolean().default(false).meta({
    description: 'Whether reducing happens after each turn, however full the window is, and not in compactions.',
  }),
  trigger: amount('A compaction starts when the next request is larger.'),
  target: amount('What a compaction aims for; `null`: below the trigger is enough.').nullable().default(null),
  outputReserve,
  keep,
  summary,
  continuation: z.enum(['inside_turn', 'automatic', 'always', 'never']).default('never').meta({
    description: 'When a note tells the model to go on after a compaction; `automatic`: unless a user asked for it.',
  }),
  continuationText: z
    .union([z.string().min(1), continuationTexts])
    .nullable()
    .default(null)
    .meta({
      description:
        'Text of that note, or one for each that a compaction may leave; `null` for one that also says how to look things up.',
    }),
  lasts: z.enum(['conversation', 'turn']).default('conversation').meta({
    description: 'How long a compaction counts: a new turn may begin with the whole conversation again.',
  }),
  toolsOneByOne: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the tool calls of one answer run one after another.' }),
  runtimeNote: promptOf('Advice in the system prompt; each request then ends with counters of the turn.')
    .nullable()
    .default(null),
  requestStubs: requestStubs.nullable().default(null).meta({
    description: 'Results that say nothing new are one line in each request; `null`: all are shown.',
  }),
  namedBlocks: z.boolean().default(false).meta({ description: 'Whether the system prompt is made of named blocks.' }),
  placeholders: placeholderTexts.nullable().default(null).meta({
    description:
      'Words that stand for what is clipped, stripped or cleared; `null` for the built-in ones, which say how to get it back.',
  }),
  minimumGain: fraction.default(0.1).meta({
    description: 'A compaction that frees less of the window counts as failed.',
    unit: '0 to 1',
  }),
  forcedTargetFactor: fraction.default(0.7).meta({
    description: 'Part of the target that a compaction aims for after the provider reported an overflow.',
    unit: '0 to 1',
  }),
  overflowRecoveries: z.number().int().min(1).max(MOST_OVERFLOW_RECOVERIES).default(1).meta({
    description:
      'Compactions that a turn may make after overflows that the provider reported; each aims lower. One more overflow ends it.',
    unit: 'compactions',
    defaultText: '1',
  }),
};

const reducerUse = object({
  use: z.string().min(1),
  options: z.record(z.string(), z.unknown()).readonly().default({}),
});

export const compactionPolicy = object({
  name: z.string().min(1),
  ...policyShape,
  /** Tried in this order. */
  reduce: z.array(reducerUse).readonly().default([]),
  /** Output reserves by the beginning of a model's name after the provider. */
  outputReserves: z.record(z.string(), tokens).readonly().default({}),
});

export type CompactionPolicy = z.output<typeof compactionPolicy>;
/** A policy as it is written: what is left out has its default. */
export type CompactionPolicyInput = z.input<typeof compactionPolicy>;
export type CharacterCounting = z.output<typeof characterCounting>;
export type ReducerUse = z.output<typeof reducerUse>;
export type RequestStubs = z.output<typeof requestStubs>;

export function definePolicy(policy: CompactionPolicyInput): CompactionPolicy {
  return compactionPolicy.parse(policy);
}
