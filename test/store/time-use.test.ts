import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { requestDecisions } from '../../src/store/messages/decisions.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import { readTimeUse } from '../../src/store/turns/turn-limits.ts';
import { openMovedClock } from './support/moved-clock.ts';
import { answer, finishToolCall, send, startTurn, useTestStore } from './support/store-builders.ts';

let sql: Database;
let url: string;
useTestStore((store) => {
  ({ sql, url } = store);
});

test('a turn is idle since the newest answer, result or message, and has worked since it began', async () => {
  const turn = await startTurn(sql);
  const clock = openMovedClock(url);
  onTestFinished(() => clock.close());
  const news = [
    () => answer(clock.sql, turn, 1, { calls: 1 }),
    () => finishToolCall(clock.sql, turn, 1, 0),
    async () => {
      await send(clock.sql, { conversationId: turn.conversationId });
      await takeMessages(clock.sql, turn);
    },
  ];
  for (const [index, happens] of news.entries()) {
    const hours = index + 1;
    await clock.set(hours * 3_600);
    const before = await readTimeUse(clock.sql, turn);
    expect(Math.round(before.idle / 3_600)).toBe(1);
    expect(Math.round(before.turn / 3_600)).toBe(hours);
    expect(before.conversation).toBeCloseTo(before.turn, 0);
    await happens();
    expect(Math.round((await readTimeUse(clock.sql, turn)).idle / 3_600)).toBe(0);
  }
  await expect(readTimeUse(sql, { ...turn, epoch: turn.epoch + 1 })).rejects.toMatchObject({ code: 'stale_epoch' });
});

test('a turn is not idle while people decide, also in a run that begins meanwhile', async () => {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1, { calls: 1 });
  const wanted = [{ callIndex: 0, kind: 'approval', tool: 'read_file', rules: ['read_file'] }] as const;
  await requestDecisions(sql, { turn, callNumber: 1, agent: 'reader', expiresAfterSeconds: 86_400, wanted });
  const clock = openMovedClock(url);
  onTestFinished(() => clock.close());
  await clock.set(3_600);
  const { idle, turn: worked } = await readTimeUse(clock.sql, turn);
  expect(idle).toBe(0);
  expect(worked).toBeLessThan(3_600);
});
