import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { endTurn } from '../../src/store/end-turn.ts';
import { newId } from '../../src/store/ids.ts';
import { takeMessages } from '../../src/store/inbox.ts';
import { getTurn } from '../../src/store/turns.ts';
import { findOpenTurns, findWaitingConversations, markInterrupted } from '../../src/store/upkeep.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { answer, begin, closeToolCall, openTestStore, said, send, startTurn } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

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
    const { connectDatabase } = await import('../../src/store/database.ts');
    const moved = connectDatabase({
      url: `${store.url}?options=-c%20holdfast.clock_offset%3D1h`,
      maximumConnections: 1,
    });
    try {
      return await work(moved);
    } finally {
      await moved.end();
    }
  }

  it('finds rows that nobody rang for, not those that wait behind an open turn', async () => {
    const idle = newId();
    await send(sql, { conversationId: idle });
    const [queued, steered, stopped] = await Promise.all([startTurn(sql), startTurn(sql), startTurn(sql)]);
    await send(sql, { conversationId: queued.conversationId, mode: 'queue' });
    await send(sql, { conversationId: steered.conversationId });
    await send(sql, { conversationId: stopped.conversationId, kind: 'stop' });
    const find = (queries: Database) => findWaitingConversations(queries, { olderThanSeconds: 60, limit: 1_000 });
    expect(await find(sql)).toEqual([]);
    const found = (await later(find)).map(({ conversationId }) => conversationId);
    expect(found).toEqual(expect.arrayContaining([idle, steered.conversationId, stopped.conversationId]));
    expect(found).not.toContain(queued.conversationId);
  });

  it('ends a turn whose workflow is gone, once, and fences its worker off', async () => {
    const lost = await startTurn(sql);
    await answer(sql, lost, 1, { calls: 1 });
    const open = await later((moved) => findOpenTurns(moved, { olderThanSeconds: 60, limit: 1_000 }));
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
