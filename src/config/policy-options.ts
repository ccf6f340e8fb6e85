/** Options under `policy`: what of a preset can be overridden, and how it is put over the preset. */
import { z } from 'zod';
import type { CompactionPolicy, Reducer, TokenAmount } from '../context/policy.ts';

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

const stripImages = z.strictObject({
  keepNewest: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .meta({ description: 'Newest images that stay.', unit: 'images' }),
});

const clearToolResults = z.strictObject({
  protect: amount('Newest tool output that stays.'),
  minimum: amount('Nothing is cleared unless this much is won.'),
  protectedTools: toolNames.meta({ description: 'Tools whose results stay.' }),
});

const clip = z.strictObject({
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

type AmountOptions = NonNullable<PolicyOptions['trigger']>;

/** Puts options over a policy. An amount is replaced whole, so that a number which a user set is not limited by one of the preset. */
export function overridePolicy(policy: CompactionPolicy, options: PolicyOptions): CompactionPolicy {
  const { keep, reduce, summary } = options;
  return {
    ...policy,
    enabled: options.enabled ?? policy.enabled,
    trigger: amountOr(options.trigger, policy.trigger),
    target: amountOr(options.target, policy.target),
    outputReserve: amountOr(options.outputReserve, policy.outputReserve),
    keep: {
      ...policy.keep,
      tail: amountOr(keep?.tail, policy.keep.tail),
      userMessages: amountOr(keep?.userMessages, policy.keep.userMessages),
      splitTurns: keep?.splitTurns ?? policy.keep.splitTurns,
    },
    reduce: reduce === undefined ? policy.reduce : policy.reduce.flatMap((one) => overrideReducer(one, reduce)),
    summary: {
      ...policy.summary,
      when: summary?.when ?? policy.summary.when,
      hiddenMaximum: amountOr(summary?.hiddenMaximum, policy.summary.hiddenMaximum),
      splitTurn: summary?.splitTurn ?? policy.summary.splitTurn,
      maximumOutput: amountOr(summary?.maximumOutput, policy.summary.maximumOutput),
      model: summary?.model === undefined ? policy.summary.model : summary.model,
    },
    continuation: options.continuation ?? policy.continuation,
    minimumGain: options.minimumGain ?? policy.minimumGain,
    forcedTargetFactor: options.forcedTargetFactor ?? policy.forcedTargetFactor,
  };
}

function amountOr<Fallback extends TokenAmount | null>(
  options: AmountOptions | undefined,
  fallback: Fallback,
): TokenAmount | Fallback {
  if (options === undefined) return fallback;
  const { tokens, fraction, of } = options;
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(fraction === undefined ? {} : { fraction }),
    ...(of === undefined ? {} : { of }),
    exact: true,
  };
}

function overrideReducer(reducer: Reducer, options: NonNullable<PolicyOptions['reduce']>): Reducer[] {
  const given = options[reducer.kind];
  if (given === false) return [];
  if (given === undefined) return [reducer];
  switch (reducer.kind) {
    case 'strip_images':
      return [overrideImages(reducer, options.strip_images || {})];
    case 'clear_tool_results':
      return [overrideClearing(reducer, options.clear_tool_results || {})];
    case 'clip':
      return [overrideClip(reducer, options.clip || {})];
  }
}

type ReducerOf<Kind extends Reducer['kind']> = Extract<Reducer, { kind: Kind }>;

function overrideImages(
  reducer: ReducerOf<'strip_images'>,
  options: z.output<typeof stripImages>,
): ReducerOf<'strip_images'> {
  return { ...reducer, keepNewest: options.keepNewest ?? reducer.keepNewest };
}

function overrideClearing(
  reducer: ReducerOf<'clear_tool_results'>,
  options: z.output<typeof clearToolResults>,
): ReducerOf<'clear_tool_results'> {
  return {
    ...reducer,
    protect: amountOr(options.protect, reducer.protect),
    minimum: amountOr(options.minimum, reducer.minimum),
    protectedTools: options.protectedTools ?? reducer.protectedTools,
  };
}

function overrideClip(reducer: ReducerOf<'clip'>, options: z.output<typeof clip>): ReducerOf<'clip'> {
  return {
    ...reducer,
    of: options.of ?? reducer.of,
    headFraction: options.headFraction ?? reducer.headFraction,
    headLimit: options.headLimit ?? reducer.headLimit,
    tailFraction: options.tailFraction ?? reducer.tailFraction,
    tailLimit: options.tailLimit ?? reducer.tailLimit,
    minimumCharacters: options.minimumCharacters ?? reducer.minimumCharacters,
    protectNewest: options.protectNewest ?? reducer.protectNewest,
    protectErrors: options.protectErrors ?? reducer.protectErrors,
    protectedTools: options.protectedTools ?? reducer.protectedTools,
  };
}

/** Kinds of reducers that the options name and the policy does not have: they would have no effect. */
export function reducersWithoutEffect(policy: CompactionPolicy, options: PolicyOptions): readonly string[] {
  const given = Object.entries(options.reduce ?? {}).filter(([, value]) => value !== undefined && value !== false);
  return given.map(([kind]) => kind).filter((kind) => !policy.reduce.some((one) => one.kind === kind));
}
