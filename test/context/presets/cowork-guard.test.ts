import { expect, test } from 'vitest';
import { estimateTokens, NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import {
  guardedSummary,
  shortenSummary,
  finishedView,
  wholeSummary,
} from '../../../src/context/summary/whole-summary.ts';
import { measureText } from '../../../src/context/log/measure.ts';
import { COWORK_POLICY } from '../../../src/context/policy/presets/cowork.ts';
import type { CompactionPolicy } from '../../../src/context/policy/policy.ts';
import { CHECKPOINT_SECTIONS } from '../../../src/context/policy/prompts/checkpoint.ts';
import { parseSections } from '../../../src/context/summary/sections.ts';
import { prose } from '../builders.ts';
import { conversationWith, planWith, sectionsText } from './support.ts';

const tokensIn = (value: string): number => estimateTokens(measureText(value), NO_CALIBRATION);

function fullConversation() {
  const conversation = conversationWith(COWORK_POLICY);
  conversation.log.user('Rewrite the storage layer.');
  for (let step = 1; step <= 44; step += 1) conversation.log.step([prose(20_000, step)]);
  return conversation;
}

test('C12 a summary that would fill the window over 95 % is shortened step by step, sections and frame kept', () => {
  const text = sectionsText(COWORK_POLICY, prose(3_000));
  const short = shortenSummary(text, { policy: COWORK_POLICY, maximumTokens: 800, calibration: NO_CALIBRATION });
  expect(tokensIn(short)).toBeLessThanOrEqual(800);
  const titles = COWORK_POLICY.summary.sections.map(({ title }) => title);
  expect(parseSections(short, titles).map(({ title }) => title)).toEqual(titles);
  expect(short).toContain('characters left out');
  expect(shortenSummary(text, { policy: COWORK_POLICY, maximumTokens: 1e6, calibration: NO_CALIBRATION })).toBe(text);
  const least = shortenSummary(text, { policy: COWORK_POLICY, maximumTokens: 0, calibration: NO_CALIBRATION });
  expect(tokensIn(least)).toBeGreaterThan(100);
});

test('C12, C18 a finished pass whose summary fills the view over 95 % shows a shorter one and tells of it; below that, the whole', () => {
  const conversation = fullConversation();
  const plan = planWith(conversation);
  const finishedWith = (characters: number) => {
    const parts = [{ kind: 'history' as const, text: sectionsText(COWORK_POLICY, prose(characters)) }];
    const files = { read: [], modified: [] };
    const { budget } = conversation.planInput();
    const whole = wholeSummary({ parts, previousText: null, files, policy: COWORK_POLICY, budget, plan, recall: true });
    const of = { plan, compactionId: 'c', policy: COWORK_POLICY, budget, calibration: NO_CALIBRATION };
    return { whole, finished: finishedView(whole, { before: conversation.planInput(), ...of }) };
  };
  const long = finishedWith(60_000);
  expect(long.finished.guardedFrom).toBeGreaterThan(190_000);
  expect(long.finished.tokensAfter).toBeLessThanOrEqual(190_000);
  expect(long.finished.summary?.text).toContain('characters left out');
  const short = finishedWith(1_000);
  expect(short.finished).toMatchObject({ guardedFrom: null, summary: short.whole });
});

test('C12 lists of the program stay whole when a summary is shortened, or go', () => {
  const policy: CompactionPolicy = {
    ...COWORK_POLICY,
    summary: { ...COWORK_POLICY.summary, sections: CHECKPOINT_SECTIONS, fileLists: { read: ['read'], modified: [] } },
  };
  const { budget } = conversationWith(policy).planInput();
  const parts = [{ kind: 'history' as const, text: sectionsText(policy, prose(400)) }];
  const result = { entryId: 'e', tool: 'read', target: prose(80), outcome: 'succeeded', characters: 1 } as const;
  const files = { read: [prose(80)], modified: [prose(80)], results: [result] };
  const { text = '' } =
    wholeSummary({ parts, previousText: null, files, policy, budget, plan: {}, recall: true }) ?? {};
  expect(text).toContain('</modified-files>');
  const balance = (shown: string) =>
    ['read-files', 'modified-files', 'earlier-results'].map(
      (name) => shown.split(`<${name}>`).length - shown.split(`</${name}>`).length,
    );
  for (let over = 0; over < 2_000; over += 50) {
    const tokensAfter = budget.window + over;
    const shown = guardedSummary(text, { policy, budget, tokensAfter, calibration: NO_CALIBRATION });
    expect(balance(shown)).toEqual([0, 0, 0]);
    expect(shown.startsWith('## Goal')).toBe(true);
  }
});

test('C12 a summary without headings, as a hook writes one, loses its end and not everything', () => {
  const { budget } = conversationWith(COWORK_POLICY).planInput();
  const tokensAfter = budget.window + 500;
  const text = 'The pumps were checked. '.repeat(200);
  const shown = guardedSummary(text, { policy: COWORK_POLICY, budget, tokensAfter, calibration: NO_CALIBRATION });
  expect(shown).toMatch(/^The pumps were checked\./u);
  expect(shown.length).toBeLessThan(text.length);
});
