import { expect, test } from 'vitest';
import { estimateTokens, NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { measureView } from '../../../src/context/view/view-arrangement.ts';
import type { ModelLimits } from '../../../src/context/plan/plan.ts';
import type { CompactionPolicy } from '../../../src/context/policy/policy.ts';
import { COWORK_POLICY } from '../../../src/context/policy/presets/cowork.ts';
import { prose, viewText } from '../builders.ts';
import { expectPaired } from '../view-checks.ts';
import { conversationWith, planWith, sectionsText, textAt, WINDOW } from './support.ts';

const SECTIONS = sectionsText(COWORK_POLICY, 'as it stands');

function working(steps: number, size = 24_000, limits: ModelLimits = WINDOW, policy: CompactionPolicy = COWORK_POLICY) {
  const conversation = conversationWith(policy, limits);
  conversation.log.user('FIRST: rewrite the storage layer.');
  for (let step = 0; step < steps; step += 1) conversation.log.step([prose(size, step + 1)]);
  return conversation;
}

test('C17 next to nothing left: a small flush comes before the parts of the pass', () => {
  const conversation = working(41, 20_000);
  conversation.log.step([prose(30_000, 3)], { tool: 'search' });
  while (conversation.budget.window - planWith(conversation).tokensBefore >= 1_200)
    conversation.log.step([prose(4_000, 5)]);
  const plan = planWith(conversation);
  expect(plan.parts[0]).toMatchObject({ kind: 'flush', number: 1, wave: 1, maximumOutput: 220 });
  expect(plan.parts.slice(1).every((part) => part.wave > 1)).toBe(true);
  const recent = { millisecondsAgo: 60_000, tokens: 0 };
  expect(planWith(conversation, { flushed: recent }).parts[0]?.kind).not.toBe('flush');
  const same = { millisecondsAgo: 1e9, tokens: plan.tokensBefore - 100 };
  expect(planWith(conversation, { flushed: same }).parts[0]?.kind).not.toBe('flush');
  const due = { millisecondsAgo: 120_000, tokens: plan.tokensBefore - 251 };
  expect(planWith(conversation, { flushed: due }).parts[0]?.kind).toBe('flush');
});

test('C17 with more room there is no flush, and neither with fewer than four messages', () => {
  expect(planWith(working(43, 20_000)).parts.some((part) => part.kind === 'flush')).toBe(false);
  for (const [messages, flushes] of [
    [3, false],
    [5, true],
  ] as const) {
    const conversation = conversationWith(COWORK_POLICY);
    const size = 880_000 / messages;
    for (let message = 0; message < messages; message += 1) {
      if (message % 2 === 0) conversation.log.user(prose(size, message + 1));
      else conversation.log.answer(prose(size, message + 1));
    }
    const input = conversation.planInput('overflow');
    const tokens = estimateTokens(measureView(input), NO_CALIBRATION);
    const hasFlush = (left: number): boolean => {
      const budget = { ...input.budget, window: tokens + left };
      return planWith(conversation, { reason: 'overflow', budget }).parts.some((part) => part.kind === 'flush');
    };
    expect(hasFlush(1_199)).toBe(flushes);
    expect(hasFlush(1_200)).toBe(false);
  }
  const sections = COWORK_POLICY.summary.flush?.sections.map(({ title }) => title);
  expect(sections).toEqual(['Decisions', 'Open Loops', 'Next Actions', 'Key Findings']);
});

test('C21 results are capped at 10,000 tokens, those of documents at 30,000', () => {
  const conversation = working(20, 20_000);
  const [, plain] = conversation.log.step([prose(390_000, 1)], { tool: 'search' });
  const [, document] = conversation.log.step([prose(390_000, 2)], { tool: 'read_file' });
  conversation.log.answer('ok');
  const { operations } = planWith(conversation, { reason: 'threshold' });
  const size = (id: string | undefined): number => {
    const operation = operations.find(({ entryId }) => entryId === id);
    return operation === undefined ? 0 : estimateTokens(operation.measurements, NO_CALIBRATION);
  };
  expect(size(plain?.id)).toBeGreaterThan(9_000);
  expect(size(plain?.id)).toBeLessThanOrEqual(10_000);
  expect(size(document?.id)).toBeGreaterThan(28_000);
  expect(size(document?.id)).toBeLessThanOrEqual(30_000);
});

test('C21 of a capped array the first 50 items stay', () => {
  const conversation = working(36, 20_000);
  const items = Array.from({ length: 4_000 }, (_, index) => ({ item: index, name: `name of item ${index}` }));
  conversation.log.step([JSON.stringify(items)], { tool: 'list' });
  conversation.log.answer('ok');
  conversation.commit(planWith(conversation), SECTIONS);
  const shown = viewText(conversation.view());
  expect(shown).toContain('name of item 49');
  expect(shown).not.toContain('name of item 50\\');
  expect(shown).toContain('First 50 of 4,000 items');
});

test('C21 without a model the extract stands under the same tag, and secrets are kept out by the prompt', () => {
  const conversation = working(44, 20_000);
  conversation.commit(planWith(conversation, { form: 'extractive_summary' }), SECTIONS);
  expect(textAt(conversation.view(), 1)).toContain('<cowork_compaction_summary>');
  expect(COWORK_POLICY.summary.prompts.system.text).toContain('Never write passwords, tokens or keys');
});

test('C21 after an overflow a pass aims for 35 % of the window', () => {
  const { tokensAfter } = planWith(working(44, 20_000), { reason: 'overflow' });
  expect(tokensAfter).toBeLessThan(80_000);
});

test('C22, D8 older groups that name active files stay whole, within 15 % of the budget', () => {
  const conversation = working(1, 100);
  const [asked, answered] = conversation.log.step([`ACTIVE ${prose(20_000, 900)}`]);
  for (let step = 0; step < 43; step += 1) conversation.log.step([prose(20_000, step)]);
  const active = new Set([asked?.id ?? '']);
  const plan = planWith(conversation, { activeEntryIds: active });
  expect(plan.keptSequences).toContain(asked?.sequence);
  expect(plan.keptSequences).toContain(answered?.sequence);
  conversation.commit(plan, SECTIONS);
  expect(viewText(conversation.view())).toContain('ACTIVE ');
  expectPaired(conversation.view());
  const many = new Set(conversation.log.entries.filter((entry) => entry.kind === 'assistant').map((entry) => entry.id));
  const fresh = working(44, 20_000);
  const kept = planWith(fresh, { activeEntryIds: many }).keptSequences;
  expect(kept.length).toBeGreaterThan(3);
  expect(kept.length).toBeLessThan(2 * 8);
});

test('C1 the first message stays also when it is not the newest of the user', () => {
  const conversation = working(20, 20_000);
  conversation.log.user('SECOND: and test it.');
  for (let step = 0; step < 24; step += 1) conversation.log.step([prose(20_000, step + 50)]);
  conversation.commit(planWith(conversation), SECTIONS);
  expect(textAt(conversation.view(), 0)).toContain('FIRST: rewrite the storage layer.');
});
