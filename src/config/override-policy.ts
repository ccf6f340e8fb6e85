/** How options under `policy` are put over a preset. */
import type { z } from 'zod';
import { definedOf } from '../context/policy/defined-of.ts';
import type {
  CharacterCounting,
  CompactionPolicy,
  FlushPolicy,
  Reducer,
  RequestStubs,
  TokenAmount,
  TranscriptLimits,
} from '../context/policy/policy.ts';
import { SHARED_PREFIX_PROMPT } from '../context/policy/prompts/working-summary.ts';
import type { flush, PolicyOptions } from './policy-options.ts';
import type { capToolResults, clearToolResults, clip, stripImages } from './reducer-options.ts';

type AmountOptions = NonNullable<PolicyOptions['trigger']>;

/** Puts options over a policy. An amount is replaced whole, so that a number which a user set is not limited by one of the preset. */
export function overridePolicy(policy: CompactionPolicy, options: PolicyOptions): CompactionPolicy {
  const { reduce } = options;
  return {
    ...policy,
    enabled: options.enabled ?? policy.enabled,
    window: given(options.window, policy.window),
    counting: overrideCounting(policy.counting, options.counting),
    checkAfterLastStep: options.checkAfterLastStep ?? policy.checkAfterLastStep,
    reduceAfterTurn: options.reduceAfterTurn ?? policy.reduceAfterTurn,
    trigger: amountOr(options.trigger, policy.trigger),
    target: amountOr(options.target, policy.target),
    outputReserve: amountOr(options.outputReserve, policy.outputReserve),
    // What a user sets counts for every model.
    ...(options.outputReserve !== undefined && { outputReserves: {} }),
    ...definedOf({ lasts: options.lasts, toolsOneByOne: options.toolsOneByOne, namedBlocks: options.namedBlocks }),
    ...overrideStubs(policy, options.requestStubs),
    keep: overrideKeep(policy.keep, options.keep ?? {}),
    reduce: reduce === undefined ? policy.reduce : policy.reduce.flatMap((one) => overrideReducer(one, reduce)),
    summary: overrideSummary(policy.summary, options.summary ?? {}),
    continuation: options.continuation ?? policy.continuation,
    continuationText: given(options.continuationText, policy.continuationText),
    minimumGain: options.minimumGain ?? policy.minimumGain,
    forcedTargetFactor: options.forcedTargetFactor ?? policy.forcedTargetFactor,
    ...definedOf({ overflowRecoveries: options.overflowRecoveries }),
  };
}

/** What a policy without stubs gets where the options say nothing. */
const STUBS: RequestStubs = { equalCharacters: 2_000, pageTools: [], newestImagesOnly: false };

function overrideStubs(
  { requestStubs }: CompactionPolicy,
  options: PolicyOptions['requestStubs'],
): Pick<CompactionPolicy, 'requestStubs'> {
  if (options === false) return { requestStubs: null };
  if (options === undefined) return {};
  return { requestStubs: { ...STUBS, ...requestStubs, ...definedOf(options) } };
}

function overrideKeep(
  keep: CompactionPolicy['keep'],
  options: NonNullable<PolicyOptions['keep']>,
): CompactionPolicy['keep'] {
  return {
    ...keep,
    ...definedOf({ firstUserMessage: options.firstUserMessage }),
    ...(options.activeFiles !== undefined && {
      activeFiles: overrideActiveFiles(keep.activeFiles, options.activeFiles),
    }),
    tail: amountOr(options.tail, keep.tail),
    userMessages: amountOr(options.userMessages, keep.userMessages),
    splitTurns: options.splitTurns ?? keep.splitTurns,
    tailReaches: options.tailReaches ?? keep.tailReaches,
    pivot: options.pivot ?? keep.pivot,
    minimumMessages: options.minimumMessages ?? keep.minimumMessages,
  };
}

function overrideSummary(
  summary: CompactionPolicy['summary'],
  options: NonNullable<PolicyOptions['summary']>,
): CompactionPolicy['summary'] {
  const overridden: Summary = {
    ...summary,
    ...overrideSummaryExtras(summary, options),
    when: options.when ?? summary.when,
    splitTurn: options.splitTurn ?? summary.splitTurn,
    maximumOutput: amountOr(options.maximumOutput, summary.maximumOutput),
    turnPrefixOutput: amountOr(options.turnPrefixOutput, summary.turnPrefixOutput),
    appendedShare: options.appendedShare ?? summary.appendedShare,
    fileLists: overrideFileLists(summary.fileLists, options.fileLists),
    question: given(options.question, summary.question),
    transcript: overrideTranscript(summary.transcript, options.transcript ?? {}),
    model: given(options.model, summary.model),
  };
  return options.sharesPrefix === undefined ? overridden : withPrefixShared(overridden, options.sharesPrefix);
}

/** A preset without words of its own for it gets those of `default`. */
function withPrefixShared({ sharesPrefix = SHARED_PREFIX_PROMPT, ...summary }: Summary, isShared: boolean): Summary {
  return isShared ? { ...summary, sharesPrefix } : summary;
}

function overrideFileLists(
  lists: CompactionPolicy['summary']['fileLists'],
  options: NonNullable<PolicyOptions['summary']>['fileLists'],
): CompactionPolicy['summary']['fileLists'] {
  if (options === undefined || options === null) return given(options, lists);
  return { read: options.read ?? lists?.read ?? [], modified: options.modified ?? lists?.modified ?? [] };
}

/** What a policy that counts by the calibrated estimate gets where the options say nothing: seeds/goagent.md. */
const CHARACTER_COUNTING: CharacterCounting = {
  charactersPerToken: 4,
  imageCharacters: null,
  reported: 'plus_estimate',
  unreported: 'estimate',
};

function overrideCounting(
  counting: CompactionPolicy['counting'],
  options: PolicyOptions['counting'],
): CompactionPolicy['counting'] {
  if (options === undefined) return counting;
  if (options === 'calibrated') return options;
  const base = counting === 'calibrated' ? CHARACTER_COUNTING : counting;
  return {
    charactersPerToken: options.charactersPerToken ?? base.charactersPerToken,
    imageCharacters: given(options.imageCharacters, base.imageCharacters),
    reported: options.reported ?? base.reported,
    unreported: options.unreported ?? base.unreported,
  };
}

type ActiveFiles = NonNullable<CompactionPolicy['keep']['activeFiles']>;
/** The newest messages that make a file active unless a preset says otherwise (seeds/cowork.md's code). */
const ACTIVE_MESSAGES = 4;

function overrideActiveFiles(
  preset: ActiveFiles | undefined,
  options: NonNullable<NonNullable<PolicyOptions['keep']>['activeFiles']>,
): ActiveFiles {
  return {
    amount: amountOr(options.amount, preset?.amount ?? {}),
    messages: options.messages ?? preset?.messages ?? ACTIVE_MESSAGES,
  };
}

type Summary = CompactionPolicy['summary'];

/** What a preset may leave out. */
function overrideSummaryExtras(preset: Summary, options: NonNullable<PolicyOptions['summary']>): Partial<Summary> {
  const { minimumOutput, of, placement, headings, memory, condensed } = options;
  const { hiddenMaximum, results, quotedMessages, overflowGuard } = options;
  return {
    ...definedOf({ minimumOutput, of, placement, headings, memory }),
    ...(hiddenMaximum !== undefined && { hiddenMaximum: amountOr(hiddenMaximum, {}) }),
    ...(results !== undefined && { results: amountOr(results, {}) }),
    ...(quotedMessages !== undefined && { quotedMessages: amountOr(quotedMessages, {}) }),
    ...(overflowGuard !== undefined && { overflowGuard: amountOr(overflowGuard, {}) }),
    ...(preset.condensed !== undefined && { condensed: { ...preset.condensed, ...definedOf(condensed ?? {}) } }),
    ...(preset.flush !== undefined && { flush: overrideFlush(preset.flush, options.flush ?? {}) }),
  };
}

function overrideFlush(preset: FlushPolicy, options: z.output<typeof flush>): FlushPolicy {
  const { slack, ...numbers } = options;
  return { ...preset, ...definedOf(numbers), slack: amountOr(slack, preset.slack) };
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
    case 'cap_tool_results':
      return [overrideCap(reducer, options.cap_tool_results || {})];
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
    protectTurns: options.protectTurns ?? reducer.protectTurns,
    placeholder: given(options.placeholder, reducer.placeholder),
  };
}

function overrideCap(
  reducer: ReducerOf<'cap_tool_results'>,
  options: z.output<typeof capToolResults>,
): ReducerOf<'cap_tool_results'> {
  return {
    ...reducer,
    limit: amountOr(options.limit, reducer.limit),
    documentLimit: amountOr(options.documentLimit, reducer.documentLimit),
    documentTools: options.documentTools ?? reducer.documentTools,
    arrayItems: options.arrayItems ?? reducer.arrayItems,
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
    ...definedOf({
      protectFirstUserMessage: options.protectFirstUserMessage,
      unseen: options.unseen,
      expectedRetention: options.expectedRetention,
    }),
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
