import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { getEntry, listEntries } from '../../src/store/log/entries.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { newId } from '../../src/store/database/ids.ts';
import {
  claimToolCall,
  listLateToolResults,
  readToolCall,
  storeToolResult,
} from '../../src/store/attempts/tool-calls.ts';
import type { ToolResultToStore } from '../../src/store/attempts/tool-calls.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import {
  answer,
  begin,
  closeToolCall,
  finishToolCall,
  openTestStore,
  send,
  startTurn,
  text,
  claimer,
} from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

let store: TestStore;
let sql: Database;

beforeAll(async () => {
  store = await openTestStore(20);
  ({ sql } = store);
});
afterAll(() => store.close());

const CALL = { callNumber: 1, callIndex: 0 };

async function turnWithCalls(calls = 1): Promise<TurnReference> {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1, { calls });
  return turn;
}

function claim(turn: TurnReference, workerIdentity = 'worker-1') {
  return claimToolCall(sql, { turn, ...CALL, ...claimer(workerIdentity) });
}

function result(turn: TurnReference, attempt: number, overrides: Partial<ToolResultToStore> = {}): ToolResultToStore {
  return {
    turn,
    ...CALL,
    attempt,
    entryId: newId(),
    outcome: 'succeeded',
    workerIdentity: 'worker-1',
    fingerprint: 'f1',
    ...text('done'),
    ...overrides,
  };
}

async function resultEntries({ conversationId }: TurnReference) {
  return listEntries(sql, { conversationId, kinds: ['tool_result'] });
}

describe('claimToolCall', () => {
  it('lets exactly one of many callers act', async () => {
    const turn = await turnWithCalls();
    const claims = await Promise.allSettled(Array.from({ length: 10 }, (_, worker) => claim(turn, `worker-${worker}`)));
    expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(claim(turn, 'worker-10')).rejects.toMatchObject({ code: 'superseded_attempt' });
  });

  it('claims once for a claimer that asks again, and not for the next life of its worker or for another run', async () => {
    const turn = await turnWithCalls();
    const own = { turn, ...CALL, ...claimer('worker-1') };
    await claimToolCall(sql, own);
    await claimToolCall(sql, own);
    expect(await readToolCall(sql, { ...turn, ...CALL })).toMatchObject({ state: 'claimed', attempt: 1 });
    for (const other of [{ workerIdentity: 'next life' }, { runId: 'another' }, { activityAttempt: 2 }])
      await expect(claimToolCall(sql, { ...own, ...other })).rejects.toMatchObject({ code: 'superseded_attempt' });
  });

  it('hands a claim over once', async () => {
    const turn = await turnWithCalls();
    await claim(turn);
    const next = (worker: string) => claimToolCall(sql, { turn, ...CALL, ...claimer(worker, 2) });
    const results = await Promise.allSettled([next('worker-2'), next('worker-3')]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await readToolCall(sql, { ...turn, ...CALL })).toMatchObject({ attempt: 2 });
  });

  it('claims no call that has its result, and none that was not made', async () => {
    const turn = await turnWithCalls();
    await finishToolCall(sql, turn, 1, 0);
    const next = { turn, ...CALL, ...claimer('worker-2', 2) };
    await expect(claimToolCall(sql, next)).rejects.toMatchObject({ code: 'superseded_attempt' });
    await expect(claimToolCall(sql, { ...next, callIndex: 7 })).rejects.toMatchObject({ code: 'tool_call_not_found' });
  });
});

describe('storeToolResult', () => {
  it('stores entry, state and plan note together, and once', async () => {
    const turn = await turnWithCalls();
    await claim(turn);
    const given = result(turn, 1, { plan: text('1. read') });
    const stored = await storeToolResult(sql, given);
    expect(stored).toEqual({ state: 'stored', entryId: given.entryId, outcome: 'succeeded' });
    expect(await storeToolResult(sql, given)).toEqual(stored);
    const entries = await listEntries(sql, { conversationId: turn.conversationId });
    expect(entries.slice(2).map(({ kind, slot, isError, toolName }) => ({ kind, slot, isError, toolName }))).toEqual([
      { kind: 'tool_result', slot: undefined, isError: false, toolName: 'read_file' },
      { kind: 'note', slot: 'plan', isError: undefined, toolName: undefined },
    ]);
  });

  it('keeps the result of an attempt that was taken over beside the log', async () => {
    const turn = await turnWithCalls();
    await claim(turn);
    await claimToolCall(sql, { turn, ...CALL, ...claimer('worker-2', 2) });
    expect(await storeToolResult(sql, result(turn, 1, text('late')))).toEqual({ state: 'late' });
    expect(await storeToolResult(sql, result(turn, 1, text('late')))).toEqual({ state: 'late' });
    expect(await resultEntries(turn)).toEqual([]);
    expect(await storeToolResult(sql, result(turn, 2))).toMatchObject({ state: 'stored' });
    expect((await resultEntries(turn)).map(({ content }) => content)).toEqual([text('done').content]);
    expect(await listLateToolResults(sql, [turn.turnId])).toMatchObject([
      { attempt: 1, content: text('late').content },
    ]);
  });

  it('keeps the report of a worker whose outcome was declared unknown beside the log', async () => {
    const turn = await turnWithCalls();
    await claim(turn);
    const unknown = result(turn, 2, { outcome: 'outcome_unknown', isWithoutRun: true, ...text('unknown') });
    const stored = await storeToolResult(sql, unknown);
    expect(await storeToolResult(sql, unknown)).toEqual(stored);
    expect(await storeToolResult(sql, result(turn, 1, text('it worked')))).toEqual({ state: 'late' });
    expect((await resultEntries(turn)).map(({ content, isError }) => [content, isError])).toEqual([
      [text('unknown').content, true],
    ]);
  });

  it('keeps the report of a turn that was taken over, or has ended, beside the log', async () => {
    const replaced = await turnWithCalls();
    await claim(replaced);
    await send(sql, { conversationId: replaced.conversationId });
    await begin(sql, replaced.conversationId);
    const ended = await turnWithCalls();
    await claim(ended);
    await endTurn(sql, { turn: ended, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall);
    for (const turn of [replaced, ended]) {
      expect(await storeToolResult(sql, result(turn, 1, text('zombie')))).toEqual({ state: 'late' });
      expect(await listLateToolResults(sql, [turn.turnId])).toHaveLength(1);
      const said = (await resultEntries(turn)).map(({ content }) => content);
      expect(said).not.toContainEqual(text('zombie').content);
      const events = await listEvents(sql, { conversationId: turn.conversationId });
      expect(events.map(({ kind }) => kind)).toContain('tool_result_late');
    }
  });

  it('gives 64 results that arrive at once a sequence without gaps and sums that add up', async () => {
    const turn = await turnWithCalls(64);
    const indexes = Array.from({ length: 64 }, (_, index) => index);
    await Promise.all(indexes.map((callIndex) => finishToolCall(sql, turn, 1, callIndex)));
    const rows = await sql<{ sequence: number; consistent: boolean; callIndex: number }[]>`
      select e.sequence, e.call_index, e.parent_id = p.id and (e.sums).letters = (p.sums).letters + (e.measurements).letters as consistent
      from entries e join entries p on p.conversation_id = e.conversation_id and p.sequence = e.sequence - 1
      where e.conversation_id = ${turn.conversationId} order by e.sequence`;
    expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 65 }, (_, index) => index + 2));
    expect(rows.every(({ consistent }) => consistent)).toBe(true);
    expect(
      rows
        .slice(1)
        .map((row) => row.callIndex)
        .toSorted((a, b) => a - b),
    ).toEqual(indexes);
  });

  it('names the stored entry as the tool was told', async () => {
    const turn = await turnWithCalls();
    await claim(turn);
    const given = result(turn, 1, { outcome: 'failed' });
    await storeToolResult(sql, given);
    expect(await getEntry(sql, given.entryId)).toMatchObject({ kind: 'tool_result', isError: true, callIndex: 0 });
  });
});

it('whoever finds an attempt dead that stored its result meanwhile reports nothing in its name', async () => {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1, { calls: 1 });
  await finishToolCall(sql, turn, 1, 0);
  const report = { turn, ...CALL, entryId: newId(), attempt: 1, workerIdentity: 'worker-2', fingerprint: 'f2' };
  const dead = {
    ...report,
    ...text('Outcome unknown'),
    attempt: 2,
    outcome: 'outcome_unknown',
    isWithoutRun: true,
  } as const;
  expect(await storeToolResult(sql, dead)).toEqual({ state: 'late' });
  expect(await listLateToolResults(sql, [turn.turnId])).toEqual([]);
  // What the attempt comes to behind its end still has its place.
  await storeToolResult(sql, { ...report, ...text('late'), outcome: 'succeeded', entryId: newId() });
  expect(await listLateToolResults(sql, [turn.turnId])).toMatchObject([{ attempt: 1, outcome: 'succeeded' }]);
});
