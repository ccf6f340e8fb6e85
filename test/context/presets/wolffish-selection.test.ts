import { expect, test } from 'vitest';
import { budgetFor, policyForModel } from '../../../src/context/policy/budget.ts';
import { BUILT_IN_REDUCERS } from '../../../src/context/plan/reducers/built-in.ts';
import type { CompactionPolicy } from '../../../src/context/policy/policy.ts';
import { WOLFFISH_POLICY } from '../../../src/context/policy/presets/wolffish.ts';
import { AGENT, image, prose, text } from '../builders.ts';
import { changedIds, conversationWith, countOf, isPlanned, planWith } from './support.ts';

/** Reads `sizes.length` files of these many characters, one answer for each. */
function reading(sizes: readonly number[], policy: CompactionPolicy = WOLFFISH_POLICY) {
  const conversation = conversationWith(policy);
  const task = conversation.log.user(`Read all mails. ${prose(2_000, 99)}`);
  const steps = sizes.map((size, index) => conversation.log.step([prose(size, index + 1)]));
  return { conversation, task, results: steps.map(([, result]) => result?.id ?? '') };
}

const clipOf = (policy: CompactionPolicy) =>
  BUILT_IN_REDUCERS.clip.options.parse(policy.reduce.find(({ use }) => use === 'clip')?.options);

function withClip(change: Readonly<Record<string, unknown>>): CompactionPolicy {
  return { ...WOLFFISH_POLICY, reduce: [{ use: 'clip', options: { ...clipOf(WOLFFISH_POLICY), ...change } }] };
}

test('W5 a pass is due over 75 % of the input budget, not below', () => {
  // 192,000 tokens of budget at 1.5 characters: 216,000 characters are 75 %.
  expect(countOf(reading([200_000]).conversation).isDue).toBe(false);
  expect(countOf(reading([225_000]).conversation).isDue).toBe(true);
  expect(isPlanned(reading([50_000, 50_000, 50_000, 50_000, 60_000]).conversation)).toBe(true);
});

test('W6 every 1.5 characters count as a token', () => {
  const before = countOf(reading([]).conversation).tokens ?? 0;
  const after = countOf(reading([30_000]).conversation).tokens ?? 0;
  expect(after - before).toBeGreaterThan(20_000);
  expect(after - before).toBeLessThan(20_200);
});

test('W7 a pass leaves about half of the budget, by the same count', () => {
  const { conversation } = reading([40_000, 40_000, 40_000, 40_000, 40_000, 40_000, 40_000]);
  const plan = planWith(conversation);
  conversation.commit(plan, 'TASK: x');
  expect(countOf(conversation).tokens).toBeLessThan(conversation.budget.inputBudget * 0.55);
});

test('W5 R5 prose that is brought from 75 % to the target wins enough, though it fills the window by a third only', () => {
  const { conversation } = reading([40_000, 40_000, 40_000, 40_000, 40_000, 40_000]);
  const counted = countOf(conversation);
  expect(counted.isDue).toBe(true);
  const { requiredGain, tokensBefore, tokensAfter } = planWith(conversation);
  expect(requiredGain).toBeLessThan(tokensBefore - tokensAfter);
  expect(requiredGain).toBe(Math.ceil(0.1 * conversation.budget.window * counted.calibratedPerToken));
});

test('W8 the higher of estimate and reported count is held against the trigger', () => {
  const { conversation } = reading([10_000]);
  expect(countOf(conversation).tokens).toBeLessThan(20_000);
  expect(countOf(conversation, { input: 150_000, output: 10 }).tokens).toBe(150_000);
  expect(countOf(conversation, { input: 10, output: 1 }).tokens).toBe(countOf(conversation).tokens);
});

test('W9 tool schemas, tool arguments, reasoning and images by their pixels are counted too', () => {
  const { conversation } = reading([]);
  const bare = countOf(conversation).tokens ?? 0;
  conversation.log.step([text('ok')], { arguments: JSON.stringify({ path: 'a.md', body: prose(3_000) }) });
  const withArguments = countOf(conversation).tokens ?? 0;
  expect(withArguments - bare).toBeGreaterThan(2_000);
  conversation.log.step([[image(1_000, 1_000)]]);
  const withImage = countOf(conversation).tokens ?? 0;
  expect(withImage - withArguments).toBeGreaterThan(1_000);
  conversation.log.step([[image(500, 500)]]);
  const withSmallImage = countOf(conversation).tokens ?? 0;
  expect(withSmallImage - withImage).toBeLessThan((withImage - withArguments) / 2);
  conversation.log.answer([{ type: 'thinking', text: prose(3_000), provider: 'anthropic' }, ...text('Done.')]);
  expect((countOf(conversation).tokens ?? 0) - withSmallImage).toBeGreaterThan(1_900);
  const [tool] = AGENT.tools;
  if (tool === undefined) throw new Error('no tool');
  const schema = { type: 'object', properties: { path: { type: 'string', description: prose(3_000) } } };
  const described = { ...AGENT, tools: [{ ...tool, inputSchema: schema }, ...AGENT.tools.slice(1)] };
  const withSchema = (countOf(conversation, undefined, described).tokens ?? 0) - (countOf(conversation).tokens ?? 0);
  expect(withSchema).toBeGreaterThan(1_900);
  expect(withSchema).toBeLessThan(2_100);
});

test('W10, D1 a reported overflow compacts also when the estimate is far below the trigger', () => {
  const { conversation } = reading([20_000, 20_000, 20_000, 20_000, 20_000]);
  expect(countOf(conversation).isDue).toBe(false);
  const plan = planWith(conversation, { reason: 'overflow' });
  expect(plan.tokensAfter).toBeLessThan(plan.tokensBefore);
  expect(changedIds(plan).length).toBeGreaterThan(0);
});

test('W11 no more messages are taken than bring the view down to half of the budget', () => {
  const { conversation, results } = reading(Array.from({ length: 22 }, () => 10_500));
  const changed = changedIds(planWith(conversation));
  expect(changed.length).toBeGreaterThan(1);
  expect(changed.length).toBeLessThan(results.length - 3);
});

test('W12, W15 failed calls and the newest three results stay whole', () => {
  const conversation = conversationWith(WOLFFISH_POLICY);
  conversation.log.user('Read.');
  const failed = conversation.log.step([prose(30_000, 1)], { isError: true })[1];
  for (let step = 0; step < 22; step += 1) conversation.log.step([prose(10_000, step + 2)]);
  const newest = conversation.log.entries.filter((entry) => entry.kind === 'tool_result').slice(-3);
  const changed = changedIds(planWith(conversation));
  expect(changed).not.toContain(failed?.id);
  for (const entry of newest) expect(changed).not.toContain(entry.id);
});

function talking(): ReturnType<typeof conversationWith> {
  const conversation = conversationWith(WOLFFISH_POLICY);
  for (let turn = 0; turn < 20; turn += 1) {
    conversation.log.user(prose(2_000, turn + 1));
    conversation.log.answer(prose(10_000, turn + 40));
  }
  return conversation;
}

test('W13 without tool results to take, answers are taken oldest first, but the newest three', () => {
  const conversation = talking();
  const answers = conversation.log.entries.filter((entry) => entry.kind === 'assistant').map((entry) => entry.id);
  const changed = changedIds(planWith(conversation)).filter((id) => answers.includes(id));
  expect(changed).toEqual(answers.slice(0, changed.length));
  expect(changed.length).toBeLessThanOrEqual(17);
  expect(changed.length).toBeGreaterThan(2);
});

test('W14 user messages come last, oldest first, but the first and the newest three', () => {
  const conversation = conversationWith(WOLFFISH_POLICY);
  // All that may be taken is just enough.
  for (let turn = 0; turn < 12; turn += 1) conversation.log.user(prose(20_800, turn + 70));
  const users = conversation.log.entries.map((entry) => entry.id);
  expect(changedIds(planWith(conversation))).toEqual(users.slice(1, -3));
});

test('W13, W14 answers go before any user message, but the newest three, and then user messages, no more than needed', () => {
  const conversation = conversationWith(WOLFFISH_POLICY);
  const ids = { user: [] as string[], answer: [] as string[] };
  // The answers that may be taken are not enough; so user messages follow, and are more than enough.
  for (let turn = 0; turn < 20; turn += 1) {
    ids.user.push(conversation.log.user(prose(10_000, turn + 1)).id);
    ids.answer.push(conversation.log.answer(prose(4_000, turn + 40)).id);
  }
  const changed = changedIds(planWith(conversation));
  const answers = ids.answer.slice(0, -3);
  expect(changed.slice(0, answers.length)).toEqual(answers);
  const users = changed.slice(answers.length);
  expect(users.length).toBeGreaterThan(0);
  expect(users.length).toBeLessThan(ids.user.length - 4);
  expect(users).toEqual(ids.user.slice(1, 1 + users.length));
});

test('W15 the first user message and contents under 500 characters are never taken', () => {
  const conversation = conversationWith(WOLFFISH_POLICY);
  const task = conversation.log.user(prose(20_000));
  const short = Array.from({ length: 6 }, (_, index) => conversation.log.step([prose(499, index)])[1]?.id);
  for (let turn = 0; turn < 12; turn += 1) conversation.log.user(prose(20_000, turn + 9));
  const changed = changedIds(planWith(conversation));
  expect(changed.length).toBeGreaterThan(2);
  expect(changed).not.toContain(task.id);
  for (const id of short) expect(changed).not.toContain(id);
});

test('W17 the documented constants are in force', () => {
  const { trigger, target, counting } = WOLFFISH_POLICY;
  expect([trigger.fraction, target?.fraction]).toEqual([0.75, 0.5]);
  expect(counting === 'calibrated' ? null : counting.charactersPerToken).toBe(1.5);
  const clip = clipOf(WOLFFISH_POLICY);
  expect([clip.protectNewest, clip.minimumCharacters, clip.expectedRetention]).toEqual([3, 500, 0.25]);
  expect([clip.headFraction, clip.headLimit, clip.tailFraction, clip.tailLimit]).toEqual([0.15, 6_000, 0.08, 3_000]);
});

test.each([
  ['protectNewest', { protectNewest: 0 }, [20_000, 20_000, 20_000, 20_000, 20_000, 150_000]],
  ['minimumCharacters', { minimumCharacters: 200_000 }, [20_000, 150_000, 20_000, 20_000, 20_000, 20_000]],
  ['expectedRetention', { expectedRetention: 0.6 }, Array.from({ length: 22 }, () => 10_500)],
  ['headLimit', { headLimit: 100 }, [20_000, 150_000, 20_000, 20_000, 20_000, 20_000]],
  ['tailLimit', { tailLimit: 100 }, [20_000, 150_000, 20_000, 20_000, 20_000, 20_000]],
  ['headFraction', { headFraction: 0.01 }, [20_000, 150_000, 20_000, 20_000, 20_000, 20_000]],
  ['tailFraction', { tailFraction: 0.001 }, [20_000, 150_000, 20_000, 20_000, 20_000, 20_000]],
] as const)('W17, D10 another value of %s leads to another plan', (_, change, sizes) => {
  const asDocumented = planWith(reading(sizes).conversation).operations;
  expect(planWith(reading(sizes, withClip(change)).conversation).operations).not.toEqual(asDocumented);
});

test('W21 what head, tail and 200 characters would cover stays whole', () => {
  // The documented shares cover nothing of 500 characters and more; 500 and 300 leave 200 of 1,000.
  const policy = withClip({ headFraction: 0.5, headLimit: 500, tailFraction: 0.5, tailLimit: 300 });
  const isClipped = (size: number): boolean => {
    const conversation = conversationWith(policy);
    conversation.log.user('Read.');
    // A character each, and a token or so: what a clip takes away is more than its label.
    const [, small] = conversation.log.step(['漢'.repeat(size)]);
    conversation.log.step([prose(100_000, 1)]);
    // The newest three stay, and alone are over the goal: all that may be taken is taken.
    for (let step = 0; step < 3; step += 1) conversation.log.step([prose(60_000, step + 2)]);
    return changedIds(planWith(conversation)).includes(small?.id ?? '');
  };
  expect(isClipped(1_000)).toBe(false);
  expect(isClipped(1_001)).toBe(true);
});

test('W32 the budget is the window less the reserve of the model', () => {
  const inputBudget = (model: string, window: number): number =>
    budgetFor(policyForModel(WOLFFISH_POLICY, model), { window, maximumOutput: 65_536 }).inputBudget;
  expect(inputBudget('deepseek/deepseek-v4-pro', 1_000_000)).toBe(967_232);
  expect(inputBudget('anthropic/claude-opus-4-6', 1_000_000)).toBe(1_000_000);
  expect(inputBudget('anthropic/claude-sonnet-4-6', 1_000_000)).toBe(1_000_000);
  expect(inputBudget('xai/grok-4.3', 1_000_000)).toBe(934_464);
  expect(inputBudget('openai/gpt-5', 400_000)).toBe(334_464);
  expect(inputBudget('openai/gpt-4.1', 1_000_000)).toBe(967_232);
  expect(inputBudget('moonshot/kimi-k2', 262_144)).toBe(196_608);
  for (const name of ['qwen-3.7-max', 'qwen3.7-max']) expect(inputBudget(`qwen/${name}`, 1_000_000)).toBe(934_464);
});

test('W32 of several names that fit a model the longest counts, whoever serves it', () => {
  const limits = { window: 200_000, maximumOutput: 64_000 };
  const reserve = (model: string): number => budgetFor(policyForModel(WOLFFISH_POLICY, model), limits).outputReserve;
  expect(reserve('anthropic/claude-opus-4-5')).toBe(8_000);
  expect(reserve('anthropic/claude-opus-4-5-20251101')).toBe(8_000);
  expect(reserve('anthropic/claude-opus-4-7')).toBe(0);
  expect(reserve('anthropic/claude-opus-4-1-20250805')).toBe(8_000);
  expect(reserve('anthropic/claude-opus-5-5')).toBe(0);
  expect(reserve('proxy/gpt-5-mini')).toBe(65_536);
  expect(reserve('cloud/us.anthropic.claude-opus-4-6-20260101-v1:0')).toBe(0);
  expect(reserve('cloud/claude-sonnet-4-6@20260101')).toBe(0);
  expect(reserve('openrouter/anthropic/claude-opus-4.6:beta')).toBe(0);
  expect(reserve('azure/openai/gpt-5-2026-01-01')).toBe(65_536);
  const reversed = Object.fromEntries(Object.entries(WOLFFISH_POLICY.outputReserves).toReversed());
  const policy = policyForModel({ ...WOLFFISH_POLICY, outputReserves: reversed }, 'anthropic/claude-opus-4-5');
  expect(policy.outputReserve?.tokens).toBe(8_000);
});

test('W32 an unknown model reserves 8,000 tokens, and no reserve takes more than half of the window', () => {
  const limits = { window: 200_000, maximumOutput: 65_536 };
  expect(budgetFor(policyForModel(WOLFFISH_POLICY, 'some/model'), limits).outputReserve).toBe(8_000);
  const small = budgetFor(policyForModel(WOLFFISH_POLICY, 'openai/gpt-5'), { window: 8_000, maximumOutput: 4_000 });
  expect(small.inputBudget).toBeGreaterThanOrEqual(4_000);
});
