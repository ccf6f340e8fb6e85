/** How options under `policy` are put over a preset. */
import type { z } from 'zod';
import type { CompactionPolicy, Reducer, TokenAmount, TranscriptLimits } from '../context/policy.ts';
import type { clearToolResults, clip, PolicyOptions, stripImages } from './policy-options.ts';

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
      transcript: overrideTranscript(policy.summary.transcript, summary?.transcript ?? {}),
      model: given(summary?.model, policy.summary.model),
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

function overrideTranscript(
  limits: TranscriptLimits,
  options: NonNullable<NonNullable<PolicyOptions['summary']>['transcript']>,
): TranscriptLimits {
  return {
    user: given(options.user, limits.user),
    assistant: given(options.assistant, limits.assistant),
    toolResult: given(options.toolResult, limits.toolResult),
    toolInput: given(options.toolInput, limits.toolInput),
    total: given(options.total, limits.total),
    headShare: options.headShare ?? limits.headShare,
  };
}

/** An option for which `null` is a value. */
function given<Value>(option: Value | undefined, fallback: Value): Value {
  return option === undefined ? fallback : option;
}
