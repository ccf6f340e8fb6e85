/**
 * What can be written over a preset, in `holdfast.yaml` or in code, how it is put over it, and what is wrong with the result. The first two
 * follow from the schema.
 */
import { budgetFor, resolveAmount, SMALLEST_SUMMARY } from './budget.ts';
import type { ModelLimits } from '../plan/plan.ts';
import { definedOf } from './defined-of.ts';
import { z } from 'zod';
import { BUILT_IN_REDUCERS } from '../plan/reducers/built-in.ts';
import { compactionPolicy, policyShape } from './policy.ts';
import type { CompactionPolicy, ReducerUse } from './policy.ts';
import { object } from './policy-parts.ts';

/** The options of a value, each optional at every level; lists are given whole. */
export type Changes<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { readonly [Key in keyof Value]?: Changes<Value[Key]> | undefined }
    : Value;

/** The same schema with every option optional; lists, amounts and prompts are given whole. */
export function changesOf<Schema extends z.ZodType>(schema: Schema): z.ZodType<Changes<z.output<Schema>>>;
export function changesOf(schema: z.ZodType): z.ZodType {
  const meta = schema.meta();
  const changes = meta?.['isAmount'] === true || meta?.['isPrompt'] === true ? schema : unwrapped(schema);
  return meta === undefined || changes === schema ? changes : changes.meta({ ...changes.meta(), ...meta });
}

function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodNullable) {
    const changes = changesOf(inner(schema));
    return changes.nullable().meta({ ...changes.meta() });
  }
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map((one) => changesOf(asSchema(one))));
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries(schema.shape).map(([name, option]) => [name, changesOf(asSchema(option)).optional()]);
    const changes = z.strictObject(Object.fromEntries(shape));
    return schema.def.catchall instanceof z.ZodNever ? changes : changes.catchall(asSchema(schema.def.catchall));
  }
  const isWrapper =
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodReadonly;
  // A list is a list, however it is wrapped.
  if (!isWrapper || inner(schema) instanceof z.ZodArray) return schema;
  return changesOf(inner(schema));
}

function inner(wrapper: { unwrap(): unknown }): z.ZodType {
  return asSchema(wrapper.unwrap());
}

function asSchema(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodType) return schema;
  throw new TypeError('a policy is made of zod schemas');
}

const removable = <Options extends z.ZodType>(options: Options, description: string) =>
  z.union([z.literal(false), options]).meta({ description });

const { strip_images, clear_tool_results, cap_tool_results, clip } = BUILT_IN_REDUCERS;

/** By the name of the reducer: options of one that the preset has, or of one to be added; `false` leaves it out. */
const reduceChanges = z
  .strictObject({
    strip_images: removable(strip_images.options, 'Replaces images and files by a marker.'),
    clear_tool_results: removable(clear_tool_results.options, 'Replaces old tool results by a placeholder.'),
    cap_tool_results: removable(cap_tool_results.options, 'Shortens very long tool results in every compaction.'),
    clip: removable(clip.options, 'Keeps only head and tail of large contents.'),
  })
  .catchall(z.union([z.literal(false), z.record(z.string(), z.unknown())]))
  .meta({
    description: 'Reducers by name, your own too: they shorten without a model. `false` leaves one of the preset out.',
  });

export const policyChanges = changesOf(object({ ...policyShape, reduce: reduceChanges }));
export type PolicyChanges = z.output<typeof policyChanges>;

/**
 * Puts changes over a policy. An amount, a prompt or a list is replaced whole; an amount is then taken as it is, whatever the window.
 * @throws ZodError when something that the preset does not have is changed in part
 */
export function changePolicy(policy: CompactionPolicy, changes: PolicyChanges): CompactionPolicy {
  return Object.keys(changes).length === 0 ? policy : compactionPolicy.parse(unchecked(policy, changes));
}

/** What is wrong with changes of this policy, which fit the schema of changes. */
export function changeProblems(policy: CompactionPolicy, changes: PolicyChanges): readonly z.core.$ZodIssue[] {
  return compactionPolicy.safeParse(unchecked(policy, changes)).error?.issues ?? [];
}

function unchecked(policy: CompactionPolicy, { reduce, ...others }: PolicyChanges): object {
  return {
    ...Object(merged(policy, { ...others, summary: askedByOwnPrompts(others.summary) })),
    // What a user sets counts for every model.
    ...(others.outputReserve !== undefined && { outputReserves: {} }),
    reduce: changedReducers(policy.reduce, new Map(entriesOf(reduce ?? {}))),
  };
}

/** Who writes a prompt for transcripts wants it used: it is not, where a summary is asked for behind the last request. */
function askedByOwnPrompts(summary: PolicyChanges['summary']): PolicyChanges['summary'] {
  const own = summary?.prompts?.history ?? summary?.prompts?.update;
  return own === undefined || own === null ? summary : { sharesPrefix: null, ...definedOf(summary ?? {}) };
}

function changedReducers(uses: readonly ReducerUse[], changes: ReadonlyMap<string, unknown>): unknown[] {
  const added = [...changes].filter(([name]) => !uses.some(({ use }) => use === name));
  return [...uses, ...added.map(([use]) => ({ use, options: {} }))].flatMap(({ use, options }) => {
    const change = changes.get(use);
    if (change === false) return [];
    // Options of your own reducer may be called `tokens` or `text`, and are no amount and no prompt.
    const isOwn = !Object.hasOwn(BUILT_IN_REDUCERS, use);
    return [{ use, options: merged(options, change, isOwn) }];
  });
}

/** @param isPlain whether the value has no amounts and prompts, which are replaced whole */
function merged(value: unknown, change: unknown, isPlain = false): unknown {
  if (change === undefined) return value;
  if (typeof change !== 'object' || change === null || Array.isArray(change)) return change;
  if (!isPlain && ('tokens' in change || 'fraction' in change)) return { exact: true, ...change };
  if (!isPlain && 'text' in change) return change;
  const kept = typeof value === 'object' && value !== null ? entriesOf(value) : [];
  const changed = entriesOf(change).map(([name, below]) => [name, merged(valueAt(value, name), below, isPlain)]);
  return Object.fromEntries([...kept, ...changed]);
}

function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, below]) => below !== undefined);
}

function valueAt(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

export interface PolicyProblem {
  readonly message: string;
  /** Paths of the options involved, as they are written in the configuration. */
  readonly options: readonly string[];
}

type Check = readonly [isProblem: boolean, options: readonly string[], message: () => string];

/** Numbers that contradict each other. Numbers that a request needs come first: without its room, all others are wrong too. */
export function policyProblems(policy: CompactionPolicy, limits: ModelLimits): readonly PolicyProblem[] {
  const ofRoom = problemsAmong(roomChecks(policy, limits));
  return ofRoom.length > 0 ? ofRoom : problemsAmong(targetChecks(policy, limits));
}

function problemsAmong(checks: readonly Check[]): readonly PolicyProblem[] {
  return checks.flatMap(([isProblem, options, message]) => (isProblem ? [{ options, message: message() }] : []));
}

function roomChecks(policy: CompactionPolicy, limits: ModelLimits): readonly Check[] {
  const { enabled, summary, reduce, trigger } = policy;
  const budget = budgetFor(policy, limits);
  const { inputBudget, outputReserve, window } = budget;
  // Tokens alone: a fraction of the window may lie above the input budget, and then means all of it (seeds/cowork.md).
  const asked = trigger.fraction === undefined ? resolveAmount(trigger, budget) : 0;
  return [
    [
      outputReserve >= window,
      ['outputReserve', 'window'],
      () =>
        `outputReserve keeps ${outputReserve} tokens free, but the window is ${window}: nothing is left for the conversation. Lower outputReserve, for example to { tokens: ${Math.floor(window / 5)} }.`,
    ],
    [
      inputBudget > 0 && asked > inputBudget,
      ['trigger', 'outputReserve'],
      () =>
        `trigger is ${asked} tokens, but a request may hold ${inputBudget} at most: a window of ${window}, less outputReserve (${outputReserve}). Set trigger to { tokens: ${inputBudget} } or less.`,
    ],
    [
      enabled && summary.when === 'never' && reduce.length === 0,
      ['summary.when', 'reduce'],
      () =>
        "summary.when is 'never' and reduce is empty: nothing may make the view smaller. Set summary.when to if_needed, or name a reducer.",
    ],
  ];
}

/** What a compaction aims for, and what of it contradicts itself. Tokens. */
function aimsOf(policy: CompactionPolicy, limits: ModelLimits) {
  const { window, trigger, target, tail, userMessages, summaryOutput } = budgetFor(policy, limits);
  // The budget caps the target at the trigger; compare what was asked for.
  const asked = budgetFor({ ...policy, trigger: { fraction: 1 } }, limits).target;
  // A compaction that wins less than `minimumGain` counts as failed (R5).
  const gain = Math.max(1, Math.ceil(policy.minimumGain * window));
  const smallest = policy.summary.when === 'never' ? 1 : SMALLEST_SUMMARY;
  const room = target - tail - userMessages;
  return {
    asked,
    gain,
    smallest,
    room,
    isTooClose: policy.target !== null && trigger - asked < gain,
    isTooSmall: room < smallest,
    isTooLong: room >= smallest && summaryOutput >= target,
  };
}

function targetChecks(policy: CompactionPolicy, limits: ModelLimits): readonly Check[] {
  const { trigger, target, tail, userMessages, summaryOutput } = budgetFor(policy, limits);
  const { asked, gain, smallest, room, ...found } = aimsOf(policy, limits);
  const wanted = Math.max(smallest, summaryOutput);
  const aim = policy.target === null ? 'trigger' : 'target';
  const below = `for a summary below ${aim} (${target})`;
  const left = room <= 0 ? `no room ${below}` : `${room} tokens ${below}, and the smallest takes ${smallest}`;
  const advice = adviceFor(policy, limits);
  return [
    [
      found.isTooClose,
      ['target', 'trigger', 'minimumGain'],
      () =>
        `target is ${asked} tokens and trigger ${trigger}: target must be ${gain} tokens (minimumGain: ${policy.minimumGain} of the window) or more below trigger. ${advice(
          ['target', trigger - gain, 'or less'],
          ['trigger', asked + gain, 'or more'],
        )}`,
    ],
    [
      found.isTooSmall,
      [...(policy.window === null ? [] : ['window']), 'keep.tail', 'keep.userMessages', aim],
      () =>
        `keep.tail (${tail} tokens) and keep.userMessages (${userMessages}) leave ${left}. ${advice(
          ['keep.tail', target - wanted - userMessages, 'or less'],
          ['keep.userMessages', target - wanted - tail, 'or less'],
          ['target', Math.max(tail + userMessages + smallest, summaryOutput + 1), 'or more'],
        )}`,
    ],
    [
      found.isTooLong,
      ['summary.maximumOutput', aim],
      () =>
        `summary.maximumOutput is ${summaryOutput} tokens, but a compaction aims for ${target} in all (${aim}). ${advice(
          ['summary.maximumOutput', Math.min(room, target - 1), 'or less'],
        )}`,
    ],
  ];
}

function problemCount(policy: CompactionPolicy, limits: ModelLimits): number {
  const { isTooClose, isTooSmall, isTooLong } = aimsOf(policy, limits);
  const ofRoom = roomChecks(policy, limits).map(([isProblem]) => isProblem);
  return [...ofRoom, isTooClose, isTooSmall, isTooLong].filter(Boolean).length;
}

type Suggestion = readonly [option: string, tokens: number, bound: 'or less' | 'or more'];

/** Names the values that would do, of which one is enough: each was tried, and leaves fewer problems. */
function adviceFor(policy: CompactionPolicy, limits: ModelLimits): (...suggestions: readonly Suggestion[]) => string {
  const { inputBudget } = budgetFor(policy, limits);
  const problems = problemCount(policy, limits);
  const helps = (changed: CompactionPolicy): boolean => problemCount(changed, limits) < problems;
  return (...suggestions) => {
    const offered = suggestions.flatMap(([option, tokens, bound]) => {
      const percent = (bound === 'or less' ? Math.floor : Math.ceil)((100 * tokens) / inputBudget);
      if (!(percent > 0 && percent <= 100)) return [];
      const amount = { fraction: percent / 100 };
      return helps(withOption(policy, option, amount))
        ? [`${option} to { fraction: ${amount.fraction} } ${bound}`]
        : [];
    });
    const window = offered.length > 0 || policy.window === null ? null : widerWindow(policy, limits, helps);
    const all = window === null ? offered : [`window to ${window} or more`];
    if (all.length === 0) return `Change ${suggestions.map(([option]) => option).join(' and ')}.`;
    return `Set ${all.join(', or ')}.`;
  };
}

/** In whole hundreds; `null`: no window that the model has would do. */
function widerWindow(
  policy: CompactionPolicy,
  limits: ModelLimits,
  helps: (changed: CompactionPolicy) => boolean,
): number | null {
  for (let window = Math.ceil((policy.window ?? 0) / 100) * 100; window <= limits.window; window += 100) {
    if (helps({ ...policy, window })) return window;
  }
  return null;
}

/** @param option its path, such as `keep.tail` */
function withOption(policy: CompactionPolicy, option: string, value: unknown): CompactionPolicy {
  const changes = option.split('.').reduceRight((below, name) => ({ [name]: below }), value);
  return changePolicy(policy, policyChanges.parse(changes));
}
