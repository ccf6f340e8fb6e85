import { expect, test } from 'vitest';
import { NO_CALIBRATION, estimateTokens } from '../../src/context/log/estimate.ts';
import { measureText } from '../../src/context/log/measure.ts';
import { keptUserMessages } from '../../src/context/plan/cut-point.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { Conversation, prose } from './builders.ts';
import { NO_REDUCERS, planOf, withPolicy } from './planning.ts';

test('R17 what the running turn was asked stays before newer messages that steer it, unless it is long', () => {
  for (const [asked, stays] of [
    [2_500, true],
    [18_000, false],
  ] as const) {
    const conversation = new Conversation({ policy: NO_REDUCERS });
    const opening = conversation.log.user(`Read the letters. ${prose(asked)}`);
    const remarks = [1, 2, 3, 4, 5, 6].map((seed) => {
      conversation.log.step([prose(6_000, seed)]);
      return conversation.log.steer(`Remark ${seed}. ${prose(6_000, seed)}`).sequence;
    });
    for (let step = 0; step < 8; step += 1) conversation.log.step([prose(6_000, step)]);
    const { keptSequences } = planOf(conversation);
    expect(keptSequences.includes(opening.sequence)).toBe(stays);
    expect(keptSequences).not.toContain(remarks[0]);
    expect(keptSequences.at(-1)).toBe(remarks.at(-1));
    expect(planOf(conversation, { turnIsOver: true }).keptSequences).not.toContain(opening.sequence);
  }
});

test('R17 where a pass has little room, what the running turn was asked takes it before the remarks; the newest stays in any case', () => {
  const sizes = [250, 60, 60, 60, 60];
  const keptWithin = (budget: number) =>
    keptUserMessages({
      candidates: [0, 1, 2, 3, 4],
      tokensAt: (position) => sizes[position] ?? 0,
      budget,
      newestIsKept: false,
      opening: 0,
    });
  expect(keptWithin(2_000)).toEqual([0, 1, 2, 3, 4]);
  expect(keptWithin(380)).toEqual([0, 3, 4]);
  expect(keptWithin(250)).toEqual([0, 4]);
  expect(keptWithin(100)).toEqual([0, 4]);
});

test('R17 nothing older than a message without room stays, for that one may have corrected it; a long one is passed over', () => {
  const keptOf = (sizes: readonly number[]) =>
    keptUserMessages({
      candidates: [...sizes.keys()],
      tokensAt: (position) => sizes[position] ?? 0,
      budget: 100,
      newestIsKept: true,
      opening: null,
    });
  expect(keptOf([10, 45, 30, 40])).toEqual([2, 3]);
  expect(keptOf([10, 51, 30, 40])).toEqual([0, 2, 3]);
});

test('R17 a forced pass takes the words of what the running turn was asked last, and only where it would free too little', () => {
  const limits = { window: 16_384, maximumOutput: 3_276 };
  const listed = new Conversation({ limits });
  const asked = listed.log.user(`Read the files. ${prose(3_000)}`);
  for (let step = 0; step < 6; step += 1) listed.log.step([prose(4_000, step)]);
  for (let remark = 0; remark < 8; remark += 1) listed.log.steer(`Remark ${remark}: all is well, go on.`);
  const forced = planOf(listed, { reason: 'overflow' });
  const isShownWhole = (id: string): boolean => forced.operations.every(({ entryId }) => entryId !== id);
  expect(forced.keptSequences).toContain(asked.sequence);
  expect(isShownWhole(asked.id)).toBe(true);
  const alone = new Conversation({ limits });
  const only = alone.log.user(prose(3_000));
  expect(planOf(alone, { reason: 'overflow' }).operations.map(({ entryId }) => entryId)).toEqual([only.id]);
});

test('R17 beside a system prompt of half the window and results that fill the rest, what the user said stays whole', () => {
  const conversation = new Conversation({ limits: { window: 32_000, maximumOutput: 8_192 } });
  const fixed = measureText(prose(52_000));
  const said = [conversation.log.user(`Review this: ${prose(7_000)}`)];
  for (let step = 0; step < 4; step += 1) conversation.log.step([prose(2_000, step), prose(1_500, step)]);
  said.push(conversation.log.user('Look at the tests too.'));
  conversation.log.step(Array.from({ length: 16 }, (_, index) => prose(4_000, index)));
  const plan = planOf(conversation, { fixed });
  const shortened = new Set(plan.operations.map(({ entryId }) => entryId));
  expect(plan.keptSequences).toEqual(said.map(({ sequence }) => sequence));
  expect(said.filter(({ id }) => shortened.has(id))).toEqual([]);
  expect(plan.operations.length).toBeGreaterThan(0);
  expect(plan.tokensAfter).toBeLessThanOrEqual(plan.acceptedTokens);
});

test.each([0, 8_000, 16_000])(
  'R17 what the user said keeps its whole budget as long as summary and tail keep half of theirs, beside a plan of %i characters',
  (characters) => {
    const userMessages = { tokens: 20_000, fraction: 0.15 };
    const policy = withPolicy({ reduce: [], keep: { ...DEFAULT_POLICY.keep, userMessages } });
    const conversation = new Conversation({ policy });
    const sizes = new Map<number, number>();
    if (characters > 0) conversation.log.note('plan', prose(characters));
    for (let request = 0; request < 60; request += 1) {
      const said = conversation.log.user(`Request ${request}. ${prose(1_500, request)}`);
      sizes.set(said.sequence, estimateTokens(said.measurements, NO_CALIBRATION));
      conversation.log.step([prose(6_000, request)]);
    }
    const { budget } = conversation;
    const { keptSequences, tokensAfter } = planOf(conversation);
    const [largest] = [...sizes.values()].toSorted((one, other) => other - one);
    const kept = keptSequences.reduce((sum, sequence) => sum + (sizes.get(sequence) ?? 0), 0);
    expect(kept).toBeGreaterThan(budget.userMessages - (largest ?? 0));
    expect(kept).toBeLessThanOrEqual(budget.userMessages);
    expect(tokensAfter).toBeLessThanOrEqual(budget.target);
  },
);
