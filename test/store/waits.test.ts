import { expect, test } from 'vitest';
import { listEvents, recordEvent } from '../../src/store/log/events.ts';
import { recordWait, recordWaitOver, recordWorkerWait } from '../../src/store/turns/waits.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { EXAMPLE_EVENTS } from '../support/example-events.ts';
import { startTurn, useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

const PAUSE = { reason: 'rate_limit', provider: 'sim', delayMilliseconds: 600_000, retryMilliseconds: 60_000 } as const;
const QUEUE = { reason: 'call_limit', provider: 'sim', delayMilliseconds: 30_000, retryMilliseconds: 2_000 } as const;

const waits = async ({ turnId }: TurnReference) => (await getTurn(sql, turnId)).waitReason !== null;

async function told({ conversationId }: TurnReference) {
  const events = await listEvents(sql, { conversationId });
  return events.filter(({ kind }) => kind.startsWith('turn_wait')).map(({ kind }) => kind);
}

test.each([
  [
    'its call is made',
    (turn: TurnReference) =>
      recordEvent(sql, { turn, kind: 'model_call_started', data: EXAMPLE_EVENTS.model_call_started }),
  ],
  ['a summary says that its wait is over', (turn: TurnReference) => recordWaitOver(sql, turn)],
])('a turn waits for its provider until %s, whatever is written beside it', async (_, end) => {
  const turn = await startTurn(sql);
  await recordWait(sql, turn, PAUSE);
  await recordEvent(sql, { turn, kind: 'compaction_part_written', data: EXAMPLE_EVENTS.compaction_part_written });
  expect(await waits(turn)).toBe(true);
  await end(turn);
  expect(await waits(turn)).toBe(false);
});

test('a turn waits for as long as it was told, and not longer', async () => {
  const turn = await startTurn(sql);
  await recordWait(sql, turn, { ...PAUSE, delayMilliseconds: -1 });
  expect(await waits(turn)).toBe(false);
});

test('a wait is told once, however often the call asks, and again before it ends or when the reason changes', async () => {
  const turn = await startTurn(sql);
  for (let attempt = 0; attempt < 3; attempt += 1) await recordWait(sql, turn, PAUSE);
  for (let attempt = 0; attempt < 3; attempt += 1) await recordWait(sql, turn, QUEUE);
  expect(await told(turn)).toEqual(['turn_waiting', 'turn_waiting']);
  await recordWait(sql, turn, { ...QUEUE, retryMilliseconds: 40_000, delayMilliseconds: 60_000 });
  expect(await told(turn)).toHaveLength(3);
});

test('a call that did not wait tells of no wait that is over', async () => {
  const turn = await startTurn(sql);
  await recordWaitOver(sql, turn);
  expect(await told(turn)).toEqual([]);
});

test('a wait for a worker is told once, beside another one too, lasts until it is over, and is told again after that', async () => {
  const turn = await startTurn(sql);
  const of = { conversationId: turn.conversationId, turn };
  const convert = { needs: 'tool', name: 'convert' } as const;
  const act = { needs: 'tool', name: 'act' } as const;
  for (const need of [convert, act, convert, act]) await recordWorkerWait(sql, of, need);
  expect(await told(turn)).toEqual(['turn_waiting', 'turn_waiting']);
  expect((await getTurn(sql, turn.turnId)).waitReason).toBe('no_worker');
  await recordWaitOver(sql, turn);
  expect(await waits(turn)).toBe(false);
  await recordWorkerWait(sql, of, act);
  expect(await waits(turn)).toBe(true);
});

test('a wait before a turn begins is told once, and again when the next one cannot begin either', async () => {
  const { conversationId, ...turn } = await startTurn(sql);
  const before = { conversationId, turn: null };
  const need = { needs: 'agent', name: 'other' } as const;
  for (let attempt = 0; attempt < 3; attempt += 1) await recordWorkerWait(sql, before, need);
  const of = { conversationId, ...turn };
  expect(await told(of)).toEqual(['turn_waiting']);
  await recordEvent(sql, { turn: of, kind: 'turn_begun', data: EXAMPLE_EVENTS.turn_begun });
  await recordWorkerWait(sql, before, need);
  expect(await told(of)).toEqual(['turn_waiting', 'turn_waiting']);
});
