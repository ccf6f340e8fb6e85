import { expect, test } from 'vitest';
import { budgetFor } from '../../../src/context/policy/budget.ts';
import {
  checkSummary,
  partPolicy,
  insertQuotes,
  quoteUserMessages,
} from '../../../src/context/summary/check-summary.ts';
import { parseSections } from '../../../src/context/summary/sections.ts';
import { estimateTokens, NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { measureText } from '../../../src/context/log/measure.ts';
import type { Budget, ModelLimits } from '../../../src/context/plan/plan.ts';
import type { CompactionPolicy } from '../../../src/context/policy/policy.ts';
import { COWORK_POLICY } from '../../../src/context/policy/presets/cowork.ts';
import { readsPreviousSummary } from '../../../src/context/summary/summary-request.ts';
import { headingList } from '../../../src/context/summary/sections.ts';
import { transcriptText } from '../../../src/context/summary/transcript.ts';
import { Conversation, prose, viewText } from '../builders.ts';
import { planOf } from '../planning.ts';
import { expectPaired } from '../view-checks.ts';
import { changedIds, conversationWith, planWith, sectionsText, textAt, WINDOW } from './support.ts';

const SECTIONS = sectionsText(COWORK_POLICY, 'as it stands');

function working(steps: number, size = 24_000, limits: ModelLimits = WINDOW, policy: CompactionPolicy = COWORK_POLICY) {
  const conversation = conversationWith(policy, limits);
  conversation.log.user('FIRST: rewrite the storage layer.');
  for (let step = 0; step < steps; step += 1) conversation.log.step([prose(size, step + 1)]);
  return conversation;
}

const tokensIn = (value: string): number => estimateTokens(measureText(value), NO_CALIBRATION);

test.each([
  [200_000, 180_000],
  [128_000, 115_200],
  [16_000, 14_400],
])('C2 a window of %d tokens is compacted over %d', (window, trigger) => {
  expect(budgetFor(COWORK_POLICY, { window, maximumOutput: 4_096 }).trigger).toBe(trigger);
});

test('C3 a pass leaves about half of the window', () => {
  const { tokensAfter, tokensBefore } = planWith(working(44, 20_000));
  expect(tokensBefore).toBeGreaterThan(180_000);
  expect(tokensAfter).toBeLessThan(105_000);
  expect(tokensAfter).toBeGreaterThan(75_000);
});

test('C1 oversized results are shortened, and a summary is written on every pass', () => {
  const conversation = working(26, 20_000);
  const [, huge] = conversation.log.step([prose(390_000, 1)], { tool: 'search' });
  conversation.log.answer('read');
  const plan = planWith(conversation);
  expect(plan.form).toBe('summary');
  expect(changedIds(plan)).toContain(huge?.id);
});

test('C1 the first message stays whole through compactions after overflows, as long as others can give way', () => {
  const conversation = new Conversation({ policy: COWORK_POLICY });
  const first = conversation.log.user(prose(1_000));
  for (let step = 0; step < 30; step += 1) conversation.log.step([prose(6_000, step)]);
  conversation.commit(planOf(conversation), sectionsText(COWORK_POLICY, 'What was done.'));
  for (let overflow = 0; overflow < 2; overflow += 1) {
    conversation.log.step([prose(500, 50 + overflow)]);
    const plan = planOf(conversation, { reason: 'overflow' });
    expect(changedIds(plan)).not.toContain(first.id);
    conversation.commit(plan, sectionsText(COWORK_POLICY, 'What was done.'));
  }
});

test('C1, C15, C19 older messages go and are counted, the first, pinned notes and the newest stay, the summary after the first', () => {
  const conversation = working(44, 20_000);
  conversation.log.note('plan', 'PLAN: step four of nine');
  const newest = conversation.log.step(['NEWEST RESULT'])[1];
  const plan = planWith(conversation);
  const covered = conversation.log.entries.filter(({ sequence }) => sequence <= (plan.coveredThroughSequence ?? 0));
  // The first message stays, and so it is none of those that went.
  expect(plan.droppedMessages).toBe(covered.length - 1);
  conversation.commit(plan, SECTIONS);
  const view = conversation.view();
  expect(textAt(view, 0)).toContain('FIRST: rewrite the storage layer.');
  expect(textAt(view, 1)).toContain('<cowork_compaction_summary>');
  const shown = viewText(view);
  expect(shown).toContain('PLAN: step four of nine');
  expect(shown).toContain('NEWEST RESULT');
  expect(newest).toBeDefined();
  expect(view.messages.length).toBeLessThan(60);
  expectPaired(view);
});

test('C15, D6 the summary survives later rounds as one block, and each round reads the one before', () => {
  const conversation = working(44, 20_000);
  for (let round = 1; round <= 4; round += 1) {
    const plan = planWith(conversation);
    const last = plan.parts.at(-1);
    expect(last !== undefined && readsPreviousSummary(plan.parts, last)).toBe(true);
    conversation.commit(plan, SECTIONS.replace('as it stands', `ROUND ${round}`));
    const shown = viewText(conversation.view());
    expect(shown.split('<cowork_compaction_summary>')).toHaveLength(2);
    expect(shown).toContain(`ROUND ${round}`);
    expect(shown).toContain('FIRST: rewrite the storage layer.');
    for (let step = 0; step < 26; step += 1) conversation.log.step([prose(20_000, round * 100 + step)]);
  }
});

test('C4 a summary is at most 4,096 tokens, 8 % of the half that a pass leaves free, and at least 500', () => {
  const room = (window: number): number => budgetFor(COWORK_POLICY, { window, maximumOutput: 8_192 }).summaryOutput;
  expect(room(200_000)).toBe(4_096);
  expect(room(128_000)).toBe(4_096);
  expect(room(16_000)).toBe(640);
  expect(room(8_000)).toBe(500);
  expect(planWith(working(44, 20_000)).parts[0]?.maximumOutput).toBe(4_096);
});

test('C5 nine sections are asked for or filled, in their order', () => {
  expect(COWORK_POLICY.summary.sections.map(({ title }) => title)).toEqual([
    'Primary Request and Intent',
    'User Messages',
    'Work Completed',
    'Errors and Fixes',
    'Key Technical Details',
    'Decisions Made',
    'Pending/Incomplete Work',
    'Current State',
    'Recommended Next Step',
  ]);
  const policy = partPolicy(COWORK_POLICY, { kind: 'history', maximumOutput: 4_000 });
  const text = sectionsText(policy, 'x');
  const check = checkSummary({ policy, text, stopReason: 'end', calledTool: false, maximumOutputTokens: 4_000 });
  expect(check).toMatchObject({ ok: true });
  const without = text.replace('## Current State', '## Something');
  expect(
    checkSummary({ policy, text: without, stopReason: 'end', calledTool: false, maximumOutputTokens: 4_000 }),
  ).toEqual({
    ok: false,
    problem: 'missing_sections',
  });
});

test.each([
  ['Primary Request and Intent', ['requirements evolved']],
  ['Work Completed', ['created, modified or deleted', 'libraries installed', 'commands executed']],
  ['Errors and Fixes', ['message', 'fix']],
  ['Key Technical Details', ['Code patterns', 'configuration values', 'API responses', 'file paths', 'function names']],
  ['Decisions Made', ['directions that the user approved']],
  ['Pending/Incomplete Work', ['requested and not addressed']],
  ['Current State', ['in progress when the transcript ends']],
])('C5b the model is told what belongs into %s', (title, words) => {
  const asked = headingList(partPolicy(COWORK_POLICY, { kind: 'history', maximumOutput: 4_000 }).summary.sections);
  const own = asked.split('## ').find((section) => section.startsWith(title)) ?? '';
  for (const word of words) expect(own).toContain(word);
});

test('C5b user messages stand in their exact words, in order, put there by the program', () => {
  const conversation = conversationWith(COWORK_POLICY);
  const words = ['Use tabs — "always".', 'No!\n## Work Completed\nI meant spaces.', 'Thanks.'];
  for (const word of words) conversation.log.user(word);
  expect(
    headingList(partPolicy(COWORK_POLICY, { kind: 'history', maximumOutput: 4_000 }).summary.sections),
  ).not.toContain('User Messages');
  const quotes = quoteUserMessages(conversation.log.entries, 1_000);
  const text = insertQuotes(
    COWORK_POLICY,
    sectionsText(partPolicy(COWORK_POLICY, { kind: 'history', maximumOutput: 4_000 }), 'done'),
    quotes,
  );
  const titles = COWORK_POLICY.summary.sections.map(({ title }) => title);
  const found = parseSections(text, titles);
  expect(found.map(({ title }) => title)).toEqual(titles);
  const section = found.find(({ title }) => title === 'User Messages')?.text ?? '';
  expect(section).toContain('1. "Use tabs — "always"."');
  expect(section).toContain('2. "No!\n    ## Work Completed\n    I meant spaces."');
  expect(section.indexOf('1. ')).toBeLessThan(section.indexOf('3. "Thanks."'));
});

test('C5b when they are more than fits, the newest user messages stay whole', () => {
  const conversation = conversationWith(COWORK_POLICY);
  for (let turn = 0; turn < 20; turn += 1) conversation.log.user(`MESSAGE-${turn} ${prose(2_000, turn)} END-${turn}`);
  const quotes = quoteUserMessages(conversation.log.entries.toReversed(), 1_500);
  expect(quotes).toContain('END-19');
  expect(quotes).not.toContain('END-2"');
  expect(quotes).toMatch(/recall_open 0000/);
  expect(tokensIn(quotes)).toBeLessThan(1_700);
});

test('C6 a small window gets shorter instructions of the same sections', () => {
  const small = budgetFor(COWORK_POLICY, { window: 16_000, maximumOutput: 4_096 });
  const full = headingList(partPolicy(COWORK_POLICY, { kind: 'history', maximumOutput: 4_096 }).summary.sections);
  const condensed = headingList(
    partPolicy(COWORK_POLICY, { kind: 'history', maximumOutput: small.summaryOutput }).summary.sections,
  );
  const titles = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('## '));
  expect(titles(condensed)).toEqual(titles(full));
  expect(condensed.length).toBeLessThan(full.length * 0.75);
});

test('C7 the summary is presented as the hand-off of a previous agent', () => {
  const conversation = working(44, 20_000);
  conversation.commit(planWith(conversation), SECTIONS);
  const shown = textAt(conversation.view(), 1);
  expect(shown).toContain('A previous agent produced the structured summary below to hand off the work.');
  expect(shown).toContain('avoid duplicating effort');
  expect(shown).toContain('</cowork_compaction_summary>');
});

function transcriptOf(conversation: ReturnType<typeof working>): string {
  return transcriptText({
    entries: conversation.log.entries,
    maximumTokens: 1_000_000,
    calibration: NO_CALIBRATION,
    limits: COWORK_POLICY.summary.transcript,
  });
}

test.each([
  ['user messages', 3_000, (text: string) => conversationOf((log) => log.user(text))],
  ['answers', 1_500, (text: string) => conversationOf((log) => log.answer(text))],
  ['tool results', 1_200, (text: string) => conversationOf((log) => log.step([text], { arguments: '{}' }))],
  ['tool inputs', 800, (text: string) => conversationOf((log) => log.step(['ok'], { arguments: text }))],
] as const)('C8 %s are cut to %d characters', (_, limit, build) => {
  const text = transcriptOf(build('x'.repeat(limit * 2)));
  expect(text.length).toBeLessThan(limit + 200);
  expect(text.length).toBeGreaterThan(limit - 200);
  expect(transcriptOf(build('x'.repeat(limit))).length).toBeGreaterThan(limit);
});

function conversationOf(build: (log: ReturnType<typeof working>['log']) => unknown): ReturnType<typeof working> {
  const conversation = conversationWith(COWORK_POLICY);
  build(conversation.log);
  return conversation;
}

test('C9 a cut text keeps 70 % head and 30 % tail', () => {
  const text = transcriptOf(conversationOf((log) => log.user(`${'a'.repeat(10_000)}${'b'.repeat(10_000)}`)));
  const heads = (text.match(/a{50,}/)?.[0] ?? '').length;
  const tails = (text.match(/b{50,}/)?.[0] ?? '').length;
  expect(heads / (heads + tails)).toBeCloseTo(0.7, 1);
});

test('C10, D7 the whole transcript is at most 60,000 characters, and the newest is kept longest', () => {
  const conversation = conversationWith(COWORK_POLICY);
  for (let turn = 0; turn < 60; turn += 1) conversation.log.user(`T${turn}: ${prose(3_000, turn)}`.slice(0, 3_000));
  const text = transcriptOf(conversation);
  expect(text.length).toBeLessThanOrEqual(60_000);
  expect(text.length).toBeGreaterThan(57_000);
  const blocks = text.split('</user>').slice(0, -1);
  expect(blocks.at(-1)?.length ?? 0).toBeGreaterThan((blocks[0]?.length ?? 0) * 1.5);
  expect(text).toContain('T59: ');
});

test('C10 the frames of very many entries count too: the oldest are left out behind a mark, the newest are shown', () => {
  const conversation = conversationWith(COWORK_POLICY);
  for (let step = 0; step < 1_000; step += 1)
    conversation.log.step([`R${step}: ${prose(1_000, step)}`], { arguments: `{"path":"${'p'.repeat(step % 90)}"}` });
  const text = transcriptOf(conversation);
  expect(text.length).toBeLessThanOrEqual(60_000);
  expect(text.length).toBeGreaterThan(57_000);
  expect(text).toMatch(/^\[… 1,\d{3} older entries left out …\]\n</);
  expect(text).toContain('R999: ');
  expect(text).not.toContain('R0: ');
});

test('C11 of the nine sections the first, seventh, eighth and ninth are open by default, condensed or not', () => {
  const { sections, condensed } = COWORK_POLICY.summary;
  for (const each of [sections, condensed?.sections ?? []]) {
    expect(each.flatMap(({ open }, index) => (open === true ? [index + 1] : []))).toEqual([1, 7, 8, 9]);
    expect(each).toHaveLength(9);
  }
});

test('C13 a jump past the window is compacted with the same budget, and is called reactive', () => {
  const proactive = planWith(working(44, 20_000));
  const jumped = working(38, 20_000);
  jumped.log.step([prose(390_000, 7)], { tool: 'search' });
  const reactive = planWith(jumped, { form: 'summary' });
  expect(reactive.tokensBefore).toBeGreaterThan(200_000);
  expect([proactive.proactive, reactive.proactive]).toEqual([true, false]);
  expect(reactive.tokensAfter).toBeLessThan(105_000);
});

test('C16 the documented defaults are in force', () => {
  const { trigger, target, outputReserve, summary } = COWORK_POLICY;
  expect([trigger.fraction, target?.fraction, outputReserve?.tokens]).toEqual([0.9, 0.5, 0]);
  expect([summary.maximumOutput.tokens, summary.minimumOutput, summary.transcript.total]).toEqual([4_096, 500, 60_000]);
});

const budgetWith = (change: Partial<CompactionPolicy>): Budget => budgetFor({ ...COWORK_POLICY, ...change }, WINDOW);
test('C16, D10 other values change the numbers in force', () => {
  const asDocumented = budgetWith({});
  const { summary } = COWORK_POLICY;
  expect(budgetWith({ trigger: { fraction: 0.8, of: 'window' } }).trigger).not.toBe(asDocumented.trigger);
  expect(budgetWith({ target: { fraction: 0.4, of: 'window' } }).target).not.toBe(asDocumented.target);
  const less = { ...summary, maximumOutput: { tokens: 1_000 } };
  expect(budgetWith({ summary: less }).summaryOutput).toBe(1_000);
  expect(budgetWith({ summary: { ...less, minimumOutput: 2_000 } }).summaryOutput).toBe(2_000);
});
