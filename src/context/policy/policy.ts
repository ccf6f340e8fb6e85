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
  summary,
} from './policy-parts.ts';

export type {
  ContinuationTexts,
  PlaceholderTexts,
  Prompt,
  SectionSubject,
  SummaryFraming,
  SummarySection,
  TokenAmount,
  TranscriptLimits,
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
    description: 'Characters that one image counts as; `null`: a token per 28 × 28 pixels.',
    unit: 'characters',
    defaultText: '`null`',
  }),
  reported: z.enum(['plus_estimate', 'alone', 'higher']).default('plus_estimate').meta({
    description:
      "For presets that count as a published design does. How the provider's count of the newest call is used. `plus_estimate` adds an estimate of later entries, `alone` does not. `higher` takes the larger of the reported input and the estimate of everything.",
    defaultText: '`plus_estimate`',
  }),
  unreported: z.enum(['estimate', 'wait']).default('estimate').meta({
    description: 'What counts before the first report of the provider: the estimate, or nothing.',
    defaultText: '`estimate`',
  }),
});

const keep = object({
  tail: amount('Newest entries that stay as they are.'),
  userMessages: amount(
    'Room for older user messages that stay verbatim, newest first. A message longer than half of it is left out. The first one that does not fit ends the list.',
  ).default({ tokens: 0 }),
  splitTurns: z.boolean().default(true).meta({
    description:
      'Whether a cut may split a turn: its beginning is summarized, its end stays. A single turn that is larger than the tail is split in any case.',
  }),
  tailReaches: z.enum(['at_most', 'at_least']).default('at_most').meta({
    description: 'Whether the tail stays within its budget or includes the entry that exceeds it.',
  }),
  pivot: z
    .boolean()
    .default(false)
    .meta({ description: 'If true, only an unanswered user message is kept, and everything else is summarized.' }),
  minimumMessages: count
    .default(0)
    .meta({ description: 'A conversation with fewer messages is never summarized.', unit: 'messages' }),
  firstUserMessage: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the first user message stays verbatim, before everything else.' }),
  activeFiles: amount('Room for older messages that name a file on which one of the four newest works.')
    .nullable()
    .default(null),
}).meta({ description: 'What stays verbatim.' });

const requestStubs = object({
  equalCharacters: characters.default(2_000).meta({
    description: 'Equal results of at least this length are shown once.',
    unit: 'characters',
    defaultText: '2,000',
  }),
  pageTools: toolNames
    .default([])
    .meta({ description: 'Tools that read pages. Only the newest result of a call with the same arguments is shown.' }),
  newestImagesOnly: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether only the images of the newest result are shown.', defaultText: '`false`' }),
});

/** What can be changed of a preset; `reduce` has a form of its own there. */
export const policyShape = {
  enabled: z.boolean().default(true).meta({ description: 'Whether the conversation is compacted at all.' }),
  window: tokens.nullable().default(null).meta({
    description: "Context window to count with; `null`: the model's. 0 turns compaction off, like `enabled: false`.",
    unit: 'tokens',
  }),
  counting: z
    .union([z.literal('calibrated'), characterCounting])
    .default('calibrated')
    .meta({
      description: 'How the policy counts tokens: by the calibrated estimate, or by a fixed number of characters.',
    }),
  checkAfterLastStep: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether a check also follows the last step of a turn.' }),
  reduceAfterTurn: z.boolean().default(false).meta({
    description: 'Whether reducers run after every turn, also if the window is not full.',
  }),
  trigger: amount('A compaction starts when the next request is larger.'),
  target: amount('What a compaction aims for; `null`: any size below the trigger.').nullable().default(null),
  leastRoom: fraction.nullable().default(null).meta({
    description:
      'However low the target, a compaction leaves this part of what system prompt and tools leave below the trigger. `null`: half.',
    unit: '0 to 1',
  }),
  outputReserve,
  keep,
  summary,
  continuation: z.enum(['inside_turn', 'automatic', 'always', 'never']).default('never').meta({
    description:
      'When a note tells the model to go on after a compaction. `automatic`: unless a user asked for the compaction.',
  }),
  continuationText: z
    .union([z.string().min(1), continuationTexts])
    .nullable()
    .default(null)
    .meta({
      description:
        'Text of that note, or a text for each kind of compaction. `null`: the built-in text, which also says how to recall.',
    }),
  lasts: z.enum(['conversation', 'turn']).default('conversation').meta({
    description:
      'How long a compaction is in force. With `turn`, the next turn begins with the originals, and compacts again if they do not fit.',
  }),
  toolsOneByOne: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the tool calls of one answer run one after another.' }),
  runtimeNote: promptOf('Advice in the system prompt. Each request then ends with counters of the turn.')
    .nullable()
    .default(null),
  taskFile: amount(
    "After a compaction, a note lists the turn's tool calls up to this size, each with the beginning of its result.",
  )
    .nullable()
    .default(null),
  requestStubs: requestStubs.nullable().default(null).meta({
    description: 'Shows results that say nothing new as one line. `null`: shows all.',
  }),
  namedBlocks: z.boolean().default(false).meta({
    description: 'Whether each part of the system prompt stands between tags with its name, as in `wolffish`.',
  }),
  placeholders: placeholderTexts.nullable().default(null).meta({
    description:
      'Texts in place of what is clipped, stripped or cleared. `null`: the built-in texts, which say how to recall it.',
  }),
  minimumGain: fraction.default(0.1).meta({
    description: 'A compaction that frees a smaller part of the window counts as failed.',
    unit: '0 to 1',
  }),
  overflowRecoveries: z.number().int().min(1).max(MOST_OVERFLOW_RECOVERIES).default(1).meta({
    description:
      'How often a turn may recover from a reported overflow. Each compaction aims lower. One more overflow ends the turn.',
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
  reduce: z.array(reducerUse).readonly().default([]),
  /** Output reserves by the beginning of a model's name after the provider. */
  outputReserves: z.record(z.string(), tokens).readonly().default({}),
});

export type CompactionPolicy = z.output<typeof compactionPolicy>;
/** A policy as it is written: what is left out has its default. */
export type CompactionPolicyInput = z.input<typeof compactionPolicy>;
export type ReducerUse = z.output<typeof reducerUse>;
export type RequestStubs = z.output<typeof requestStubs>;

export function definePolicy(policy: CompactionPolicyInput): CompactionPolicy {
  return compactionPolicy.parse(policy);
}

/** Tools that read and change files, by the names of Holdfast and of the published designs. */
export const FILE_TOOLS = {
  read: ['read_file', 'read'],
  modified: ['write_file', 'edit_file', 'write', 'edit'],
} as const;
