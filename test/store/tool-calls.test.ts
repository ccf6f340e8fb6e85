import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { getEntry, listEntries } from '../../src/store/log/entries.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { newId } from '../../src/store/database/ids.ts';
import {
  claimToolCall,
  giveBackToolCall,
  listLateToolResults,
  readToolCall,
  reclaimToolCall,
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
    const claims = await Promise.all(Array.from({ length: 10 }, (_, worker) => claim(turn, `worker-${worker}`)));
    expect(claims.filter(({ state }) => state === 'claimed')).toHaveLength(1);
    expect(claims.filter(({ state }) => state === 'claimed_before')).toHaveLength(9);
  });

  it('tells a successor what is known of the earlier claim', async () => {
    const turn = await turnWithCalls();
    expect(await claim(turn)).toEqual({
      state: 'claimed',
      name: 'read_file',
      providerCallId: 'call-0',
      arguments: '{}',
      attempt: 1,
      decision: null,
    });
    expect(await claim(turn, 'worker-2')).toMatchObject({
      state: 'claimed_before',
      attempt: 1,
      lost: 1,
      workerIdentity: 'worker-1',
      claimedAt: expect.stringMatching(/^\d{4}-/u) as string,
    });
  });

  it('tells that a call is finished', async () => {
    const turn = await turnWithCalls();
    const stored = await finishToolCall(sql, turn, 1, 0);
    expect(await claim(turn)).toMatchObject({
      state: 'finished',
      outcome: 'succeeded',
      resultEntryId: stored.state === 'stored' ? stored.entryId : '',
    });
  });

  it('knows no call that was not made', async () => {
    const turn = await turnWithCalls();
    await expect(claimToolCall(sql, { turn, callNumber: 1, callIndex: 7, ...claimer('w') })).rejects.toMatchObject({
      code: 'tool_call_not_found',
    });
  });
});

describe('a claimer whose claim was not answered', () => {
  it('has it when it asks again, and nobody else has', async () => {
    const turn = await turnWithCalls();
    const own = { turn, ...CALL, ...claimer('worker-1') };
    await claimToolCall(sql, own);
    expect(await claimToolCall(sql, own)).toMatchObject({ state: 'claimed', attempt: 1 });
    // The next life of the same worker, and another run that gets its attempt.
    expect(await claim(turn)).toMatchObject({ state: 'claimed_before', attempt: 1 });
    expect(await claimToolCall(sql, { ...own, runId: 'another' })).toMatchObject({ state: 'claimed_before' });
  });

  it('has what it took over when it asks again', async () => {
    const turn = await turnWithCalls();
    await claim(turn);
    const own = { turn, ...CALL, ...claimer('worker-2'), previousAttempt: 1 };
    expect([await reclaimToolCall(sql, own), await reclaimToolCall(sql, own)]).toEqual([
      { attempt: 2 },
      { attempt: 2 },
    ]);
  });
});

describe('giveBackToolCall', () => {
  it('lets the next one act as if nobody had claimed the call', async () => {
    const turn = await turnWithCalls();
    const own = { turn, ...CALL, ...claimer('worker-1') };
    await claimToolCall(sql, own);
    expect([await giveBackToolCall(sql, own), await giveBackToolCall(sql, own)]).toEqual([true, false]);
    const next = { turn, ...CALL, ...claimer('worker-2') };
    expect(await claimToolCall(sql, next)).toMatchObject({ state: 'claimed', attempt: 2 });
    expect(await claim(turn, 'worker-3')).toMatchObject({ state: 'claimed_before', attempt: 2, lost: 1 });
    expect(await giveBackToolCall(sql, own)).toBe(false);
    expect(await giveBackToolCall(sql, next)).toBe(true);
    expect(await readToolCall(sql, { ...turn, ...CALL })).toMatchObject({ attempt: 2, givenBack: 2 });
  });

  it('leaves a call that was taken over from another worker, which may have acted', async () => {
    const turn = await turnWithCalls();
    await claim(turn);
    const own = { turn, ...CALL, ...claimer('worker-2'), previousAttempt: 1 };
    await reclaimToolCall(sql, own);
    expect(await giveBackToolCall(sql, own)).toBe(false);
    expect(await claim(turn, 'worker-3')).toMatchObject({ state: 'claimed_before', attempt: 2, lost: 2 });
  });

  it('leaves a call that has its result, and one whose turn is over', async () => {
    const turn = await turnWithCalls(2);
    const own = { turn, ...CALL, ...claimer('worker-1') };
    await claimToolCall(sql, own);
    await storeToolResult(sql, result(turn, 1));
    expect(await giveBackToolCall(sql, own)).toBe(false);
    const second = { ...own, callIndex: 1 };
    await claimToolCall(sql, second);
    await sql`update conversations set epoch = epoch + 1 where id = ${turn.conversationId}`;
    expect(await giveBackToolCall(sql, second)).toBe(false);
  });
});

describe('reclaimToolCall', () => {
  it('hands a claim over once', async () => {
    const turn = await turnWithCalls();
    await claim(turn);
    // Each of its own try.
    const reclaim = () => reclaimToolCall(sql, { turn, ...CALL, ...claimer('worker-2'), previousAttempt: 1 });
    const results = await Promise.allSettled([reclaim(), reclaim()]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await expect(reclaim()).rejects.toMatchObject({ code: 'superseded_attempt' });
    expect(await readToolCall(sql, { ...turn, ...CALL })).toMatchObject({ attempt: 2, workerIdentity: 'worker-2' });
  });
});

describe('storeToolResult', () => {
  it('stores entry, state and plan note together, and once', async () => {
    const turn = await turnWithCalls();
    await claim(turn);
    const given = result(turn, 1, { plan: text('1. read') });
    const stored = await storeToolResult(sql, given);
    expect(stored).toEqual({ state: 'stored', entryId: given.entryId, outcome: 'succeeded' });
    expect(await storeToolResult(sql, { ...given, entryId: newId() })).toEqual(stored);
    const entries = await listEntries(sql, { conversationId: turn.conversationId });
    expect(entries.slice(2).map(({ kind, slot, isError, toolName }) => ({ kind, slot, isError, toolName }))).toEqual([
      { kind: 'tool_result', slot: undefined, isError: false, toolName: 'read_file' },
      { kind: 'note', slot: 'plan', isError: undefined, toolName: undefined },
    ]);
  });

  it('keeps the result of an attempt that was taken over beside the log', async () => {
    const turn = await turnWithCalls();
    await claim(turn);
    await reclaimToolCall(sql, { turn, ...CALL, ...claimer('worker-2'), previousAttempt: 1 });
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
    const unknown = result(turn, 1, { outcome: 'outcome_unknown', ...text('unknown') });
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
  const dead = { ...report, ...text('Outcome unknown'), outcome: 'outcome_unknown' } as const;
  expect(await storeToolResult(sql, dead)).toEqual({ state: 'late' });
  expect(await listLateToolResults(sql, [turn.turnId])).toEqual([]);
  // What the attempt comes to behind its end still has its place.
  await storeToolResult(sql, { ...report, ...text('late'), outcome: 'succeeded', afterItsEnd: true });
  expect(await listLateToolResults(sql, [turn.turnId])).toMatchObject([{ attempt: 1, outcome: 'succeeded' }]);
});
