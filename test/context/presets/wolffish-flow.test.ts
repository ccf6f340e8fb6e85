import { expect, test } from 'vitest';
import { checkSummary } from '../../../src/context/summary/check-summary.ts';
import { extractiveSummary } from '../../../src/context/summary/extractive-summary.ts';
import { NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { projectView } from '../../../src/context/view/project-view.ts';
import { WOLFFISH_POLICY } from '../../../src/context/policy/presets/wolffish.ts';
import { summaryView } from '../../../src/context/summary/summary-request.ts';
import { toolWaves } from '../../../src/workflows/steps.ts';
import { AGENT, image, prose, text, viewText } from '../builders.ts';
import { expectPaired } from '../view-checks.ts';
import { conversationWith, planWith, sectionsText, textAt } from './support.ts';

const SECTIONS = sectionsText(WOLFFISH_POLICY, 'the state so far');

function mailbox(mails = 8, size = 34_000) {
  const conversation = conversationWith(WOLFFISH_POLICY);
  conversation.log.user('Read all unread mails and write a briefing.');
  for (let mail = 0; mail < mails; mail += 1)
    conversation.log.step([`MAIL-${mail} ${prose(size, mail + 1)} END-${mail}`]);
  return conversation;
}

function requestFor(conversation: ReturnType<typeof mailbox>, plan = planWith(conversation)) {
  const [part] = plan.parts;
  if (part === undefined) throw new Error('no part');
  const inRange = conversation.log.entries.filter(
    (entry) => entry.sequence >= (part.fromSequence ?? 0) && entry.sequence <= (part.toSequence ?? 0),
  );
  const { view } = summaryView({
    policy: WOLFFISH_POLICY,
    parts: plan.parts,
    part,
    entries: inRange,
    previousSummary: conversation.summary?.text ?? null,
    partTexts: [],
    focus: null,
    agent: AGENT,
    turnIsOpen: true,
    summarizer: conversation.limits,
    calibration: NO_CALIBRATION,
  });
  return { system: view.system, text: viewText(view) };
}

test('W1 every request carries the whole conversation: nothing is dropped, and only messages grow', () => {
  const conversation = mailbox(3, 1_000);
  const before = conversation.view();
  conversation.log.step(['one more']);
  const after = conversation.view();
  expect(after.system).toBe(before.system);
  expect(after.messages.slice(0, before.messages.length)).toEqual(before.messages);
  const full = mailbox();
  full.commit(planWith(full), SECTIONS);
  const shown = viewText(full.view());
  for (let mail = 0; mail < 8; mail += 1) expect(shown).toContain(`MAIL-${mail} `);
});

test('W2 the system prompt has its blocks in the documented order', () => {
  const view = projectView({
    agent: {
      ...AGENT,
      namedBlocks: true,
      device: 'Linux',
      variables: { team: 'red' },
      skills: [{ name: 'planning', instructions: 'Plan first.' }],
      runtimeAdvice: 'Call the tool for every item.',
    },
    policy: WOLFFISH_POLICY,
    entries: [conversationWith(WOLFFISH_POLICY).log.note('memories', 'The user likes tea.')],
    summary: null,
    operations: [],
  });
  const opened = [...view.system.matchAll(/^<(\w+)>$/gm)].map(([, name]) => name);
  expect(opened).toEqual(['identity', 'device', 'variables', 'rules', 'tools', 'skills', 'memory', 'runtime']);
  expect(view.system).toContain('The user likes tea.');
  expect(view.messages).toEqual([]);
});

test('W4, W26 after every pass the model is told to go on, right behind the summary', () => {
  const conversation = mailbox();
  conversation.commit(planWith(conversation), SECTIONS);
  const view = conversation.view();
  expect(textAt(view, -2)).toContain('[Compaction Summary]');
  expect(textAt(view, -2)).toContain('TASK: the state so far');
  const status = textAt(view, -1);
  for (const words of [
    '[Status: Context was compacted',
    'truncated',
    'Continue where you left off',
    'until ALL steps are complete',
    'Do NOT re-do completed work',
  ]) {
    expect(status).toContain(words);
  }
});

test('W15, W16, W42 a later pass takes the earlier summary as its input and supersedes it', () => {
  const conversation = mailbox();
  conversation.commit(planWith(conversation), SECTIONS.replace('the state so far', 'FIRST STATE'));
  for (let mail = 8; mail < 16; mail += 1) conversation.log.step([`MAIL-${mail} ${prose(34_000, mail)}`]);
  const plan = planWith(conversation);
  expect(requestFor(conversation, plan).text).toContain('FIRST STATE');
  conversation.commit(plan, SECTIONS.replace('the state so far', 'SECOND STATE'));
  const shown = viewText(conversation.view());
  expect(shown).toContain('SECOND STATE');
  expect(shown).not.toContain('FIRST STATE');
  expect(shown.split('[Compaction Summary]')).toHaveLength(2);
  expectPaired(conversation.view());
});

test('W18 one call summarizes what the pass shortened, and the summary comes last', () => {
  const conversation = mailbox();
  const plan = planWith(conversation);
  expect(plan.parts).toHaveLength(1);
  const before = conversation.view().messages.length;
  conversation.commit(plan, SECTIONS);
  const { messages } = conversation.view();
  expect(messages.slice(0, before).every((message) => message.role !== 'user' || message.origin === 'user')).toBe(true);
  expect(messages[before]).toMatchObject({ origin: 'summary' });
});

test('W18 images go before any text is truncated', () => {
  const conversation = mailbox(5, 20_000);
  for (let shot = 0; shot < 20; shot += 1) conversation.log.step([[image(2_000, 2_000)]]);
  const { operations } = planWith(conversation);
  expect(operations.length).toBeGreaterThan(10);
  expect(operations.filter(({ kind }) => kind !== 'strip')).toEqual([]);
});

test('W19 every image that a request has carried goes, with one marker for each result', () => {
  const conversation = mailbox(6, 34_000);
  const [, shot] = conversation.log.step([[...text('window'), image(2_000, 2_000), image(2_000, 2_000)]]);
  for (let mail = 0; mail < 3; mail += 1) conversation.log.step([prose(20_000, mail)]);
  conversation.commit(planWith(conversation), SECTIONS);
  const shown = viewText(conversation.view());
  expect(shown).not.toContain('"type":"image"');
  expect(shown.split('[Screenshot analyzed — image omitted from context]')).toHaveLength(2);
  expect(shown).toContain(`recall_open ${shot?.id}`);
});

test('W20 the summary is made from originals, also of entries that are shown truncated', () => {
  const conversation = mailbox();
  const plan = planWith(conversation);
  const middle = prose(34_000, 1).slice(15_000, 15_200);
  expect(requestFor(conversation, plan).text).toContain(JSON.stringify(middle).slice(1, -1));
  conversation.commit(plan, SECTIONS);
  expect(viewText(conversation.view())).not.toContain(JSON.stringify(middle).slice(1, -1));
});

test('W10, W20 a pass with nothing new since the last one reads everything again, beside the earlier summary', () => {
  const conversation = mailbox();
  conversation.commit(planWith(conversation), SECTIONS.replace('the state so far', 'FIRST STATE'));
  const { text: asked } = requestFor(conversation, planWith(conversation, { reason: 'overflow' }));
  expect(asked).toContain('FIRST STATE');
  for (let mail = 0; mail < 8; mail += 1) expect(asked).toContain(`END-${mail}`);
});

test('W23 five sections are asked for, as plain labels, with counts, ids and the last plan', () => {
  const { text: asked, system } = requestFor(mailbox());
  for (const title of ['TASK: ', 'PROGRESS: ', 'REMAINING: ', 'DATA: ', 'DECISIONS: ']) expect(asked).toContain(title);
  expect(asked).toContain('(n/m)');
  expect(asked).toContain('id of every item that is left');
  expect(asked).toContain('the last plan');
  expect(system).toContain('no markdown');
  expect(system).toContain('Never invent');
});

test('W23 a summary without one of the sections is refused, one with labels is read', () => {
  const check = (summary: string) =>
    checkSummary({
      policy: WOLFFISH_POLICY,
      text: summary,
      stopReason: 'end',
      calledTool: false,
      maximumOutputTokens: 4_000,
    });
  expect(check(SECTIONS)).toMatchObject({ ok: true });
  expect(check(SECTIONS.replace('DATA:', 'Data:'))).toEqual({ ok: false, problem: 'missing_sections' });
});

test('W24 what is larger than the window of the summarizer is split, and the parts are merged', () => {
  const plan = planWith(mailbox(), { summarizer: { window: 24_000, maximumOutput: 4_000 } });
  expect(plan.parts.length).toBeGreaterThan(2);
  expect(plan.parts.at(-1)).toMatchObject({ kind: 'merge', wave: 2 });
});

test('W27 without a summary the notice says so, and the extract of the originals stands below it', () => {
  const conversation = mailbox();
  const plan = planWith(conversation, { form: 'extractive_summary' });
  const extract = extractiveSummary({
    policy: WOLFFISH_POLICY,
    entries: conversation.log.entries,
    previousSummary: null,
    maximumTokens: plan.summaryLimit,
  });
  conversation.commit(plan, extract);
  const shown = textAt(conversation.view(), -2);
  expect(shown).toContain('[Compaction Notice: Context was compacted by truncating older messages');
  expect(shown).toContain('Do NOT produce final output until ALL steps are complete.]');
  expect(shown.indexOf('Notice')).toBeLessThan(shown.indexOf('Read all unread mails'));
});

test('W30 each request ends with the counters of the turn, and the advice is part of the system prompt', () => {
  const conversation = mailbox(2, 100);
  const advice = WOLFFISH_POLICY.runtimeNote?.text ?? '';
  expect(advice).toContain('EVERY item');
  expect(advice).toContain('Batch 10-15 calls');
  expect(advice).toContain('NOT a substitute');
  const view = projectView({
    agent: { ...AGENT, namedBlocks: true, runtimeAdvice: advice },
    policy: WOLFFISH_POLICY,
    entries: conversation.log.entries,
    summary: null,
    operations: [],
    runtime: { iteration: 3, toolCalls: 15 },
  });
  expect(view.system).toContain(advice);
  expect(view.messages.at(-1)).toMatchObject({
    origin: 'runtime',
    content: [{ text: '<runtime>\n  Tool iteration this turn: 3\n  Tools called this turn: 15\n</runtime>' }],
  });
});

test('W31 calls that are exclusive run one by one, in order', () => {
  expect(WOLFFISH_POLICY.toolsOneByOne).toBe(true);
  expect(toolWaves([{ exclusive: true }, { exclusive: true }, { exclusive: true }])).toEqual([[0], [1], [2]]);
});
