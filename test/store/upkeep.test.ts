import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { newId } from '../../src/store/database/ids.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { requestDecisions } from '../../src/store/messages/decisions.ts';
import {
  findOpenTurns,
  findWaitingConversations,
  markInterrupted,
  noteLooks,
  noteRing,
} from '../../src/store/upkeep/upkeep.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { answer, begin, closeToolCall, openTestStore, said, send, startTurn } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';
import { openMovedClock } from './support/moved-clock.ts';

let store: TestStore;
let sql: Database;

beforeAll(async () => {
  store = await openTestStore();
  ({ sql } = store);
});
afterAll(() => store.close());

function end(turn: TurnReference, outcome: 'completed' | 'stopped' = 'completed') {
  return endTurn(sql, { turn, outcome, reason: null, breakdown: null }, closeToolCall);
}

describe('upkeep', () => {
  async function later<Result>(work: (moved: Database) => Promise<Result>): Promise<Result> {
    const clock = openMovedClock(store.url);
    try {
      await clock.set(3_600);
      return await work(clock.sql);
    } finally {
      await clock.close();
    }
  }

  it('finds rows that nobody rang for, and beside an open turn stops alone: it takes all else without a ring', async () => {
    const idle = newId();
    await send(sql, { conversationId: idle });
    const [open, stopped] = await Promise.all([startTurn(sql), startTurn(sql)]);
    for (const mode of ['queue', 'steer'] as const) await send(sql, { conversationId: open.conversationId, mode });
    await send(sql, { conversationId: open.conversationId, kind: 'compact' });
    await send(sql, { conversationId: stopped.conversationId, kind: 'stop' });
    const find = (queries: Database) =>
      findWaitingConversations(queries, { taskQueue: 'agent-turn', olderThanSeconds: 60, limit: 1_000 });
    expect(await find(sql)).toEqual([]);
    const found = (await later(find)).map(({ conversationId }) => conversationId);
    expect(found).toEqual(expect.arrayContaining([idle, stopped.conversationId]));
    expect(found).not.toContain(open.conversationId);
  });

  it('cares for conversations of its own task queue, which is that of the last sender', async () => {
    const { conversationId } = await startTurn(sql);
    await send(sql, { conversationId, kind: 'stop', taskQueue: 'other' });
    const found = async (taskQueue: string) =>
      later(async (moved) => {
        const request = { taskQueue, olderThanSeconds: 60, limit: 1_000 };
        const rows = [...(await findWaitingConversations(moved, request)), ...(await findOpenTurns(moved, request))];
        return rows.filter((row) => ('turn' in row ? row.turn : row).conversationId === conversationId).length;
      });
    expect([await found('agent-turn'), await found('other')]).toEqual([0, 2]);
  });

  it('rings again for a row that stays after 20 s, and after twice as long each time, up to an hour', async () => {
    const { conversationId } = await startTurn(sql);
    await send(sql, { conversationId, kind: 'stop' });
    const clock = openMovedClock(store.url);
    const isFound = async () => {
      const found = await findWaitingConversations(clock.sql, {
        taskQueue: 'agent-turn',
        olderThanSeconds: 5,
        limit: 1_000,
      });
      return found.some((each) => each.conversationId === conversationId);
    };
    const rings: number[] = [];
    for (let second = 0; second <= 3.5 * 3_600; second += 20) {
      await clock.set(second);
      if (!(await isFound())) continue;
      rings.push(second);
      await noteRing(clock.sql, conversationId);
    }
    const pauses = rings.map((second, index) => second - (rings[index - 1] ?? 0));
    expect(pauses).toEqual([20, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600]);
    // What came meanwhile is rung for at once.
    await send(clock.sql, { conversationId, kind: 'stop' });
    await clock.set(3.5 * 3_600 + 30);
    expect(await isFound()).toBe(true);
    await clock.close();
  });

  it('rings again for a decision on a call that does not run less and less often', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await answer(sql, turn, 1, { calls: 1 });
    const wanted = [{ callIndex: 0, kind: 'approval', tool: 'read_file', rules: ['every call'] }] as const;
    await requestDecisions(sql, { turn, callNumber: 1, agent: 'reader', expiresAfterSeconds: 1, wanted });
    const clock = openMovedClock(store.url);
    await clock.set(10);
    await requestDecisions(clock.sql, { turn, callNumber: 1, agent: 'reader', expiresAfterSeconds: 1, wanted: [] });
    const rings: number[] = [];
    for (let second = 20; second <= 400; second += 20) {
      await clock.set(second);
      const found = await findWaitingConversations(clock.sql, {
        taskQueue: 'agent-turn',
        olderThanSeconds: 5,
        limit: 1_000,
      });
      if (!found.some((each) => each.conversationId === conversationId)) continue;
      rings.push(second);
      await noteRing(clock.sql, conversationId);
    }
    expect(rings).toEqual([20, 40, 80, 160, 320]);
    await clock.close();
  });

  it('looks at open turns in rotation, those that it never looked at first', async () => {
    const turns = [await startTurn(sql), await startTurn(sql), await startTurn(sql)];
    const ids = turns.map(({ turnId }) => turnId);
    await later(async (moved) => {
      const find = async () => {
        const open = await findOpenTurns(moved, { taskQueue: 'agent-turn', olderThanSeconds: 60, limit: 1_000 });
        return open.map(({ turn }) => turn.turnId).filter((id) => ids.includes(id));
      };
      expect(await find()).toEqual(ids);
      await noteLooks(moved, ids.slice(1, 2));
      expect(await find()).toEqual([ids[0], ids[2], ids[1]]);
      await noteLooks(moved, ids.slice(2));
      expect(await find()).toEqual([ids[0], ids[1], ids[2]]);
    });
  });

  it('ends a turn whose workflow is gone, once, and fences its worker off', async () => {
    const lost = await startTurn(sql);
    await answer(sql, lost, 1, { calls: 1 });
    const open = await later((moved) =>
      findOpenTurns(moved, { taskQueue: 'agent-turn', olderThanSeconds: 60, limit: 1_000 }),
    );
    expect(open).toContainEqual(
      expect.objectContaining({ turn: lost, workflowId: `agent-turn:${lost.conversationId}` }),
    );
    expect(await markInterrupted(sql, lost, closeToolCall)).toBe(true);
    expect(await markInterrupted(sql, lost, closeToolCall)).toBe(false);
    expect(await getTurn(sql, lost.turnId)).toMatchObject({ outcome: 'interrupted', reason: 'workflow_lost' });
    expect((await said(sql, lost.conversationId)).at(-1)).toBe('tool_result closed: requested interrupted');
    await expect(takeMessages(sql, lost)).rejects.toMatchObject({ code: 'stale_epoch' });
    await send(sql, { conversationId: lost.conversationId });
    expect(await begin(sql, lost.conversationId)).toMatchObject({ kind: 'begun' });
  });

  it('leaves a turn alone that ended or was taken over meanwhile', async () => {
    const turn = await startTurn(sql);
    await end(turn);
    expect(await markInterrupted(sql, turn, closeToolCall)).toBe(false);
    expect(await getTurn(sql, turn.turnId)).toMatchObject({ outcome: 'completed' });
  });
});
