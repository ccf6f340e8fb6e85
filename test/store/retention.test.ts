import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getConversation } from '../../src/store/conversations/conversations.ts';
import { readCosts } from '../../src/store/conversations/costs.ts';
import type { Database, Transaction } from '../../src/store/database/database.ts';
import { deleteConversation } from '../../src/store/conversations/delete-conversation.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { newId } from '../../src/store/database/ids.ts';
import { listModelCalls } from '../support/model-calls.ts';
import { applyRetention, deleteOldTimelines } from '../../src/store/upkeep/retention.ts';
import type { RetentionRule } from '../../src/store/upkeep/retention.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { verify } from '../../src/verify/verify.ts';
import { waitUntil } from '../support/wait-until.ts';
import { end } from './support/branch-builders.ts';
import { exported, importLines } from './support/conversation-files.ts';
import { code } from './support/refusals.ts';
import { makeConversation } from './support/make-conversation.ts';
import { openMovedClock } from './support/moved-clock.ts';
import type { MovedClock } from './support/moved-clock.ts';
import {
  answer,
  begin,
  continueConversation,
  endedAs,
  send,
  startTurn,
  step,
  text,
  useTestStore,
} from './support/store-builders.ts';

let sql: Database;
let url: string;
useTestStore((store) => {
  ({ sql, url } = store);
});

/** Rules of the workers of the queue that the builders' conversations are of. */
const ofQueue = (...rules: readonly RetentionRule[]) => ({ taskQueue: 'agent-turn', rules });
const RULES = ofQueue({ agent: null, days: 7 });

/** An idle conversation that was active ten days ago. */
async function expired(): Promise<string> {
  const turn = await startTurn(sql);
  await end(sql, turn);
  const { conversationId } = turn;
  await sql`update conversations set active_at = holdfast_now() - interval '10 days' where id = ${conversationId}`;
  return conversationId;
}

const exists = async (id: string): Promise<boolean> =>
  (await sql`select from conversations where id = ${id}`).length > 0;

/** Applies the rules, and does something when they have listed the conversation and wait for its row. */
async function retainMeanwhile(conversationId: string, work: (open: Transaction) => Promise<unknown>): Promise<number> {
  let deleted: Promise<number> | undefined;
  await sql.begin(async (open) => {
    // As whoever writes a row of it locks it: messages are accepted all the same.
    await open`select from conversations where id = ${conversationId} for key share`;
    deleted = applyRetention(sql, RULES, new AbortController().signal);
    await waitUntil('the row is waited for', async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    await work(open);
  });
  return (await deleted) ?? 0;
}

describe('a conversation that retention has listed', () => {
  it('is deleted when nothing happened', async () => {
    const conversationId = await expired();
    expect(await retainMeanwhile(conversationId, () => Promise.resolve())).toBe(1);
    expect(await exists(conversationId)).toBe(false);
  });

  it('stays when a message was accepted before it was deleted', async () => {
    const conversationId = await expired();
    const id = newId();
    expect(await retainMeanwhile(conversationId, () => send(sql, { conversationId, id }))).toBe(0);
    expect(await exists(conversationId)).toBe(true);
    expect(await sql`select from messages where id = ${id} and consumed_at is null`).toHaveLength(1);
    // What a user deletes by hand goes with what waits in it.
    await deleteConversation(sql, conversationId);
    expect(await exists(conversationId)).toBe(false);
  });

  it('stays when a turn began and ended meanwhile', async () => {
    const conversationId = await expired();
    const touch = (open: Transaction) =>
      open`update conversations set active_at = holdfast_now() where id = ${conversationId}`;
    expect(await retainMeanwhile(conversationId, touch)).toBe(0);
    expect(await exists(conversationId)).toBe(true);
    await deleteConversation(sql, conversationId);
  });
});

describe('retention', () => {
  const never = new AbortController().signal;

  /** An idle conversation of an agent that was active so many days ago. */
  async function idle(agent: string, daysAgo: number): Promise<string> {
    const conversationId = newId();
    await makeConversation(sql, conversationId, { agent });
    await send(sql, { conversationId, ...text('hello') });
    const turn = await continueConversation(sql, conversationId);
    await end(sql, turn);
    await sql`update conversations set active_at = holdfast_now() - make_interval(days => ${daysAgo}) where id = ${conversationId}`;
    return conversationId;
  }

  it('deletes what is older than its agent keeps it, never what waits or works', async () => {
    const old = await idle('scratch', 10);
    const waiting = await idle('scratch', 10);
    await send(sql, { conversationId: waiting });
    await sql`update conversations set active_at = holdfast_now() - interval '10 days' where id = ${waiting}`;
    const young = await idle('scratch', 3);
    const ofAnother = await idle('archive', 10);
    const rule = { agent: 'scratch', days: 7 };
    expect(await applyRetention(sql, ofQueue(rule), never)).toBe(1);
    expect(await Promise.all([old, waiting, young, ofAnother].map(exists))).toEqual([false, true, true, true]);
    // A rule for all leaves agents alone that have their own.
    const both = ofQueue(rule, { agent: null, days: 5 });
    expect(await applyRetention(sql, both, never)).toBe(1);
    expect(await Promise.all([young, ofAnother].map(exists))).toEqual([true, false]);
  });

  it('counts from an import: what comes back after years is not deleted at once', async () => {
    const conversationId = await idle('scratch', 400);
    const lines = await exported(sql, conversationId);
    await deleteConversation(sql, conversationId);
    await importLines(sql, lines, { agent: 'scratch' });
    const rules = ofQueue({ agent: 'scratch', days: 365 });
    expect(await applyRetention(sql, rules, never)).toBe(0);
    expect(await exported(sql, conversationId)).toEqual(lines);
    await sql`update conversations set imported_at = imported_at - interval '366 days' where id = ${conversationId}`;
    expect(await applyRetention(sql, rules, never)).toBe(1);
    expect(await exists(conversationId)).toBe(false);
  });

  it('applies the rules of a queue to its own conversations alone', async () => {
    const [own, ofQueueB] = [await idle('shared', 10), await idle('shared', 10)];
    await sql`update conversations set task_queue = 'queue-b' where id = ${ofQueueB}`;
    expect(await applyRetention(sql, ofQueue({ agent: 'shared', days: 7 }), never)).toBe(1);
    expect(await Promise.all([own, ofQueueB].map(exists))).toEqual([false, true]);
  });
});

describe('retention of timelines', () => {
  /** Two days ahead. */
  let later: MovedClock;
  beforeAll(async () => {
    later = openMovedClock(url);
    await later.set(2 * 86_400);
  });
  afterAll(() => later.close());

  const old = (days: number, taskQueue = 'agent-turn') =>
    deleteOldTimelines(later.sql, { taskQueue, days }, new AbortController().signal, (_, error) => {
      throw error;
    });
  const numbers = async (conversationId: string): Promise<number[]> =>
    (await listEvents(sql, { conversationId })).map(({ number }) => number);

  it('deletes events, tries and commands of earlier turns, and nothing that costs, limits or a message sent again need', async () => {
    const first = await startTurn(sql);
    const { conversationId } = first;
    await step(sql, first, 1);
    await send(sql, { conversationId, id: 'stop', kind: 'stop', mode: 'steer' });
    await endedAs(sql, first, { outcome: 'stopped' });
    const messageId = await send(sql, { conversationId });
    const second = await continueConversation(sql, conversationId);
    await step(sql, second, 1);
    await endedAs(sql, second);
    await send(sql, { conversationId, id: 'third' });
    const third = await continueConversation(sql, conversationId);
    await answer(sql, third, 1);
    await endedAs(sql, third);
    const shown = async () => ({
      costs: await Promise.all(
        (['agent', 'model', 'conversation', 'turn'] as const).map((by) =>
          readCosts(sql, { by, since: null, conversationId }),
        ),
      ),
      conversation: await getConversation(sql, conversationId),
      turns: await Promise.all([first, second, third].map(({ turnId }) => getTurn(sql, turnId))),
      broken: (await verify(sql, { conversationId })).invariants
        .filter(({ breaches }) => breaches.length > 0)
        .map(({ name }) => name),
    });
    const before = await shown();
    const all = await numbers(conversationId);

    await old(3);
    await old(1, 'queue-b');
    expect(await numbers(conversationId)).toEqual(all);
    await old(1);
    const kept = await listEvents(sql, { conversationId });
    expect(new Set(kept.map(({ turnId }) => turnId))).toEqual(new Set([third.turnId]));
    expect(kept.map(({ number }) => number)).toEqual(all.slice(-kept.length));
    expect(await listModelCalls(sql, { conversationId })).toMatchObject([{ turnId: third.turnId }]);
    expect(await sql`select from messages where conversation_id = ${conversationId} and kind = 'stop'`).toEqual([]);
    expect(await shown()).toEqual(before);
    // Looked at once: the newest turn that stays is not found by each look.
    await old(1);
    expect(await numbers(conversationId)).toHaveLength(kept.length);

    await send(sql, { conversationId, id: messageId });
    expect(await begin(sql, conversationId)).toMatchObject({ kind: 'nothing_waiting' });
    await send(sql, { conversationId });
    const fourth = await continueConversation(sql, conversationId);
    await answer(sql, fourth, 1);
    await endedAs(sql, fourth);
    await old(1);
    expect((await numbers(conversationId))[0]).toBeGreaterThan(all.length);
  });

  it('keeps the last day, whoever asks', async () => {
    const { conversationId } = await startTurn(sql);
    expect(await code(sql`select delete_old_timeline(${conversationId}, 0)`)).toBe('22023');
  });
});
