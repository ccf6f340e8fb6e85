import { expect, test } from 'vitest';
import { changePolicy, policyChanges } from '../../../src/context/policy/change-policy.ts';
import { definedOf } from '../../../src/context/policy/defined-of.ts';
import { estimateTokens, NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { shownTaskFile } from '../../../src/context/memory/choose-memories.ts';
import { resolveAmount } from '../../../src/context/policy/budget.ts';
import { guardedSummary } from '../../../src/context/summary/whole-summary.ts';
import { measureView } from '../../../src/context/view/view-arrangement.ts';
import { applyOperation } from '../../../src/context/log/operations.ts';
import { partPolicy } from '../../../src/context/summary/check-summary.ts';
import { renderSections } from '../../../src/context/summary/sections.ts';
import type { ModelLimits, PlanInput } from '../../../src/context/plan/plan.ts';
import { planCompaction } from '../../../src/context/plan/plan-compaction.ts';
import type { CompactionPolicy } from '../../../src/context/policy/policy.ts';
import { BUILT_IN_PRESETS } from '../../../src/context/policy/presets/index.ts';
import { summaryView } from '../../../src/context/summary/summary-request.ts';
import { AGENT, prose } from '../builders.ts';
import type { Conversation, LogBuilder } from '../builders.ts';
import { counted, large } from './counted.ts';
import { hugeResults, largeResults, longMessages, mixedLog, smallResults } from './rich-logs.ts';

/**
 * One that no pure function sees: `test/workflows/overflow.test.ts` changes it. The other counts only
 * beside a large system prompt, as in `test/context/plan-compaction.test.ts`.
 */
const TAKEN_ELSEWHERE = new Set(['overflowRecoveries', 'leastRoom']);
/** They keep no tail: one cuts nothing off, the other all but an unanswered message. */
const WITHOUT_EFFECT = new Set(['wolffish keep.tail.tokens', 'opencode keep.tail.tokens']);

/** Measured once: the policies differ, the conversations do not. */
const MIXED = [1, 9, 14].map(mixedLog);
const [SHORT, LONGER, RESULTS, HUGE, SMALL] = [
  longMessages(1),
  longMessages(3),
  largeResults(),
  hugeResults(),
  smallResults(),
];

function conversationOf(policy: CompactionPolicy, { entries, turnId }: LogBuilder, limits?: ModelLimits): Conversation {
  const conversation = large(policy, limits);
  conversation.log.entries.push(...entries);
  conversation.log.turnId = turnId;
  return conversation;
}

type Look = (policy: CompactionPolicy) => unknown;

const plansOf = (logs: readonly LogBuilder[], reason: PlanInput['reason']): Look[] =>
  logs.map((log) => (policy) => planCompaction(conversationOf(policy, log).planInput(reason)));

const REASONS: readonly PlanInput['reason'][] = ['threshold', 'overflow', 'manual', 'maintenance'];

const PLANS: readonly Look[] = [
  ...MIXED.flatMap((log): Look[] => [
    (policy) => {
      const conversation = conversationOf(policy, log);
      const since = conversation.log.entries.length - 3;
      return [counted(conversation), counted(conversation, { input: 150_000, output: 1_000, since })];
    },
    ...REASONS.map((reason): Look => (policy) => {
      const conversation = conversationOf(policy, log);
      return planCompaction({ ...conversation.planInput(reason), counted: counted(conversation) });
    }),
  ]),
  ...plansOf([SHORT, LONGER, HUGE], 'overflow'),
  ...plansOf([SHORT, LONGER, SMALL], 'manual'),
];

/** A window that is all but full, a model with a small window. */
const CROWDED: readonly Look[] = [
  ...[SHORT, LONGER, RESULTS].map((log): Look => (policy) => {
    const input = conversationOf(policy, log).planInput('overflow');
    const tokens = estimateTokens(measureView(input), NO_CALIBRATION);
    const full = { ...input, budget: { ...input.budget, window: tokens + 1_000 } };
    const flushes = [
      undefined,
      { millisecondsAgo: 60_000, tokens: 0 },
      { millisecondsAgo: 600_000, tokens: tokens - 100 },
    ];
    return flushes.map((flushed) => planCompaction({ ...full, ...definedOf({ flushed }) }));
  }),
  ...[12_000, 60_000].flatMap((window) =>
    [SHORT, SMALL, ...MIXED.slice(1, 2)].map((log): Look => (policy) => {
      const conversation = conversationOf(policy, log, { window, maximumOutput: 12_000 });
      return planCompaction(conversation.planInput('manual'));
    }),
  ),
];

/** Everything that a policy decides about some conversations, what is quickly seen first. */
const LOOKS: readonly Look[] = [texts, reductions, ...PLANS, ...CROWDED];

const seenBefore = LOOKS.map(() => new Map<string, string>());

function seenBy(look: number, policy: CompactionPolicy): string {
  const key = JSON.stringify(policy);
  const seen = seenBefore[look]?.get(key) ?? JSON.stringify(LOOKS[look]?.(policy));
  seenBefore[look]?.set(key, seen);
  return seen;
}

/** Whether two policies decide anything differently; it looks no further once they do. */
function differ(one: CompactionPolicy, other: CompactionPolicy): boolean {
  return LOOKS.some((_, look) => seenBy(look, one) !== seenBy(look, other));
}

/** What requests show of large results, before and after a pass that knows which files are worked on. */
function reductions(policy: CompactionPolicy): unknown[] {
  const conversation = conversationOf(policy, RESULTS);
  const { entries } = conversation.log;
  const spoken = entries.filter(({ kind }) => kind === 'user' || kind === 'assistant');
  const activeEntryIds = new Set(spoken.map(({ id }) => id));
  const result = planCompaction({ ...conversation.planInput('manual'), activeEntryIds });
  const operations = result.kind === 'planned' ? result.plan.operations : [];
  const shown = operations.map((operation) => {
    const entry = entries.find(({ id }) => id === operation.entryId);
    return entry === undefined ? null : applyOperation(entry, operation);
  });
  const { budget } = conversation;
  const taskFile = policy.taskFile && shownTaskFile(TASK_FILE, resolveAmount(policy.taskFile, budget));
  return [conversation.view(), result, shown, taskFile];
}

const TASK_FILE = Array.from({ length: 100 }, (_, step) => `## ${step + 1}. read_file\n\n${prose(500, step)}\n`).join(
  '\n',
);

/** What a summarizing model is asked, for a long answer and for a short one, and what is left of a summary that is too long. */
function texts(policy: CompactionPolicy): unknown[] {
  const conversation = conversationOf(policy, MIXED[0] ?? SHORT, { window: 30_000, maximumOutput: 8_000 });
  const result = planCompaction({ ...conversation.planInput('manual'), form: 'summary' });
  const { sections, headings } = policy.summary;
  const written = renderSections(
    sections.map(({ title }, index) => ({ title, text: prose(3_000, index) })),
    headings,
  );
  const guarded = guardedSummary(written, {
    policy,
    budget: conversation.budget,
    tokensAfter: Math.floor(0.96 * conversation.budget.window),
    calibration: NO_CALIBRATION,
  });
  return [
    requests(policy, conversation, result),
    guarded,
    ...[1_000, 4_000].map((maximumOutput) => partPolicy(policy, { kind: 'history', maximumOutput }).summary.sections),
  ];
}

function requests(
  policy: CompactionPolicy,
  { log }: Conversation,
  result: ReturnType<typeof planCompaction>,
): unknown[] {
  if (result.kind !== 'planned') return [];
  const { parts } = result.plan;
  const [part] = parts;
  if (part === undefined) return [];
  const { fromSequence = 0, toSequence = 0 } = part;
  const entries = log.entries.filter((entry) => entry.sequence >= fromSequence && entry.sequence <= toSequence);
  const whole = { previousSummary: null, partTexts: [], focus: null, turnIsOpen: true, calibration: NO_CALIBRATION };
  return [6_000, 12_000].map((window) => {
    const summarizer = { window, maximumOutput: 1_000 };
    return summaryView({ ...whole, policy, parts, part, entries, agent: AGENT, summarizer }).view;
  });
}

/** Versions of texts, and reserves by model, which W32 looks at. */
const NO_OPTIONS = new Set(['prompts', 'prompt', 'sharesPrefix', 'continuationText', 'runtimeNote', 'outputReserves']);

type Path = readonly (string | number)[];

function numbersIn(value: unknown, path: Path = []): readonly { readonly path: Path; readonly value: number }[] {
  if (typeof value === 'number') return [{ path, value }];
  if (typeof value !== 'object' || value === null) return [];
  const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.map((item: unknown, index) => [index, item] as const)
    : Object.entries(value);
  return entries.flatMap(([name, item]) => (NO_OPTIONS.has(String(name)) ? [] : numbersIn(item, [...path, name])));
}

function changed(path: Path, value: number): number {
  const name = String(path.at(-1));
  if (/fraction|share|factor|gain|retention/i.test(name)) return value === 0 ? 0.5 : value / 2;
  if (path.includes('minimum')) return value * 5;
  if (name === 'minimumOutput' && value === 0) return 40_000;
  if (name === 'tokens' && value === 0) return 5_000;
  return value < 10 ? value + 5 : Math.round(value / 3);
}

/** The options that set one number and nothing else; an amount is replaced as a whole, so its other half is repeated. */
function optionsFor(policy: CompactionPolicy, path: Path, value: number): unknown {
  const [first, ...rest] = path;
  if (first !== 'reduce') return nested(path, policy, value);
  const [index, ...inside] = rest;
  const reducer = policy.reduce[Number(index)];
  return { reduce: { [reducer?.use ?? '']: nested(inside.slice(1), reducer?.options, value) } };
}

function nested(path: Path, source: unknown, value: number): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const inner: unknown = Reflect.get(Object(source), name);
  const isAmount = rest.length === 0 && (name === 'tokens' || name === 'fraction');
  const others = isAmount
    ? Object.fromEntries(Object.entries(Object(source)).filter(([key]) => ['tokens', 'fraction', 'of'].includes(key)))
    : {};
  return { ...others, [name]: nested(rest, inner, value) };
}

const NUMBERS = BUILT_IN_PRESETS.flatMap((policy) =>
  numbersIn(policy)
    .filter(({ path }) => !TAKEN_ELSEWHERE.has(path.join('.')))
    .map(({ path, value }) => ({ policy, title: `${policy.name} ${path.join('.')}`, path, value })),
).filter(({ title }) => !WITHOUT_EFFECT.has(title));

test.each(NUMBERS)('D10 $title changes what happens', ({ policy, path, value }) => {
  const options = policyChanges.parse(optionsFor(policy, path, changed(path, value)));
  const other = changePolicy(policy, options);
  expect(numbersIn(other).find((number) => number.path.join('.') === path.join('.'))?.value).toBe(changed(path, value));
  expect(differ(other, exact(policy, path)), 'nothing changed').toBe(true);
});

/** The policy with the same number set by the user: that it is exact must not be all that changes. */
function exact(policy: CompactionPolicy, path: Path): CompactionPolicy {
  const value = numbersIn(policy).find((number) => number.path.join('.') === path.join('.'))?.value ?? 0;
  return changePolicy(policy, policyChanges.parse(optionsFor(policy, path, value)));
}

const LIMITS = ['user', 'assistant', 'toolResult', 'toolInput', 'total'] as const;

test.each(BUILT_IN_PRESETS.flatMap((policy) => LIMITS.map((limit) => ({ policy, name: policy.name, limit }))))(
  'D10 $name summary.transcript.$limit changes what the summarizing model reads',
  ({ policy, limit }) => {
    const other = changePolicy(policy, { summary: { transcript: { [limit]: 137 } } });
    expect(differ(other, policy)).toBe(true);
  },
);

test.each(BUILT_IN_PRESETS.map((policy) => ({ policy, name: policy.name })))(
  'D10 $name window: a number counts instead of the one of the model',
  ({ policy }) => {
    expect(differ(changePolicy(policy, { window: 120_000 }), policy)).toBe(true);
  },
);
