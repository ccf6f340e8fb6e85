import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storePlan } from '../../src/store/compactions.ts';
import { getConversation, listConversations } from '../../src/store/conversations.ts';
import type { Database } from '../../src/store/database.ts';
import { endTurn } from '../../src/store/end-turn.ts';
import { listEntries } from '../../src/store/entries.ts';
import { listEvents } from '../../src/store/events.ts';
import { newId } from '../../src/store/ids.ts';
import { lookAtInbox, takeMessages } from '../../src/store/inbox.ts';
import { claimToolCall, readToolCall } from '../../src/store/tool-calls.ts';
import { continueTurn, getTurn, readLastTurn, readSnapshot } from '../../src/store/turns.ts';
import { findOpenTurns, findWaitingConversations, markInterrupted } from '../../src/store/upkeep.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import {
  answer,
  begin,
  closeToolCall,
  continueConversation,
  headOf,
  openTestStore,
  planWithCut,
  send,
  SNAPSHOT,
  startTurn,
  step,
  text,
} from './support/store-builders.ts';
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

async function said(conversationId: string): Promise<string[]> {
  const entries = await listEntries(sql, { conversationId });
  return entries.map(
    ({ kind, content }) => `${kind} ${content.map((part) => (part.type === 'text' ? part.text : part.type)).join()}`,
  );
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
    expect(await said(conversationId)).toEqual(['user a', 'user b', 'user d']);
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

  it('gives two runs that begin at the same time one turn', async () => {
    const conversationId = newId();
    await send(sql, { conversationId });
    const begun = await Promise.all([begin(sql, conversationId), begin(sql, conversationId)]);
    expect(begun.map(({ kind }) => kind).toSorted()).toEqual(['begun', 'nothing_waiting']);
  });

  it('says when nothing waits, and what does not exist', async () => {
    const turn = await startTurn(sql);
    await end(turn);
    expect(await begin(sql, turn.conversationId)).toEqual({ kind: 'nothing_waiting' });
    await expect(begin(sql, newId())).rejects.toMatchObject({ code: 'conversation_not_found' });
  });

  it('repairs what a dead turn left open: calls, plan, outcome', async () => {
    const dead = await startTurn(sql);
    const { conversationId } = dead;
    await answer(sql, dead, 1, { calls: 2 });
    await claimToolCall(sql, { turn: dead, callNumber: 1, callIndex: 1, workerIdentity: 'worker-1' });
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
    expect(await said(conversationId)).toEqual([
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
    await expect(lookAtInbox(sql, dead)).rejects.toMatchObject({ code: 'stale_epoch' });
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
    const notes = (await said(conversationId)).filter((entry) => entry.startsWith('note'));
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
    expect(begun).toMatchObject({ kind: 'begun', commandOnly: true, compactRequested: true, messages: 0 });
    if (begun.kind !== 'begun') return;
    expect((await end(begun.turn)).waiting).toMatchObject({ waiting: 0 });
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
    expect(await lookAtInbox(sql, begun.turn)).toMatchObject({ stopRequested: true });
    await end(begun.turn, 'stopped');
    await send(sql, { conversationId, kind: 'stop' });
    await send(sql, { conversationId });
    expect(await begin(sql, conversationId)).toMatchObject({ kind: 'begun', stopRequested: false });
  });

  it('are requested until they are served, however often one looks', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await send(sql, { conversationId, kind: 'stop' });
    await send(sql, { conversationId, kind: 'compact' });
    for (let look = 0; look < 2; look += 1) {
      expect(await lookAtInbox(sql, turn)).toEqual({
        waiting: 2,
        steering: 0,
        stopRequested: true,
        compactRequested: true,
      });
    }
    // The stop was for this turn; the compaction gets a turn of its own.
    expect((await end(turn, 'stopped')).waiting).toMatchObject({ waiting: 1, compactRequested: true });
  });
});

describe('endTurn', () => {
  it('stores the first outcome and looks at the inbox each time', async () => {
    const turn = await startTurn(sql);
    expect(await end(turn, 'completed')).toMatchObject({ outcome: 'completed', waiting: { waiting: 0 } });
    await send(sql, { conversationId: turn.conversationId });
    expect(await end(turn, 'stopped')).toMatchObject({ outcome: 'completed', waiting: { waiting: 1 } });
    const events = await listEvents(sql, { conversationId: turn.conversationId });
    expect(events.filter(({ kind }) => kind === 'turn_ended')).toHaveLength(1);
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
    expect((await said(turn.conversationId)).at(-1)).toBe('tool_result closed: requested stopped');
  });

  it('leaves nothing that the turn could still write', async () => {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1, { calls: 1 });
    await end(turn, 'stopped');
    await expect(
      claimToolCall(sql, { turn, callNumber: 1, callIndex: 0, workerIdentity: 'worker-1' }),
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
    expect((await said(lost.conversationId)).at(-1)).toBe('tool_result closed: requested interrupted');
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

describe('listConversations', () => {
  it('pages from the newest activity on and filters by state', async () => {
    const turns: TurnReference[] = [];
    for (let count = 0; count < 3; count += 1) turns.push(await startTurn(sql));
    const [first] = turns;
    if (first !== undefined) await end(first);
    const expected = [turns[0], turns[2], turns[1]].map((turn) => turn?.conversationId);
    const [newest] = await listConversations(sql, { limit: 1 });
    const rest = await listConversations(sql, { limit: 2, ...(newest !== undefined && { beforeId: newest.id }) });
    expect([newest, ...rest].map((row) => row?.id)).toEqual(expected);
    const working = (await listConversations(sql, { state: 'working', limit: 2 })).map(({ id }) => id);
    expect(working).toEqual(expected.slice(1));
    expect(await listConversations(sql, { agent: 'nobody' })).toEqual([]);
  });
});
