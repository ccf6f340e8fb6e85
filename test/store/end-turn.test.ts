import { describe, expect, it } from 'vitest';
import { getConversation } from '../../src/store/conversations/conversations.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { newId } from '../../src/store/database/ids.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { acceptMessage } from '../../src/store/messages/messages.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import { claimToolCall } from '../../src/store/attempts/tool-calls.ts';
import { continueTurn, getTurn, readLastTurn } from '../../src/store/turns/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  answer,
  closeToolCall,
  continueConversation,
  endedAs,
  register,
  useTestStore,
  said,
  send,
  startTurn,
  step,
  text,
  claimer,
} from './support/store-builders.ts';

const { sql, owner } = useTestStore();

const end = (turn: TurnReference, outcome: 'completed' | 'stopped' = 'completed') => endedAs(sql, turn, { outcome });

describe('endTurn', () => {
  it('stores the first outcome, and tells it each time', async () => {
    const turn = await startTurn(sql);
    expect(await end(turn, 'completed')).toMatchObject({ outcome: 'completed', reason: null, steps: 0, cost: 0 });
    await send(sql, { conversationId: turn.conversationId });
    expect(await end(turn, 'stopped')).toMatchObject({ outcome: 'completed' });
    const events = await listEvents(sql, { conversationId: turn.conversationId });
    expect(events.filter(({ kind }) => kind === 'turn_ended')).toHaveLength(1);
  });

  it('a turn that ends counts what a lost worker asked', async () => {
    const turn = await startTurn(sql);
    await register(sql, turn, 1);
    await end(turn, 'stopped');
    expect((await getTurn(sql, turn.turnId)).usage).toMatchObject({ modelCalls: 1, inputTokens: 100 });
  });

  it('is told again of an interruption that it wrote itself, and refused after one that another wrote', async () => {
    const turn = await startTurn(sql);
    const interrupt = (reason: string) =>
      endTurn(sql, { turn, outcome: 'interrupted', reason, breakdown: null }, closeToolCall);
    expect(await interrupt('Store.entry_not_found')).toMatchObject({ outcome: 'interrupted' });
    await send(sql, { conversationId: turn.conversationId });
    expect(await interrupt('Store.entry_not_found')).toMatchObject({ outcome: 'interrupted' });
    await expect(interrupt('another')).rejects.toMatchObject({ code: 'stale_epoch' });
    await expect(end(turn)).rejects.toMatchObject({ code: 'stale_epoch' });
    await sql`update turns set reason = 'taken_over' where id = ${turn.turnId}`;
    await expect(interrupt('Store.entry_not_found')).rejects.toMatchObject({ code: 'stale_epoch' });
  });

  it('stores one outcome when two calls race', async () => {
    const turn = await startTurn(sql);
    const ended = await Promise.allSettled([end(turn, 'completed'), end(turn, 'stopped')]);
    const outcomes = ended.flatMap((result) => (result.status === 'fulfilled' ? [result.value.outcome] : []));
    expect(new Set(outcomes).size).toBe(1);
    expect((await getTurn(sql, turn.turnId)).outcome).toBe(outcomes[0]);
  });

  it('closes open calls with a result that says why', async () => {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1, { calls: 1 });
    await end(turn, 'stopped');
    expect((await said(sql, turn.conversationId)).at(-1)).toBe('tool_result closed: requested stopped');
  });

  it('leaves nothing that the turn could still write', async () => {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1, { calls: 1 });
    await end(turn, 'stopped');
    await expect(
      claimToolCall(sql, { turn, callNumber: 1, callIndex: 0, ...claimer('worker-1') }),
    ).rejects.toMatchObject({ code: 'stale_epoch' });
    await expect(takeMessages(sql, turn)).rejects.toMatchObject({ code: 'stale_epoch' });
  });

  it('is read by whoever wants to know how it went', async () => {
    const turn = await startTurn(sql);
    await step(sql, turn, 1);
    await answer(sql, turn, 2);
    await end(turn);
    expect(await readLastTurn(sql, turn.conversationId)).toMatchObject({
      turn,
      outcome: 'completed',
      steps: 2,
      compactions: 0,
      overflows: 0,
      usage: { modelCalls: 2, inputTokens: 200, cacheReadTokens: 80, cacheWriteTokens: 20, outputTokens: 40, cost: 1 },
    });
    expect(await getConversation(sql, turn.conversationId)).toMatchObject({
      state: 'idle',
      lastOutcome: 'completed',
      title: 'hello',
      entries: 4,
      usage: { cost: 1 },
    });
  });
});

describe('a turn that completed', () => {
  it('goes on when messages wait for its next step, and ends when nothing does; what is queued waits for the next one', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await send(sql, { conversationId, mode: 'queue' });
    await send(sql, { conversationId });
    const ending = () => endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
    expect(await ending()).toBe('messages_waiting');
    expect(await getTurn(sql, turn.turnId)).toMatchObject({ outcome: null });
    await takeMessages(sql, turn);
    expect(await ending()).toMatchObject({ outcome: 'completed', waiting: true });
    const next = await continueConversation(sql, conversationId);
    expect(await end(next)).toMatchObject({ outcome: 'completed', waiting: false });
  });

  const locksWaitedFor = async (): Promise<number> => {
    const found = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return found.length;
  };

  it('goes on with a message whose sender was about to commit', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await owner.unsafe(`
      create function wait_for_test() returns trigger language plpgsql as $$
        begin perform pg_advisory_xact_lock_shared(4711); return null; end $$;
      create constraint trigger hold_commit after insert on messages deferrable initially deferred
        for each row execute function wait_for_test()`);
    const holder = await sql.reserve();
    await holder`select pg_advisory_lock(4711)`;
    const sending = acceptMessage(sql, { id: newId(), conversationId, kind: 'message', ...text('late') });
    await waitUntil('its row is written', async () => (await locksWaitedFor()) === 1);
    const ending = endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
    await waitUntil('the end waits for it', async () => (await locksWaitedFor()) === 2);
    await holder`select pg_advisory_unlock(4711)`;
    holder.release();
    expect(await sending).toMatchObject({ isTurnOpen: true });
    await owner`drop trigger hold_commit on messages`;
    expect(await ending).toBe('messages_waiting');
  });

  it('leaves a message that comes as it commits to a turn for which its sender rings', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    const holder = await sql.reserve();
    await holder`begin`;
    await holder`select from conversations where id = ${conversationId} for no key update`;
    const ending = end(turn);
    await waitUntil('the end waits for the conversation', async () => (await locksWaitedFor()) === 1);
    const sending = acceptMessage(sql, { id: newId(), conversationId, kind: 'message', ...text('late') });
    await waitUntil('the sender waits behind it', async () => (await locksWaitedFor()) === 2);
    await holder`commit`;
    holder.release();
    expect(await ending).toMatchObject({ outcome: 'completed' });
    expect(await sending).toMatchObject({ state: 'accepted', isTurnOpen: false });
  });
});

describe('continueTurn', () => {
  it('registers the run that goes on with the turn', async () => {
    const turn = await startTurn(sql);
    for (let time = 0; time < 2; time += 1)
      await continueTurn(sql, { turn, runId: 'next', workerIdentity: 'worker-2' });
    expect(await getTurn(sql, turn.turnId)).toMatchObject({ runId: 'next' });
    const events = await listEvents(sql, { conversationId: turn.conversationId });
    expect(events.filter(({ kind }) => kind === 'turn_continued')).toHaveLength(1);
    await expect(
      continueTurn(sql, { turn: { ...turn, epoch: 7 }, runId: 'other', workerIdentity: 'worker-2' }),
    ).rejects.toMatchObject({ code: 'stale_epoch' });
  });
});
