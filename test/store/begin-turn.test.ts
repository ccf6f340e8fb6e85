import { describe, expect, it } from 'vitest';
import { storePlan } from '../../src/store/compactions/compactions.ts';
import { getConversation } from '../../src/store/conversations/conversations.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { newId } from '../../src/store/database/ids.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import { isStopWaiting } from '../../src/store/messages/waiting.ts';
import { claimToolCall, readToolCall } from '../../src/store/attempts/tool-calls.ts';
import { getTurn, readSnapshot } from '../../src/store/turns/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import {
  answer,
  begin,
  closeToolCall,
  continueConversation,
  headOf,
  useTestStore,
  said,
  send,
  SNAPSHOT,
  startTurn,
  text,
  claimer,
} from './support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { planWithCut } from './support/compaction-builders.ts';
import { countWaiting } from './support/waiting-rows.ts';

const { sql, owner } = useTestStore();

function end(turn: TurnReference, outcome: 'completed' | 'stopped' | 'budget_exhausted' = 'completed') {
  return endTurn(sql, { turn, outcome, reason: null, breakdown: null }, closeToolCall);
}

describe('beginTurn', () => {
  it('takes the oldest queued message and all that steer, in order of arrival', async () => {
    const conversationId = newId();
    for (const [word, mode] of [
      ['a', 'queue'],
      ['b', 'steer'],
      ['c', 'queue'],
      ['d', 'steer'],
    ] as const) {
      await send(sql, { conversationId, mode, ...text(word) });
    }
    expect(await begin(sql, conversationId)).toMatchObject({ kind: 'begun', messages: 3, commandOnly: false });
    expect(await said(sql, conversationId)).toEqual(['user a', 'user b', 'user d']);
  });

  it('begins once for a run, and again for the next', async () => {
    const conversationId = newId();
    await send(sql, { conversationId });
    const runId = newId();
    const first = await begin(sql, conversationId, { runId });
    const repeated = await begin(sql, conversationId, { runId });
    expect(repeated).toEqual(first);
    await send(sql, { conversationId });
    const next = await begin(sql, conversationId);
    expect(next).toMatchObject({ kind: 'begun', turn: { epoch: 2 } });
    await expect(begin(sql, conversationId, { runId })).rejects.toMatchObject({ code: 'stale_epoch' });
  });

  it('tells once a turn of each model whose window is assumed', async () => {
    const conversationId = newId();
    await send(sql, { conversationId });
    const runId = newId();
    const assumedWindows = [{ model: 'local/new', window: 128_000 }];
    for (let tries = 0; tries < 2; tries += 1)
      await begin(sql, conversationId, { runId, snapshot: { assumedWindows } });
    const events = await listEvents(sql, { conversationId });
    expect(events.filter(({ kind }) => kind === 'model_window_assumed').map(({ data }) => data)).toEqual(
      assumedWindows,
    );
  });

  it('freezes the form that a task asks for, and keeps it for a resume of the task alone', async () => {
    const conversationId = newId();
    const [own, asked] = [{ output: {} }, { output: { type: 'object' } }];
    const beginAndEnd = async () => {
      const begun = await begin(sql, conversationId, { snapshot: { request: own } });
      if (begun.kind !== 'begun') throw new TypeError('something waits');
      await end(begun.turn, 'budget_exhausted');
      return begun.snapshot.request;
    };
    await send(sql, { conversationId, mode: 'queue', output: asked.output });
    const first = await beginAndEnd();
    await send(sql, { conversationId, kind: 'resume', content: [] });
    expect([first, await beginAndEnd()]).toEqual([asked, asked]);
    await send(sql, { conversationId });
    expect(await beginAndEnd()).toEqual(own);
  });

  it('gives two runs that begin at the same time one turn', async () => {
    const conversationId = newId();
    await send(sql, { conversationId });
    const begun = await Promise.all([begin(sql, conversationId), begin(sql, conversationId)]);
    expect(begun.map(({ kind }) => kind).toSorted()).toEqual(['begun', 'nothing_waiting']);
  });

  it('says when nothing waits, also in a conversation that was deleted after it was rung for', async () => {
    const turn = await startTurn(sql);
    await end(turn);
    expect(await begin(sql, turn.conversationId)).toEqual({ kind: 'nothing_waiting' });
    expect(await begin(sql, newId())).toEqual({ kind: 'nothing_waiting' });
  });

  it('repairs what a dead turn left open: calls, plan, outcome', async () => {
    const dead = await startTurn(sql);
    const { conversationId } = dead;
    await answer(sql, dead, 1, { calls: 2 });
    await claimToolCall(sql, { turn: dead, callNumber: 1, callIndex: 1, ...claimer('worker-1') });
    await storePlan(sql, {
      turn: dead,
      callNumber: 2,
      compactionId: newId(),
      plan: planWithCut(2),
      reason: 'threshold',
      preset: 'default',
      headEntryId: await headOf(sql, conversationId),
    });
    await send(sql, { conversationId, ...text('again') });
    const turn = await continueConversation(sql, conversationId);
    expect(turn.epoch).toBe(dead.epoch + 1);
    expect(await said(sql, conversationId)).toEqual([
      'user hello',
      'assistant answer 1,tool_call,tool_call',
      'tool_result closed: requested interrupted',
      'tool_result closed: claimed interrupted',
      'user again',
    ]);
    const calls = await Promise.all(
      [0, 1].map((callIndex) => readToolCall(sql, { ...dead, callNumber: 1, callIndex })),
    );
    expect(calls.map(({ state, outcome }) => [state, outcome])).toEqual([
      ['finished', 'not_run'],
      ['finished', 'outcome_unknown'],
    ]);
    expect(await getTurn(sql, dead.turnId)).toMatchObject({ outcome: 'interrupted', reason: 'taken_over' });
    const [plan] = await sql`select status from compactions where conversation_id = ${conversationId}`;
    expect(plan?.['status']).toBe('abandoned');
    await expect(takeMessages(sql, dead)).rejects.toMatchObject({ code: 'stale_epoch' });
    await expect(isStopWaiting(sql, dead)).rejects.toMatchObject({ code: 'stale_epoch' });
    await expect(end(dead)).rejects.toMatchObject({ code: 'stale_epoch' });
  });

  it('appends the rules when they differ from the newest ones', async () => {
    const conversationId = newId();
    const rules = ['one', 'one', 'two', null];
    for (const rule of rules) {
      await send(sql, { conversationId });
      const begun = await begin(sql, conversationId, { rules: rule === null ? null : text(rule) });
      if (begun.kind === 'begun') await end(begun.turn);
    }
    const notes = (await said(sql, conversationId)).filter((entry) => entry.startsWith('note'));
    expect(notes).toEqual(['note one', 'note two', 'note ']);
  });

  it('freezes the snapshot', async () => {
    const turn = await startTurn(sql);
    const { snapshot, fixed } = await readSnapshot(sql, turn.turnId);
    expect(snapshot).toEqual(SNAPSHOT);
    expect(fixed.letters).toBe(100);
  });
});

describe('commands', () => {
  it('make a turn without step when the conversation is idle, which serves them', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await end(turn);
    await send(sql, { conversationId, kind: 'compact', focus: 'names' });
    const begun = await begin(sql, conversationId);
    expect(begun).toMatchObject({ kind: 'begun', commandOnly: true, messages: 0 });
    if (begun.kind !== 'begun') return;
    await end(begun.turn);
    expect(await countWaiting(sql, conversationId)).toMatchObject({ waiting: 0 });
    expect(await begin(sql, conversationId)).toEqual({ kind: 'nothing_waiting' });
  });

  it('that say stop are consumed when nothing is there to stop', async () => {
    const turn = await startTurn(sql);
    await end(turn);
    await send(sql, { conversationId: turn.conversationId, kind: 'stop' });
    expect(await begin(sql, turn.conversationId)).toEqual({ kind: 'nothing_waiting' });
    expect(await getConversation(sql, turn.conversationId)).toMatchObject({ waitingMessages: 0, state: 'idle' });
  });

  it('that say stop end a dead turn even if nothing else waits', async () => {
    const dead = await startTurn(sql);
    await send(sql, { conversationId: dead.conversationId, kind: 'stop' });
    expect(await begin(sql, dead.conversationId)).toEqual({ kind: 'nothing_waiting' });
    expect(await getTurn(sql, dead.turnId)).toMatchObject({ outcome: 'interrupted' });
  });

  it('that say stop count for the messages before them, not for those after', async () => {
    const conversationId = newId();
    await send(sql, { conversationId });
    await send(sql, { conversationId, kind: 'stop' });
    const begun = await begin(sql, conversationId);
    expect(begun).toMatchObject({ kind: 'begun', stopRequested: true });
    if (begun.kind !== 'begun') return;
    expect(await countWaiting(sql, begun.turn.conversationId)).toMatchObject({ stopRequested: true });
    await end(begun.turn, 'stopped');
    await send(sql, { conversationId, kind: 'stop' });
    await send(sql, { conversationId });
    expect(await begin(sql, conversationId)).toMatchObject({ kind: 'begun', stopRequested: false });
  });

  it('that say stop and come while the turn begins are meant for it', async () => {
    const turn = await startTurn(sql);
    await end(turn);
    const { conversationId } = turn;
    await send(sql, { conversationId, kind: 'stop' });
    await send(sql, { conversationId });
    let beginning: ReturnType<typeof begin> | undefined;
    await owner.begin(async (other) => {
      await other`lock table messages in share mode`;
      beginning = begin(sql, conversationId);
      await waitUntil('it has read what waits, and is to consume it', async () => {
        const waiting = await other`
          select from pg_locks where relation = 'messages'::regclass and not granted
            and database = (select oid from pg_database where datname = current_database())`;
        return waiting.length > 0;
      });
      await other`
        insert into messages (id, conversation_id, kind, mode, content, measurements)
        values (${newId()}, ${conversationId}, 'stop', 'steer', '[]', no_measurements())`;
    });
    const begun = await beginning;
    expect(begun).toMatchObject({ kind: 'begun', stopRequested: false });
    if (begun?.kind !== 'begun') return;
    expect(await countWaiting(sql, begun.turn.conversationId)).toMatchObject({ stopRequested: true, waiting: 1 });
  });

  it('that steer and were sent before the stop of a turn are told and not answered', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await answer(sql, turn, 1, { calls: 1 });
    await send(sql, { conversationId, ...text('steered') });
    await send(sql, { conversationId, mode: 'queue', ...text('queued') });
    await send(sql, { conversationId, kind: 'stop' });
    await send(sql, { conversationId, ...text('after') });
    await end(turn, 'stopped');
    expect(await countWaiting(sql, conversationId)).toMatchObject({ waiting: 2, steering: 1, stopRequested: false });
    const log = await said(sql, conversationId);
    expect(log.slice(-2)).toEqual(['tool_result closed: requested stopped', 'user steered']);
    expect(await begin(sql, conversationId)).toMatchObject({ kind: 'begun', messages: 2, stopRequested: false });
  });

  it('that say stop count for the commands before them, not for those after', async () => {
    for (const [kinds, stopRequested] of [
      [['compact', 'stop'], true],
      [['stop', 'compact'], false],
      [['resume', 'stop'], true],
      [['stop', 'resume'], false],
    ] as const) {
      const turn = await startTurn(sql);
      // A resume goes on with what is not done.
      await end(turn, 'budget_exhausted');
      const { conversationId } = turn;
      for (const kind of kinds) await send(sql, { conversationId, kind });
      const begun = await begin(sql, conversationId);
      expect(begun, kinds.join()).toMatchObject({ kind: 'begun', stopRequested });
      if (begun.kind !== 'begun') return;
      await end(begun.turn, 'stopped');
      expect(await countWaiting(sql, begun.turn.conversationId)).toMatchObject({ waiting: 0 });
    }
  });

  it('behind a stop are left to the turn that follows', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await send(sql, { conversationId });
    await send(sql, { conversationId, kind: 'stop' });
    await send(sql, { conversationId });
    expect(await takeMessages(sql, turn)).toEqual({ messages: 1 });
    await end(turn, 'stopped');
    expect(await countWaiting(sql, conversationId)).toMatchObject({ waiting: 1, steering: 1, stopRequested: false });
    expect(await begin(sql, conversationId)).toMatchObject({ kind: 'begun', messages: 1, stopRequested: false });
  });

  it('are requested until they are served, however often one looks', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await send(sql, { conversationId, kind: 'stop' });
    await send(sql, { conversationId, kind: 'compact' });
    for (let look = 0; look < 2; look += 1) {
      expect(await countWaiting(sql, turn.conversationId)).toEqual({
        waiting: 2,
        steering: 0,
        stopRequested: true,
        compactRequested: true,
      });
    }
    // The stop was for this turn; the compaction gets a turn of its own.
    await end(turn, 'stopped');
    expect(await countWaiting(sql, conversationId)).toMatchObject({ waiting: 1, compactRequested: true });
  });
});
