import { describe, expect, it } from 'vitest';
import type { Database, Transaction } from '../../src/store/database.ts';
import { deleteConversation } from '../../src/store/delete-conversation.ts';
import { endTurn } from '../../src/store/end-turn.ts';
import { newId } from '../../src/store/ids.ts';
import { applyRetention } from '../../src/store/retention.ts';
import { waitUntil } from '../support/wait-until.ts';
import { closeToolCall, send, startTurn, useTestStore } from './support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

const RULES = [{ agent: null, days: 7, megabytes: null }];

/** An idle conversation that was active ten days ago. */
async function expired(): Promise<string> {
  const turn = await startTurn(sql);
  await endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
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
    // As a turn locks it: messages are accepted all the same.
    await open`select from conversations where id = ${conversationId} for no key update`;
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
