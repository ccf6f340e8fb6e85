import { afterAll, beforeAll, expect, test } from 'vitest';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import { readCosts } from '../../src/store/conversations/costs.ts';
import { newId } from '../../src/store/database/ids.ts';
import { importConversation } from '../../src/store/transfer/import-conversation.ts';
import type { ImportedRecord } from '../../src/store/transfer/import-conversation.ts';
import { storeAnswer } from '../../src/store/attempts/model-calls.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { recordModelFailure } from './support/failed-tries.ts';
import {
  answerWith,
  continueConversation,
  openTestStore,
  register,
  send,
  SNAPSHOT,
  startTurn,
  text,
} from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

/** One answer of 100 tokens of input, 20 of output and this cost. */
async function answered(turn: TurnReference, callNumber: number, cost: number | null): Promise<void> {
  const { sql } = store;
  const registered = await register(sql, turn, callNumber);
  await storeAnswer(sql, { ...answerWith(turn, callNumber, registered, text('so').content), cost });
}

test('costs are added up by group, with calls that were paid and not kept, and an unknown price makes the sum unknown', async () => {
  const { sql } = store;
  const [known, unknown] = [await startTurn(sql), await startTurn(sql)];
  const lost = await register(sql, known, 1);
  await recordModelFailure(sql, {
    turn: known,
    callNumber: 1,
    attempt: lost.attempt,
    kind: 'retryable',
    evidence: 'empty_answer',
    status: null,
    message: null,
    usage: { input: 100, cacheRead: 60, cacheWrite: 0, output: 0 },
    cost: 0.25,
    durationMilliseconds: 1,
  });
  await answered(known, 1, 0.5);
  await answered(unknown, 1, null);
  const byConversation = await readCosts(sql, { by: 'conversation', since: null });
  expect(byConversation.find(({ name }) => name === known.conversationId)).toMatchObject({
    calls: 2,
    input: 200,
    cost: 0.75,
    knownCost: 0.75,
    callsOfUnknownCost: 0,
    repeatedCalls: 1,
    repeatedCost: 0.25,
  });
  expect(byConversation.find(({ name }) => name === unknown.conversationId)).toMatchObject({
    calls: 1,
    cost: null,
    knownCost: 0,
    callsOfUnknownCost: 1,
  });
  expect(await readCosts(sql, { by: 'agent', since: null })).toMatchObject([
    { name: 'reader', calls: 3, cost: null, knownCost: 0.75 },
  ]);
  expect(await readCosts(sql, { by: 'model', since: null })).toMatchObject([{ name: 'sim/sim-32k', calls: 3 }]);
  await store.owner`update conversations set tenant = 'acme' where id = ${known.conversationId}`;
  expect(await readCosts(sql, { by: 'agent', since: null, tenant: 'acme' })).toMatchObject([{ calls: 2 }]);
  expect(await readCosts(sql, { by: 'agent', since: null, tenant: 'default' })).toMatchObject([{ calls: 1 }]);
  await answered(known, 2, 0.125);
  const { conversationId } = known;
  const steps = await readCosts(sql, { by: 'step', since: null, conversationId });
  expect(steps.map(({ name, calls, cost }) => [name, calls, cost])).toEqual([
    ['turn 1, step 1', 2, 0.75],
    ['turn 1, step 2', 1, 0.125],
  ]);
  expect(await readCosts(sql, { by: 'turn', since: null, conversationId })).toMatchObject([
    { name: 'turn 1', calls: 3, cost: 0.875, repeatedCalls: 1 },
  ]);
  expect(await readCosts(sql, { by: 'model', since: new Date(Date.now() + 60_000) })).toEqual([]);
});

test('a call that was refused before it cost anything is no call of the sum', async () => {
  const { sql } = store;
  const turn = await startTurn(sql);
  const registered = await register(sql, turn, 1);
  await recordModelFailure(sql, {
    turn,
    callNumber: 1,
    attempt: registered.attempt,
    kind: 'permanent',
    evidence: 'HTTP 400',
    status: 400,
    message: 'no',
    usage: null,
    cost: 0,
    durationMilliseconds: 1,
  });
  const costs = await readCosts(sql, { by: 'conversation', since: null });
  expect(costs.map(({ name }) => name)).not.toContain(turn.conversationId);
});

const RECORDED_TURN: readonly ImportedRecord[] = [
  { kind: 'user', turn: 1, content: text('hello').content },
  { kind: 'assistant', turn: 1, callNumber: 1, content: text('so').content, model: 'sim/sim-32k' },
];

test('recorded calls of an imported conversation are no calls of the sum, what is paid in it later is', async () => {
  const { sql } = store;
  const conversationId = newId();
  await importConversation(sql, {
    conversationId,
    agent: 'imported',
    settings: { model: 'sim/sim-32k', preset: 'default', workspace: '/tmp', user: null },
    snapshot: { snapshot: SNAPSHOT, fixed: NO_MEASUREMENTS, rules: null },
    records: RECORDED_TURN,
  });
  const costs = () => readCosts(sql, { by: 'conversation', since: null, conversationId });
  expect(await costs()).toEqual([]);
  await send(sql, { conversationId });
  await answered(await continueConversation(sql, conversationId), 1, 0.5);
  expect(await costs()).toMatchObject([{ calls: 1, cost: 0.5, callsOfUnknownCost: 0 }]);
});
