import type { ApplicationFailure } from '@temporalio/common';
import { expect, onTestFinished, test } from 'vitest';
import { callModel } from '../../src/activities/model/call-model.ts';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import type { Operation } from '../../src/context/plan/plan.ts';
import { freePort } from '../../src/local/ports.ts';
import type { ModelAnswer } from '../../src/models/model-client.ts';
import { createModelClients } from '../../src/models/model-clients.ts';
import { commitCompaction } from '../../src/store/compactions/commit-compaction.ts';
import type { Database } from '../../src/store/database/database.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { listModelCalls } from '../support/model-calls.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { verify } from '../../src/verify/verify.ts';
import type { Simulator } from '../../packages/simulator/src/index.ts';
import { commitRequest, plan, planWithCut } from '../store/support/compaction-builders.ts';
import { headOf, register, startTurn, text } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { diskFull } from '../support/disk-full.ts';
import { startHttpServer } from '../support/http-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { asked, fault, useStoreAndSimulator } from './support/store-and-simulator.ts';

let store: TestStore;
let sql: Database;
let simulator: Simulator;

useStoreAndSimulator((opened) => {
  ({ store, simulator } = opened);
  ({ sql } = store);
});

async function tries(conversationId: string) {
  const calls = await listModelCalls(sql, { conversationId });
  return calls.map(({ attempt, state, cost, usage }) => ({ attempt, state, cost, input: usage?.input }));
}

test('a try whose worker never reported is counted with the one that was answered: both are listed, the cost has both', async () => {
  const turn = await startTurn(sql, 'Say hello');
  await register(sql, turn, 1);
  const headEntryId = await headOf(sql, turn.conversationId);
  const dependencies = activityDependencies(sql, { simulatorUrl: simulator.url });
  await callModel(dependencies, { turn, callNumber: 1, headEntryId }, execution());
  const [lost, answered] = await tries(turn.conversationId);
  expect(answered).toMatchObject({ attempt: 2, state: 'answered' });
  expect(lost).toEqual({ ...answered, attempt: 1, state: 'failed' });
  const { usage } = await getTurn(sql, turn.turnId);
  expect(usage).toMatchObject({ modelCalls: 2, inputTokens: 2 * (answered?.input ?? 0) });
  expect(usage.cost).toBeCloseTo(2 * (answered?.cost ?? 0), 12);
});

test('an answer that Postgres cannot take is kept until it can, and not bought again', async () => {
  const turn = await startTurn(sql, 'Say hello');
  const headEntryId = await headOf(sql, turn.conversationId);
  const before = await asked(simulator);
  const full = await diskFull(sql);
  const dependencies = activityDependencies(sql, { simulatorUrl: simulator.url });
  const calling = callModel(dependencies, { turn, callNumber: 1, headEntryId }, execution());
  await waitUntil('the answer is refused', async () => (await full.refusals()) >= 2);
  await full.end();
  expect(await calling).toMatchObject({ kind: 'answered' });
  expect((await asked(simulator)) - before).toBe(1);
  expect(await tries(turn.conversationId)).toMatchObject([{ attempt: 1, state: 'answered' }]);
});

test('what an answer taught of the server waits for Postgres with the answer, which is not bought again', async () => {
  const turn = await startTurn(sql, 'Say hello');
  const headEntryId = await headOf(sql, turn.conversationId);
  let bought = 0;
  const answer: ModelAnswer = {
    content: [{ type: 'text', text: 'hello' }],
    stopReason: 'end',
    learnedMedia: { parts: 0 },
  };
  const modelClient = () => ({
    answer: () => {
      bought += 1;
      return Promise.resolve(answer);
    },
  });
  const full = await diskFull(sql, 'insert on model_facts');
  const dependencies = { ...activityDependencies(sql), modelClient };
  const calling = callModel(dependencies, { turn, callNumber: 1, headEntryId }, execution());
  await Promise.race([calling, waitUntil('the lesson is refused', async () => (await full.refusals()) >= 2)]);
  await full.end();
  expect(await calling).toMatchObject({ kind: 'answered' });
  expect(bought).toBe(1);
  expect(await tries(turn.conversationId)).toMatchObject([{ attempt: 1, state: 'answered' }]);
});

test('after five attempts without a report the call fails for good, and the model is not asked again', async () => {
  const turn = await startTurn(sql, 'Say hello');
  const headEntryId = await headOf(sql, turn.conversationId);
  for (let dead = 1; dead <= 5; dead += 1) await register(sql, turn, 1);
  const before = await asked(simulator);
  const dependencies = activityDependencies(sql, { simulatorUrl: simulator.url });
  const calling = callModel(dependencies, { turn, callNumber: 1, headEntryId }, execution({ attempt: 6 }));
  expect(await calling).toEqual({ kind: 'failed' });
  expect(await asked(simulator)).toBe(before);
  const calls = await listModelCalls(sql, { conversationId: turn.conversationId });
  expect(calls.at(-1)?.failure).toMatchObject({ kind: 'permanent', evidence: 'tries_without_report' });
});

test('a call that its worker cannot make is unpaid, also once another worker was answered, and fails after seven retries', async () => {
  const turn = await startTurn(sql, 'Say hello');
  const input = { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId) };
  const dependencies = activityDependencies(sql, { simulatorUrl: simulator.url });
  const lacking = { ...dependencies, modelClient: createModelClients([]) };
  await expect(callModel(lacking, input, execution())).rejects.toMatchObject({ type: 'ModelCall.not_sent' });
  await callModel(dependencies, input, execution({ attempt: 2 }));
  const { usage } = await getTurn(sql, turn.turnId);
  expect(usage.modelCalls).toBe(1);
  expect((await tries(turn.conversationId)).map(({ state, cost }) => [state, cost !== 0])).toEqual([
    ['failed', false],
    ['answered', true],
  ]);
  const other = await startTurn(sql, 'Say hello');
  const never = { turn: other, callNumber: 1, headEntryId: await headOf(sql, other.conversationId) };
  for (let attempt = 1; attempt <= 7; attempt += 1)
    await expect(callModel(lacking, never, execution({ attempt }))).rejects.toMatchObject({
      type: 'ModelCall.not_sent',
    });
  expect(await callModel(lacking, never, execution({ attempt: 8 }))).toEqual({ kind: 'failed' });
});

test('an answer that Postgres refuses for good is counted as paid, and bought seven times more at most', async () => {
  const turn = await startTurn(sql, 'Say hello');
  const input = { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId) };
  const dependencies = activityDependencies(sql, { simulatorUrl: simulator.url });
  const before = await asked(simulator);
  const broken = await diskFull(sql, 'insert on entries', '22000');
  for (let attempt = 1; attempt <= 7; attempt += 1)
    await expect(callModel(dependencies, input, execution({ attempt }))).rejects.toMatchObject({
      type: 'ModelCall.not_stored',
    });
  expect(await callModel(dependencies, input, execution({ attempt: 8 }))).toEqual({ kind: 'failed' });
  await broken.end();
  const { usage } = await getTurn(sql, turn.turnId);
  expect([usage.modelCalls, (await asked(simulator)) - before]).toEqual([8, 8]);
});

/** Not shorter than that, and longer by no more than what calls of the same wait are spread over. */
function expectSpread(actual: unknown, milliseconds: number): void {
  expect(actual).toBeGreaterThanOrEqual(milliseconds);
  expect(actual).toBeLessThanOrEqual(Math.ceil(milliseconds * 1.1));
}

/** What comes of one try: how long Temporal is told to wait, or what the activity returned. */
async function tryOnce(turn: Awaited<ReturnType<typeof startTurn>>, callNumber = 1, simulatorUrl = simulator.url) {
  const headEntryId = await headOf(sql, turn.conversationId);
  const dependencies = activityDependencies(sql, { simulatorUrl });
  try {
    return (await callModel(dependencies, { turn, callNumber, headEntryId }, execution())).kind;
  } catch (error) {
    return (error as ApplicationFailure).nextRetryDelay;
  }
}

test.each(['HTTP 503', 'ECONNREFUSED'])(
  'a model server that fails with %s is asked again after 1, 2, 4, 8 and 16 s, and the eighth failure ends the call',
  async (failing) => {
    const turn = await startTurn(sql, 'Say hello');
    const refusing = failing === 'ECONNREFUSED' ? `http://127.0.0.1:${await freePort()}` : undefined;
    if (refusing === undefined) await fault(simulator, { kind: 'server_error', status: 503, times: 8 });
    for (const expected of [1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 16_000, 'failed'])
      expect(await tryOnce(turn, 1, refusing)).toBe(expected);
    expect((await listModelCalls(sql, turn))[7]?.failure?.evidence).toContain(failing);
  },
);

test('rate limits use up none of the tries, and one that is said again and again is waited for longer each time', async () => {
  const turn = await startTurn(sql, 'Say hello');
  await fault(simulator, { kind: 'rate_limit', retryAfterSeconds: 1, times: 3 });
  for (const milliseconds of [1_000, 1_000, 2_000]) expectSpread(await tryOnce(turn), milliseconds);
  await fault(simulator, { kind: 'server_error', status: 503, times: 7 });
  for (let number = 0; number < 7; number += 1) expect(await tryOnce(turn)).toBeTypeOf('number');
  expect(await tryOnce(turn)).toBe('answered');
  const calls = await listModelCalls(sql, { conversationId: turn.conversationId });
  expect(calls.filter(({ failure }) => failure?.kind === 'rate_limited')).toHaveLength(3);
});

test.each([
  ['rate_limit', { retryAfterSeconds: 1 }],
  ['server_error', { status: 503 }],
])(
  'an empty answer after two failures of the kind %s is asked for again, and the third empty one is the last',
  async (kind, options) => {
    const turn = await startTurn(sql, 'Say hello');
    await fault(simulator, { kind, ...options, times: 2 });
    for (let number = 0; number < 2; number += 1) expect(await tryOnce(turn)).toBeTypeOf('number');
    await fault(simulator, { kind: 'empty_answer', times: 3 });
    expect([await tryOnce(turn), await tryOnce(turn)]).toEqual([expect.any(Number), expect.any(Number)]);
    expect(await tryOnce(turn)).toBe('failed');
  },
);

test('R12 R29 a request that lacks a pinned text is never sent: no try is registered', async () => {
  const turn = await startTurn(sql, 'Say hello', { rules: text('Never say a name.') });
  const [note] = await listEntries(sql, { conversationId: turn.conversationId, kinds: ['note'] });
  // No pass clears it; a faulty one that did would take it out of the request.
  const measurements = { ...NO_MEASUREMENTS, letters: 1 };
  const operations: readonly Operation[] = [{ entryId: note?.id ?? '', kind: 'clear', measurements }];
  const planned = await plan(
    sql,
    turn,
    planWithCut(1, { firstKeptSequence: null, coveredThroughSequence: null, parts: [], operations }),
  );
  await commitCompaction(sql, commitRequest(turn, planned.compaction.compactionId, { summary: null }));
  const headEntryId = await headOf(sql, turn.conversationId);
  const before = await asked(simulator);
  const calling = callModel(
    activityDependencies(sql, { simulatorUrl: simulator.url }),
    { turn, callNumber: 1, headEntryId },
    execution(),
  );
  await expect(calling).rejects.toMatchObject({ code: 'pinned_text_missing' });
  expect(await asked(simulator)).toBe(before);
  expect(await tries(turn.conversationId)).toEqual([]);
});

test('a call that its worker gives up when it is shut down is counted by its estimate, once, beside the one that was answered', async () => {
  const turn = await startTurn(sql, 'Say hello');
  const input = { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId) };
  const hanging = await startHttpServer(() => undefined);
  onTestFinished(() => hanging.close());
  const shutdown = new AbortController();
  const given = callModel(
    activityDependencies(sql, { simulatorUrl: hanging.url }),
    input,
    execution({ signal: shutdown.signal }),
  );
  await waitUntil('the model is asked', () => hanging.requests.length === 1);
  shutdown.abort();
  await expect(given).rejects.toThrow();
  await callModel(activityDependencies(sql, { simulatorUrl: simulator.url }), input, execution({ attempt: 2 }));
  const [lost, answered] = await tries(turn.conversationId);
  expect(lost).toMatchObject({ attempt: 1, state: 'failed' });
  expect(lost?.input).toBeGreaterThan(0);
  expect(lost?.cost).toBeGreaterThan(0);
  const { usage } = await getTurn(sql, turn.turnId);
  expect(usage).toMatchObject({ modelCalls: 2, inputTokens: (lost?.input ?? 0) + (answered?.input ?? 0) });
  expect(usage.cost).toBeCloseTo((lost?.cost ?? 0) + (answered?.cost ?? 0), 12);
  expect((await verify(sql, { conversationId: turn.conversationId })).repeatedCalls).toMatchObject([{ tries: 2 }]);
});

test('a server that is out and names a time is asked again at the latest after five minutes, however often it is: no retry is used up', async () => {
  const server = await startHttpServer((_, response) => response.writeHead(503, { 'retry-after': '604800' }).end());
  onTestFinished(() => server.close());
  const turn = await startTurn(sql, 'Say hello');
  const call = { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId) };
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  for (let attempt = 1; attempt <= 9; attempt += 1)
    await expect(callModel(dependencies, call, execution({ attempt }))).rejects.toMatchObject({
      message: 'waits for sim: outage',
      nextRetryDelay: 300_000,
    });
  expect(server.requests).toHaveLength(9);
});
