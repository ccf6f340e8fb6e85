import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { EVENTS_CHANNEL, listEvents, listNewestEvents, recordEvent } from '../../src/store/log/events.ts';
import { notifyWatchersSoon } from '../../src/store/log/event-writer.ts';
import { newId } from '../../src/store/database/ids.ts';
import { waitUntil } from '../support/wait-until.ts';
import { answer, finishToolCall, openTestStore, startTurn, step, text } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

let store: TestStore;
let sql: Database;

beforeAll(async () => {
  store = await openTestStore(20);
  ({ sql } = store);
});
afterAll(() => store.close());

describe('events', () => {
  it('tell what happened, in order and without gaps, also when much happens at once', async () => {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1, { calls: 20 });
    await Promise.all(Array.from({ length: 20 }, (_, index) => finishToolCall(sql, turn, 1, index)));
    const events = await listEvents(sql, turn);
    expect(events.map(({ number }) => number)).toEqual(events.map((_, index) => index + 1));
    expect(events.slice(0, 4).map(({ kind }) => kind)).toEqual([
      'turn_begun',
      'message_taken',
      'model_call_started',
      'model_call_answered',
    ]);
    expect(events.filter(({ kind }) => kind === 'tool_call_finished')).toHaveLength(20);
    expect(events.every(({ turnId }) => turnId === turn.turnId)).toBe(true);
  });

  it('are read in pages after a number, and the newest before one', async () => {
    const turn = await startTurn(sql);
    await step(sql, turn, 1);
    const all = await listEvents(sql, turn);
    const { conversationId } = turn;
    expect(await listEvents(sql, { conversationId, after: 2, limit: 2 })).toEqual(all.slice(2, 4));
    expect(await listNewestEvents(sql, { conversationId, limit: 2 })).toEqual(all.slice(-2));
    expect(await listNewestEvents(sql, { conversationId, before: 3, limit: 1 })).toEqual(all.slice(1, 2));
    expect(await listEvents(sql, { conversationId: newId() })).toEqual([]);
    expect(await listEvents(sql, { conversationId: 'x' })).toEqual([]);
  });

  it('hold nothing of what was said', async () => {
    const turn = await startTurn(sql, 'xyzzy');
    await answer(sql, turn, 1, { calls: 1, said: 'xyzzy' });
    await finishToolCall(sql, turn, 1, 0, { ...text('xyzzy'), plan: text('xyzzy') });
    expect(JSON.stringify(await listEvents(sql, turn))).not.toContain('xyzzy');
  });

  it('wake watchers after the commit, with a number that can be read', async () => {
    const turn = await startTurn(sql);
    const seen: { told: number; read: number }[] = [];
    const listening = await sql.listen(EVENTS_CHANNEL, (payload) => {
      const [conversationId = '', number] = payload.split(' ');
      if (conversationId !== turn.conversationId) return;
      void listEvents(sql, { conversationId }).then((events) =>
        seen.push({ told: Number(number), read: events.length }),
      );
    });
    await step(sql, turn, 1);
    const total = (await listEvents(sql, turn)).length;
    await waitUntil('the newest event is told', () => seen.some(({ told }) => told === total));
    expect(seen.every(({ told, read }) => read >= told)).toBe(true);
    await listening.unlisten();
  });

  it('are told together: of what comes within a moment watchers are told the newest, once', async () => {
    const told: string[] = [];
    const listening = await sql.listen(EVENTS_CHANNEL, (payload) => told.push(payload));
    const [conversation, other] = [newId(), newId()];
    for (const number of [1, 2, 4, 3]) notifyWatchersSoon(sql, conversation, number);
    notifyWatchersSoon(sql, other, 1);
    const ofBoth = () => told.filter((payload) => payload.startsWith(conversation) || payload.startsWith(other));
    await waitUntil('both are told', () => ofBoth().length >= 2);
    // What is told behind these comes after all that was told before it.
    notifyWatchersSoon(sql, conversation, 5);
    await waitUntil('the last is told', () => ofBoth().includes(`${conversation} 5`));
    expect(ofBoth().toSorted()).toEqual([`${conversation} 4`, `${other} 1`, `${conversation} 5`].toSorted());
    await listening.unlisten();
  });

  it('of appends that follow each other soon are told together', async () => {
    const told: string[] = [];
    const listening = await sql.listen(EVENTS_CHANNEL, (payload) => told.push(payload));
    // A busy machine may append so slowly that each is told by itself.
    await waitUntil('fewer are told than were appended', async () => {
      const turn = await startTurn(sql);
      await answer(sql, turn, 1, { calls: 20 });
      await Promise.all(Array.from({ length: 20 }, (_, index) => finishToolCall(sql, turn, 1, index)));
      const newest = (await listEvents(sql, turn)).at(-1)?.number ?? 0;
      await waitUntil('the last is told', () => told.includes(`${turn.conversationId} ${newest}`));
      return told.filter((payload) => payload.startsWith(turn.conversationId)).length < 20;
    });
    await listening.unlisten();
  });

  it('can be recorded apart, with names that a model made up, by the turn that owns the conversation', async () => {
    const turn = await startTurn(sql);
    await recordEvent(sql, { turn, kind: 'compaction_exhausted', data: { failure: 'a\0\uD800', tokens: 7 } });
    expect((await listEvents(sql, turn)).at(-1)).toMatchObject({
      kind: 'compaction_exhausted',
      data: { failure: 'a\uFFFD\uFFFD', tokens: 7 },
    });
    await expect(
      recordEvent(sql, { turn: { ...turn, epoch: 0 }, kind: 'compaction_exhausted', data: {} }),
    ).rejects.toMatchObject({ code: 'stale_epoch' });
  });
});
