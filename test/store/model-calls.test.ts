import { describe, expect, it } from 'vitest';
import { appendNote, getEntry } from '../../src/store/log/entries.ts';
import { readFitCheck } from '../../src/store/compactions/fit-check.ts';
import { newId } from '../../src/store/database/ids.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import { readAnswer, registerModelCall, storeAnswer } from '../../src/store/attempts/model-calls.ts';
import { readToolCall } from '../../src/store/attempts/tool-calls.ts';
import { listModelCalls } from '../support/model-calls.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { recordModelFailure } from './support/failed-tries.ts';
import type { ModelFailure } from './support/failed-tries.ts';
import {
  FIRST_ATTEMPT,
  answer,
  answerWith,
  begin,
  headOf,
  useTestStore,
  register,
  send,
  startTurn,
  text,
  toolCall,
} from './support/store-builders.ts';

const { sql } = useTestStore();

function failure(turn: TurnReference, attempt: number, overrides: Partial<ModelFailure> = {}): ModelFailure {
  return {
    turn,
    callNumber: 1,
    attempt,
    kind: 'retryable',
    evidence: 'status_500',
    status: 500,
    message: null,
    usage: null,
    cost: 0,
    durationMilliseconds: 5,
    ...overrides,
  };
}

describe('storeAnswer', () => {
  it('appends the answer as child of exactly the head that the request showed, with a row per tool call', async () => {
    const turn = await startTurn(sql);
    const registered = await register(sql, turn, 1);
    const content = [{ type: 'text' as const, text: 'look' }, toolCall(0), toolCall(1, 'write_file', '{"cut')];
    const stored = await storeAnswer(sql, answerWith(turn, 1, registered, content));
    const entry = await getEntry(sql, stored.entryId);
    expect(entry).toMatchObject({ kind: 'assistant', parentId: registered.headEntryId, content });
    expect(await readToolCall(sql, { ...turn, callNumber: 1, callIndex: 1 })).toMatchObject({
      name: 'write_file',
      arguments: '{"cut',
      state: 'requested',
      attempt: 0,
    });
    expect(stored).toMatchObject({ attempt: 1, turnCost: 0.5, usage: { input: 100, output: 20 } });
  });

  it('returns what is stored when the same attempt stores again, and pays once', async () => {
    const turn = await startTurn(sql);
    const given = answerWith(turn, 1, await register(sql, turn, 1), text('first').content);
    const first = await storeAnswer(sql, given);
    const second = await storeAnswer(sql, { ...given, ...text('second') });
    expect(second).toEqual(first);
    expect((await getTurn(sql, turn.turnId)).usage).toMatchObject({ modelCalls: 1, cost: 0.5 });
  });

  it('refuses an attempt that a newer one replaced, but keeps what it cost', async () => {
    const turn = await startTurn(sql);
    const old = await register(sql, turn, 1);
    const newer = await register(sql, turn, 1);
    expect(newer.attempt).toBe(2);
    const late = answerWith(turn, 1, old, text('old').content);
    for (let time = 0; time < 2; time += 1) {
      await expect(storeAnswer(sql, late)).rejects.toMatchObject({ code: 'superseded_attempt' });
    }
    const stored = await storeAnswer(sql, answerWith(turn, 1, newer, text('new').content));
    expect(stored.content).toEqual(text('new').content);
    await expect(storeAnswer(sql, late)).rejects.toMatchObject({ code: 'superseded_attempt' });
    const calls = await listModelCalls(sql, { conversationId: turn.conversationId });
    expect(calls.map(({ attempt, state, cost }) => [attempt, state, cost])).toEqual([
      [1, 'failed', 0.5],
      [2, 'answered', 0.5],
    ]);
    expect((await getTurn(sql, turn.turnId)).usage).toMatchObject({ modelCalls: 2, cost: 1, inputTokens: 200 });
  });

  it('refuses an answer whose head has moved, and stores nothing of it', async () => {
    const turn = await startTurn(sql);
    const registered = await register(sql, turn, 1);
    await send(sql, { conversationId: turn.conversationId });
    await takeMessages(sql, turn);
    const head = await headOf(sql, turn.conversationId);
    await expect(storeAnswer(sql, answerWith(turn, 1, registered, [toolCall(0)]))).rejects.toMatchObject({
      code: 'head_moved',
    });
    expect(await headOf(sql, turn.conversationId)).toBe(head);
    expect(await readAnswer(sql, { turn, callNumber: 1 })).toBeNull();
    expect((await getTurn(sql, turn.turnId)).usage.modelCalls).toBe(0);
  });

  it('refuses a turn that was taken over', async () => {
    const turn = await startTurn(sql);
    const registered = await register(sql, turn, 1);
    await send(sql, { conversationId: turn.conversationId });
    await begin(sql, turn.conversationId);
    await expect(storeAnswer(sql, answerWith(turn, 1, registered, []))).rejects.toMatchObject({ code: 'stale_epoch' });
    await expect(register(sql, turn, 2)).rejects.toMatchObject({ code: 'stale_epoch' });
    await expect(recordModelFailure(sql, failure(turn, 1))).rejects.toMatchObject({ code: 'stale_epoch' });
  });

  it('refuses an attempt that never registered', async () => {
    const turn = await startTurn(sql);
    const headEntryId = await headOf(sql, turn.conversationId);
    await expect(storeAnswer(sql, answerWith(turn, 1, { attempt: 1, headEntryId }, []))).rejects.toMatchObject({
      code: 'model_call_not_found',
    });
  });

  it('takes 200 tool calls at once', async () => {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1, { calls: 200 });
    const [row] = await sql`select count(*)::int as calls from tool_calls where turn_id = ${turn.turnId}`;
    expect(row?.['calls']).toBe(200);
  });

  it('stores names and ids that text columns cannot hold', async () => {
    const turn = await startTurn(sql);
    const call = { ...toolCall(0, 'bad\0name\uD800', '{"a":"\0\uDFFF"}'), id: '\0' };
    const registered = await register(sql, turn, 1);
    const stored = await storeAnswer(sql, answerWith(turn, 1, registered, [call]));
    expect(stored.content).toEqual([call]);
    expect(await readToolCall(sql, { ...turn, callNumber: 1, callIndex: 0 })).toMatchObject({
      name: 'bad\uFFFDname\uFFFD',
      arguments: '{"a":"\0\uDFFF"}',
    });
  });

  it('says that the cost is unknown once one price was', async () => {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1);
    const given = answerWith(turn, 2, await register(sql, turn, 2), []);
    expect(await storeAnswer(sql, { ...given, cost: null, usage: null })).toMatchObject({
      turnCost: null,
      usage: null,
    });
    expect((await getTurn(sql, turn.turnId)).usage).toMatchObject({ cost: null, inputTokens: 100 });
  });
});

describe('registerModelCall', () => {
  it('returns the stored answer instead of a number', async () => {
    const turn = await startTurn(sql);
    const stored = await answer(sql, turn, 1);
    const again = await registerModelCall(sql, {
      turn,
      callNumber: 1,
      by: FIRST_ATTEMPT,
      model: 'sim/sim-32k',
      headEntryId: newId(),
      compactionId: null,
      viewFingerprint: '',
      rendererVersion: 1,
      estimatedTokens: 1,
    });
    expect(again).toEqual({ kind: 'answered', answer: stored });
    expect(await readAnswer(sql, { turn, callNumber: 1 })).toEqual(stored);
  });

  it('registers no request that shows another head, and refuses one that misses a compaction', async () => {
    const turn = await startTurn(sql);
    const registration = {
      turn,
      callNumber: 1,
      by: FIRST_ATTEMPT,
      model: 'm',
      headEntryId: newId(),
      compactionId: null,
      viewFingerprint: '',
      rendererVersion: 1,
      estimatedTokens: 1,
      measurements: NO_MEASUREMENTS,
    };
    expect(await registerModelCall(sql, registration)).toEqual({ kind: 'moved' });
    const shown = { ...registration, headEntryId: await headOf(sql, turn.conversationId), compactionId: newId() };
    await expect(registerModelCall(sql, shown)).rejects.toMatchObject({ code: 'head_moved' });
    expect(await listModelCalls(sql, { conversationId: turn.conversationId })).toEqual([]);
  });

  it('counts tries over concurrent callers without repeating a number', async () => {
    const turn = await startTurn(sql);
    const tries = await Promise.all(Array.from({ length: 8 }, () => register(sql, turn, 1)));
    expect(tries.map(({ attempt }) => attempt).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe('recordModelFailure', () => {
  it('counts the failures of a call, each attempt once, and not overflows or aborts', async () => {
    const turn = await startTurn(sql);
    await register(sql, turn, 1);
    expect(await recordModelFailure(sql, failure(turn, 1))).toMatchObject({ failures: 1 });
    expect(await recordModelFailure(sql, failure(turn, 1))).toMatchObject({ failures: 1 });
    await register(sql, turn, 1);
    expect(await recordModelFailure(sql, failure(turn, 2, { kind: 'overflow', status: 400 }))).toMatchObject({
      failures: 1,
    });
    await register(sql, turn, 1);
    expect(await recordModelFailure(sql, failure(turn, 3, { kind: 'permanent' }))).toMatchObject({ failures: 2 });
    expect(await getTurn(sql, turn.turnId)).toMatchObject({ overflows: 1, usage: { modelCalls: 0 } });
  });

  it('counts refusals of a call apart from its failures', async () => {
    const turn = await startTurn(sql);
    const limited = async (callNumber: number, attempt: number) => {
      await register(sql, turn, callNumber);
      return recordModelFailure(sql, failure(turn, attempt, { callNumber, kind: 'rate_limited', status: 429 }));
    };
    expect(await limited(1, 1)).toMatchObject({ failures: 0, refusals: 1 });
    expect(await limited(1, 2)).toMatchObject({ refusals: 2 });
    expect(await limited(2, 1)).toMatchObject({ refusals: 1 });
    await answer(sql, turn, 3);
    await register(sql, turn, 4);
    const counted = await recordModelFailure(sql, failure(turn, 1, { callNumber: 4 }));
    expect(counted).toMatchObject({ failures: 1, refusals: 0 });
  });

  it('adds what a failed call cost', async () => {
    const turn = await startTurn(sql);
    await register(sql, turn, 1);
    const usage = { input: 7, cacheRead: 0, cacheWrite: 0, output: 1 };
    await recordModelFailure(sql, failure(turn, 1, { usage, cost: 0.25 }));
    expect((await getTurn(sql, turn.turnId)).usage).toMatchObject({ modelCalls: 1, cost: 0.25, inputTokens: 7 });
  });
});

describe('reported usage', () => {
  it('is what the fit check sees, with what came after the answer', async () => {
    const turn = await startTurn(sql);
    expect((await readFitCheck(sql, turn)).reported).toBeNull();
    await answer(sql, turn, 1);
    await appendNote(sql, { ...text('abc'), turn, slot: 'plan', key: 'p' });
    const { reported, view } = await readFitCheck(sql, turn);
    expect(reported).toMatchObject({ usage: { input: 100 }, since: { letters: 3 } });
    expect(view.letters).toBe('hello'.length + 'answer'.length + 3);
  });
});

describe('appendNote', () => {
  it('appends once for a key and refuses another head', async () => {
    const turn = await startTurn(sql);
    const { entryId: headEntryId } = await answer(sql, turn, 1);
    const note = { ...text('go on'), turn, slot: 'continuation' as const, headEntryId, key: 'cut:1' };
    const first = await appendNote(sql, note);
    expect(await appendNote(sql, note)).toEqual(first);
    await expect(appendNote(sql, { ...note, key: 'cut:2' })).rejects.toMatchObject({ code: 'head_moved' });
  });
});
