import { expect, test } from 'vitest';
import { fallBack, readSilence } from '../../src/store/turns/fallbacks.ts';
import { getTurn, readSnapshot } from '../../src/store/turns/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { recordModelFailure } from './support/failed-tries.ts';
import { FIRST_ATTEMPT, answer, useTestStore, register, startTurn } from './support/store-builders.ts';

const { sql } = useTestStore();

async function fail(turn: TurnReference, callNumber: number): Promise<void> {
  const { attempt } = await register(sql, turn, callNumber);
  const failed = { turn, callNumber, attempt, kind: 'retryable', evidence: 'status 503', status: 503 } as const;
  await recordModelFailure(sql, { ...failed, message: null, usage: null, cost: 0, durationMilliseconds: 5 });
}

/** Moves every try so far into the past. */
async function minutesPass(turn: TurnReference, minutes: number): Promise<void> {
  await sql`
    update model_attempts set started_at = started_at - make_interval(mins => ${minutes}) where turn_id = ${turn.turnId}`;
}

test('how long a model has been silent counts from its first failure after the last answer, over all calls', async () => {
  const turn = await startTurn(sql);
  const { model } = await getTurn(sql, turn.turnId);
  expect(await readSilence(sql, { turn, model })).toBe(0);
  await fail(turn, 1);
  await minutesPass(turn, 4);
  await fail(turn, 2);
  const silence = await readSilence(sql, { turn, model });
  expect(silence).toBeGreaterThan(239_000);
  expect(silence).toBeLessThan(250_000);
  expect(await readSilence(sql, { turn, model: 'another/model' })).toBe(0);
  await answer(sql, turn, 3);
  expect(await readSilence(sql, { turn, model })).toBe(0);
});

test('R26 a call gives up one model, however often it is told, and a try that was replaced none', async () => {
  const turn = await startTurn(sql);
  const { snapshot } = await readSnapshot(sql, turn.turnId);
  const { model: from, policy, summarizer, prices } = snapshot;
  const modelLimits = { window: 5_000, maximumOutput: 500 };
  const to = { model: 'other/small', modelLimits, policy, summarizer, prices };
  await fail(turn, 1);
  await register(sql, turn, 1);
  const change = { turn, callNumber: 1, from, to };
  await expect(fallBack(sql, { ...change, attempt: 1 })).rejects.toMatchObject({ code: 'superseded_attempt' });
  expect((await getTurn(sql, turn.turnId)).model).toBe(from);
  for (const attempt of [2, 2, null]) await fallBack(sql, { ...change, attempt });
  expect(await getTurn(sql, turn.turnId)).toMatchObject({
    model: 'other/small',
    givenUp: [{ model: from, callNumber: 1, reason: 'rate_limit' }],
  });
  const stale = { ...turn, epoch: turn.epoch - 1 };
  await expect(fallBack(sql, { ...change, turn: stale, callNumber: 2, attempt: null })).rejects.toMatchObject({
    code: 'stale_epoch',
  });
});

test('an attempt that chose another model and was frozen changes nothing once its turn asks under another number', async () => {
  const turn = await startTurn(sql);
  const { model: from, policy, summarizer, prices } = (await readSnapshot(sql, turn.turnId)).snapshot;
  const to = { model: 'other/small', modelLimits: { window: 5_000, maximumOutput: 500 }, policy, summarizer, prices };
  const change = { turn, callNumber: 1, attempt: null, by: FIRST_ATTEMPT, from, to };
  await register(sql, turn, 2);
  await expect(fallBack(sql, change)).rejects.toMatchObject({ code: 'superseded_attempt' });
  expect((await getTurn(sql, turn.turnId)).model).toBe(from);
  // What a run asked that was reset says nothing of the one that goes on.
  await fallBack(sql, { ...change, by: { ...FIRST_ATTEMPT, runId: 'after a reset' } });
  expect((await getTurn(sql, turn.turnId)).model).toBe('other/small');
});
