import { expect, test } from 'vitest';
import { overridePolicy } from '../../../src/config/override-policy.ts';
import { policyOptions } from '../../../src/config/policy-options.ts';
import { NO_CALIBRATION } from '../../../src/context/estimate.ts';
import type { PlanInput } from '../../../src/context/plan.ts';
import { planCompaction } from '../../../src/context/plan-compaction.ts';
import type { CompactionPolicy } from '../../../src/context/policy.ts';
import { BUILT_IN_PRESETS } from '../../../src/context/presets/index.ts';
import { summaryView } from '../../../src/context/summary-request.ts';
import { AGENT, image, LogBuilder, prose, text } from '../builders.ts';
import type { Conversation } from '../builders.ts';
import { counted, large } from './counted.ts';

/** Numbers that a preset has and does not use, because another of its settings makes them idle. */
const IDLE: Readonly<Record<string, string>> = {
  'pi summary.hiddenMaximum.tokens': 'a summary is always written',
  'goagent summary.hiddenMaximum.tokens': 'a summary is always written',
  'opencode summary.hiddenMaximum.tokens': 'a summary is always written',
  'opencode keep.tail.tokens': 'a pivot keeps no tail',
};

/** A conversation that fills the window with all that numbers are about: media, failures, old and new turns of every size. */
function writeLog(log: LogBuilder, turns: number): LogBuilder {
  for (let turn = 1; turn <= turns; turn += 1) {
    log.user([...text(`request ${turn}: ${prose(900 * turn, turn)}`), ...(turn % 3 === 0 ? [image()] : [])]);
    const result = [...text(prose(2_500 * turn, turn)), ...(turn % 2 === 0 ? [image()] : [])];
    log.step([result], { said: prose(700, turn), arguments: JSON.stringify({ path: 'a.md', text: prose(600, turn) }) });
    log.step([prose(1_500 * turn, turn + 1)], { isError: turn % 4 === 0 });
    log.answer(prose(6_000, turn + 2));
  }
  log.user('The long request.');
  for (let step = 1; step <= 12; step += 1)
    log.step([[...text(prose(9_000, step)), image()]], { said: `step ${step}` });
  return log;
}

/** Measured once: the policies differ, the conversations do not. */
const LOGS = [1, 9, 14].map((turns) => writeLog(new LogBuilder(), turns));

function rich(policy: CompactionPolicy, { entries, turnId }: LogBuilder): Conversation {
  const conversation = large(policy);
  conversation.log.entries.push(...entries);
  conversation.log.turnId = turnId;
  return conversation;
}

const seenBefore = new Map<string, string>();

/** Everything that a policy decides about some conversations, as one text. */
function behaviour(policy: CompactionPolicy): string {
  const key = JSON.stringify(policy);
  const known = seenBefore.get(key) ?? observe(policy);
  seenBefore.set(key, known);
  return known;
}

function observe(policy: CompactionPolicy): string {
  const seen: unknown[] = [];
  for (const log of LOGS) {
    const conversation = rich(policy, log);
    const since = conversation.log.entries.length - 3;
    seen.push(counted(conversation), counted(conversation, { input: 150_000, output: 1_000, since }));
    const reasons: readonly PlanInput['reason'][] = ['threshold', 'overflow', 'manual', 'maintenance'];
    for (const reason of reasons) {
      const result = planCompaction({ ...conversation.planInput(reason), counted: counted(conversation) });
      seen.push(result);
      // One conversation with everything in it is enough to read.
      if (log === LOGS[0] && reason === 'manual') seen.push(requests(policy, conversation, result));
    }
  }
  for (const rounds of [1, 3]) {
    const short = large(policy);
    for (let round = 0; round < rounds; round += 1) {
      short.log.user(prose(150_000, round));
      short.log.answer(prose(150_000, round + 1));
    }
    short.log.user('Go on.');
    seen.push(planCompaction(short.planInput('overflow')));
  }
  return JSON.stringify(seen);
}

function requests(
  policy: CompactionPolicy,
  { log }: Conversation,
  result: ReturnType<typeof planCompaction>,
): unknown[] {
  if (result.kind !== 'planned') return [];
  const { parts } = result.plan;
  return parts.slice(0, 1).map((part) => {
    const { fromSequence = 0, toSequence = 0 } = part;
    const entries = log.entries.filter((entry) => entry.sequence >= fromSequence && entry.sequence <= toSequence);
    return summaryView({
      policy,
      parts,
      part,
      entries,
      previousSummary: null,
      partTexts: [],
      focus: null,
      agent: AGENT,
      turnIsOpen: true,
      summarizer: { window: 30_000, maximumOutput: 8_000 },
      calibration: NO_CALIBRATION,
    }).view;
  });
}

/** The presets whose numbers all show in these conversations. Those of `wolffish` and `cowork` need conversations of their own. */
const SHOWN = BUILT_IN_PRESETS.filter(({ name }) => name !== 'wolffish' && name !== 'cowork');

/** Versions of texts, and reserves by model, which W32 looks at. */
const NO_OPTIONS = new Set(['prompts', 'prompt', 'continuationPrompts', 'runtimeNote', 'outputReserves']);

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
  if (/fraction|share|factor|gain/i.test(name)) return value === 0 ? 0.5 : value / 2;
  if (path.includes('minimum')) return value * 5;
  if (name === 'tokens' && value === 0) return 5_000;
  return value < 10 ? value + 5 : Math.round(value / 3);
}

/** The options that set one number and nothing else; an amount is replaced as a whole, so its other half is repeated. */
function optionsFor(policy: CompactionPolicy, path: Path, value: number): unknown {
  const [first, ...rest] = path;
  if (first !== 'reduce') return nested(path, policy, value);
  const [index, ...inside] = rest;
  const reducer = policy.reduce[Number(index)];
  return { reduce: { [reducer?.kind ?? '']: nested(inside, reducer, value) } };
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

const NUMBERS = SHOWN.flatMap((policy) =>
  numbersIn(policy).map(({ path, value }) => ({ policy, title: `${policy.name} ${path.join('.')}`, path, value })),
);

test.each(NUMBERS)('D10 $title changes what happens', ({ policy, title, path, value }) => {
  const options = policyOptions.parse(optionsFor(policy, path, changed(path, value)));
  const other = overridePolicy(policy, options);
  expect(numbersIn(other).find((number) => number.path.join('.') === path.join('.'))?.value).toBe(changed(path, value));
  const isSame = behaviour(other) === behaviour(exact(policy, path));
  expect(isSame, IDLE[title] ?? 'nothing changed').toBe(title in IDLE);
});

/** The policy with the same number set by the user: that it is exact must not be all that changes. */
function exact(policy: CompactionPolicy, path: Path): CompactionPolicy {
  const value = numbersIn(policy).find((number) => number.path.join('.') === path.join('.'))?.value ?? 0;
  return overridePolicy(policy, policyOptions.parse(optionsFor(policy, path, value)));
}

const LIMITS = ['user', 'assistant', 'toolResult', 'toolInput', 'total'] as const;

test.each(SHOWN.flatMap((policy) => LIMITS.map((limit) => ({ policy, name: policy.name, limit }))))(
  'D10 $name summary.transcript.$limit changes what the summarizing model reads',
  ({ policy, limit }) => {
    const other = overridePolicy(policy, { summary: { transcript: { [limit]: 137 } } });
    expect(behaviour(other) === behaviour(policy)).toBe(false);
  },
);

test.each(SHOWN.map((policy) => ({ policy, name: policy.name })))(
  'D10 $name window: a number counts instead of the one of the model',
  ({ policy }) => {
    expect(behaviour(overridePolicy(policy, { window: 120_000 })) === behaviour(policy)).toBe(false);
  },
);
