import { expect, test } from 'vitest';
import { keptUserMessages } from '../../src/context/kept-user-messages.ts';
import { Conversation, prose } from './builders.ts';
import { NO_REDUCERS, planOf } from './planning.ts';

test('R17 what the running turn was asked stays before newer messages that steer it, unless it is long', () => {
  for (const [asked, stays] of [
    [2_500, true],
    [6_000, false],
  ] as const) {
    const conversation = new Conversation({ policy: NO_REDUCERS });
    const opening = conversation.log.user(`Read the letters. ${prose(asked)}`);
    const remarks = [1, 2, 3, 4, 5, 6].map((seed) => {
      conversation.log.step([prose(6_000, seed)]);
      return conversation.log.steer(`Remark ${seed}. ${prose(4_000, seed)}`).id;
    });
    for (let step = 0; step < 8; step += 1) conversation.log.step([prose(6_000, step)]);
    const { keptUserEntryIds } = planOf(conversation);
    expect(keptUserEntryIds.includes(opening.id)).toBe(stays);
    expect(keptUserEntryIds).not.toContain(remarks[0]);
    expect(keptUserEntryIds.at(-1)).toBe(remarks.at(-1));
    expect(planOf(conversation, { turnIsOver: true }).keptUserEntryIds).not.toContain(opening.id);
  }
});

test('R17 where a pass has little room, what the running turn was asked takes it before the remarks; the newest stays in any case', () => {
  const sizes = [250, 60, 60, 60, 60];
  const keptWithin = (budget: number) =>
    keptUserMessages({
      candidates: [0, 1, 2, 3, 4],
      tokensAt: (position) => sizes[position] ?? 0,
      budget,
      policyBudget: 2_000,
      newestIsKept: false,
      opening: 0,
    });
  expect(keptWithin(2_000)).toEqual([0, 1, 2, 3, 4]);
  expect(keptWithin(380)).toEqual([0, 3, 4]);
  expect(keptWithin(250)).toEqual([0, 4]);
  expect(keptWithin(240)).toEqual([1, 2, 3, 4]);
});
