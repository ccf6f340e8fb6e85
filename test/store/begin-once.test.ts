import { describe, expect, it } from 'vitest';
import { getConversation } from '../../src/store/conversations.ts';
import type { Database } from '../../src/store/database.ts';
import { endTurn } from '../../src/store/end-turn.ts';
import { newId } from '../../src/store/ids.ts';
import { lookAtInbox } from '../../src/store/inbox.ts';
import { getTurn } from '../../src/store/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import {
  begin,
  closeToolCall,
  continueConversation,
  said,
  send,
  startTurn,
  useTestStore,
} from './support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

function end(turn: TurnReference) {
  return endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
}

describe('beginTurn', () => {
  it('tells a run that found nothing the same for ever, whatever comes later', async () => {
    const ended = await startTurn(sql);
    await end(ended);
    const { conversationId } = ended;
    const runId = newId();
    expect(await begin(sql, conversationId, { runId })).toEqual({ kind: 'nothing_waiting' });
    await send(sql, { conversationId });
    // Of a worker that was frozen: the run is closed, and nobody would work on the turn.
    expect(await begin(sql, conversationId, { runId })).toEqual({ kind: 'nothing_waiting' });
    const live = await continueConversation(sql, conversationId);
    await send(sql, { conversationId });
    expect(await begin(sql, conversationId, { runId })).toEqual({ kind: 'nothing_waiting' });
    expect(await lookAtInbox(sql, live)).toMatchObject({ waiting: 1 });
    expect(await getTurn(sql, live.turnId)).toMatchObject({ outcome: null });
  });

  it('tells a run that only ended a dead turn the same when it is repeated', async () => {
    const dead = await startTurn(sql);
    const { conversationId } = dead;
    const runId = newId();
    expect(await begin(sql, conversationId, { runId })).toEqual({ kind: 'nothing_waiting' });
    await send(sql, { conversationId });
    const live = await continueConversation(sql, conversationId);
    expect(await begin(sql, conversationId, { runId })).toEqual({ kind: 'nothing_waiting' });
    expect(await getTurn(sql, live.turnId)).toMatchObject({ outcome: null });
  });

  it('forgets after a week which runs found nothing', async () => {
    const ended = await startTurn(sql);
    await end(ended);
    const { conversationId } = ended;
    await begin(sql, conversationId, { runId: 'old' });
    await sql`
      update idle_runs set answered_at = answered_at - interval '8 days' where conversation_id = ${conversationId}`;
    await begin(sql, conversationId, { runId: 'new' });
    const rows = await sql<
      { run_id: string }[]
    >`select run_id from idle_runs where conversation_id = ${conversationId}`;
    expect(rows.map((row) => row.run_id)).toEqual(['new']);
  });

  it("leaves another run's turn alone unless its own run is the newest, and asks again about each turn that it finds open", async () => {
    const live = await startTurn(sql);
    const { conversationId } = live;
    await send(sql, { conversationId });
    const refused = begin(sql, conversationId, { isNewestRun: () => Promise.resolve(false) });
    await expect(refused).rejects.toMatchObject({ code: 'run_replaced', permanent: true });
    expect(await lookAtInbox(sql, live)).toMatchObject({ waiting: 1 });
    expect(await getTurn(sql, live.turnId)).toMatchObject({ outcome: null });

    const answers = [true, false];
    let successor: TurnReference | null = null;
    const overtaken = begin(sql, conversationId, {
      isNewestRun: async () => {
        // While Temporal is asked, the run is replaced, and its successor takes the conversation.
        successor ??= await continueConversation(sql, conversationId);
        return answers.shift() ?? false;
      },
    });
    await expect(overtaken).rejects.toMatchObject({ code: 'run_replaced' });
    expect(answers).toEqual([]);
    expect(await getConversation(sql, conversationId)).toMatchObject({ state: 'working' });
    expect(await said(sql, conversationId)).toEqual(['user hello', 'user hello']);
  });
});
