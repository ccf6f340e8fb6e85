import { expect, onTestFinished, test } from 'vitest';
import { callModel } from '../../src/activities/model/call-model.ts';
import type { ProviderGate } from '../../src/activities/runtime/provider-gate.ts';
import { waitAfterRefusal } from '../../src/activities/runtime/refusal-wait.ts';
import { startSimulator } from '../../src/simulator/index.ts';
import type { Database } from '../../src/store/database/database.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { newId } from '../../src/store/database/ids.ts';
import { fallBack, readSilence } from '../../src/store/turns/fallbacks.ts';
import { findReplaced } from '../../src/store/turns/fences.ts';
import { recordModelFailure, storeAnswer } from '../../src/store/attempts/model-calls.ts';
import { askForPlace, providerKeyOf } from '../../src/store/providers/provider-queue.ts';
import { leaveCall } from '../../src/store/attempts/leave-call.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { verify } from '../../src/verify/verify.ts';
import {
  SNAPSHOT,
  answerWith,
  closeToolCall,
  headOf,
  register,
  startTurn,
  useTestStore,
} from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { ONE, busyProvider, placesOf } from './support/busy-provider.ts';
import type { ProviderWait } from '../../src/turn/provider-wait.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

test('a call that comes back from its wait under another number has its old place, and none is kept for the number that it had', async () => {
  const { dependencies, release, askAnew } = await busyProvider(sql);
  const turn = await startTurn(sql, 'Say hello');
  const headEntryId = await headOf(sql, turn.conversationId);
  const first = { turn, callNumber: 1, headEntryId, steps: 0 };
  expect(await callModel(dependencies, first, execution())).toMatchObject({ kind: 'wait' });
  const younger = await askAnew();
  await release();
  expect(await placesOf(sql, turn.conversationId)).toEqual([{ granted: false }]);
  // Younger, it looks first: the place is the older one's all the same.
  expect((await askAnew()).place.kind).toBe('queued');
  expect(younger.place.kind).toBe('queued');
  expect(await callModel(dependencies, { ...first, callNumber: 2 }, execution())).toMatchObject({ kind: 'answered' });
  expect(await placesOf(sql, turn.conversationId)).toEqual([{ granted: true }]);
});

test('a call that is sent to wait leaves its number for good: an attempt that was frozen stores no answer for it, and is paid', async () => {
  const { dependencies, release } = await busyProvider(sql);
  const turn = await startTurn(sql, 'Say hello');
  const frozen = await register(sql, turn, 1);
  const first = { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId), steps: 0 };
  expect(await callModel(dependencies, first, execution({ attempt: 2 }))).toMatchObject({ kind: 'wait' });
  const late = answerWith(turn, 1, frozen, [{ type: 'text', text: 'late' }]);
  await expect(storeAnswer(sql, late)).rejects.toMatchObject({ code: 'superseded_attempt' });
  const fence = { kind: 'model_call', turn, callNumber: 1, attempt: frozen.attempt } as const;
  expect(await findReplaced(sql, [fence])).toMatchObject([{ code: 'superseded_attempt' }]);
  const { usage } = await getTurn(sql, turn.turnId);
  expect(usage).toMatchObject({ modelCalls: 1, inputTokens: 100 });
  expect(usage.cost).toBeGreaterThan(0);
  await release();
  expect(await callModel(dependencies, { ...first, callNumber: 2 }, execution({ activityId: '2' }))).toMatchObject({
    kind: 'answered',
  });
  const { invariants, repeatedCalls } = await verify(sql, { conversationId: turn.conversationId });
  // The first call was registered without a view.
  const broken = invariants.filter(({ name, breaches }) => breaches.length > 0 && name !== 'view_rebuilds');
  expect(broken).toEqual([]);
  expect(repeatedCalls).toMatchObject([{ turnId: turn.turnId, callNumber: 1, tries: 2 }]);
});

test('an attempt that was frozen in the queue begins no call that was left meanwhile, and chooses no other model for it', async () => {
  const { dependencies, release } = await busyProvider(sql);
  const { modelLimits, policy, summarizer, prices } = SNAPSHOT;
  const fallback = { model: 'other/sim-64k', modelLimits, policy, summarizer, prices };
  const turn = await startTurn(sql, 'Say hello', { snapshot: { fallbacks: [fallback] } });
  // Its request was refused while it was frozen.
  const { attempt } = await register(sql, turn, 1);
  const input = { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId), steps: 0 };
  expect(await callModel(dependencies, input, execution({ attempt: 2 }))).toMatchObject({ kind: 'wait' });
  const replaced = expect.objectContaining({ code: 'superseded_attempt' });
  await expect(callModel(dependencies, input, execution())).rejects.toEqual(replaced);
  // Its result was lost. Still no place: the next one would wait again, or rather go to the fallback.
  expect(await callModel(dependencies, input, execution({ attempt: 3 }))).toEqual({ kind: 'moved' });
  const change = { turn, callNumber: 1, attempt, from: SNAPSHOT.model, to: fallback };
  await expect(fallBack(sql, change)).rejects.toMatchObject({ code: 'superseded_attempt' });
  await release();
  await expect(callModel(dependencies, input, execution())).rejects.toEqual(replaced);
  expect(await callModel(dependencies, input, execution({ attempt: 4 }))).toEqual({ kind: 'moved' });
  expect(await sql`select from model_attempts where turn_id = ${turn.turnId}`).toHaveLength(1);
  expect(await callModel(dependencies, { ...input, callNumber: 2 }, execution({ activityId: '2' }))).toMatchObject({
    kind: 'answered',
  });
  expect((await getTurn(sql, turn.turnId)).model).toBe(SNAPSHOT.model);
});

test('a turn that ends counts what a lost worker asked, and its death is no silence of the model', async () => {
  const turn = await startTurn(sql, 'Say hello');
  await register(sql, turn, 1);
  await sql`update model_attempts set started_at = started_at - interval '1 hour' where turn_id = ${turn.turnId}`;
  await leaveCall(sql, { turn, callNumber: 1, by: execution() });
  expect(await readSilence(sql, { turn, model: SNAPSHOT.model })).toBe(0);
  await register(sql, turn, 2);
  await endTurn(sql, { turn, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall);
  expect((await getTurn(sql, turn.turnId)).usage).toMatchObject({ modelCalls: 2, inputTokens: 200 });
});

test('an answer that comes while the next attempt stands in the queue is taken instead of waiting', async () => {
  const { dependencies } = await busyProvider(sql);
  const turn = await startTurn(sql, 'Say hello');
  const slow = await register(sql, turn, 1);
  const first = { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId), steps: 0 };
  const { providerGate } = dependencies;
  const late: ProviderGate = {
    ...providerGate,
    async enter(call) {
      await storeAnswer(sql, answerWith(turn, 1, slow, [{ type: 'text', text: 'late' }]));
      return providerGate.enter(call);
    },
  };
  const taken = await callModel({ ...dependencies, providerGate: late }, first, execution({ attempt: 2 }));
  expect(taken).toMatchObject({ kind: 'answered' });
  expect(await placesOf(sql, turn.conversationId)).toHaveLength(0);
  expect((await getTurn(sql, turn.turnId)).usage).toMatchObject({ modelCalls: 1 });
});

test('a call that is given to the fallback instead of waiting leaves its place in the queue', async () => {
  const { dependencies } = await busyProvider(sql);
  const { modelLimits, policy, summarizer, prices } = SNAPSHOT;
  const fallback = { model: 'other/sim-64k', modelLimits, policy, summarizer, prices };
  const turn = await startTurn(sql, 'Say hello', { snapshot: { fallbacks: [fallback] } });
  const input = { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId), steps: 0 };
  expect(await callModel(dependencies, input, execution())).toMatchObject({ kind: 'wait' });
  expect(await placesOf(sql, turn.conversationId)).toHaveLength(1);
  const { attempt } = await register(sql, turn, 2);
  const failed = { turn, callNumber: 2, attempt, kind: 'rate_limited', evidence: 'status 429', status: 429 } as const;
  await recordModelFailure(sql, { ...failed, message: null, usage: null, cost: 0, durationMilliseconds: 5 });
  await sql`update model_attempts set started_at = started_at - interval '6 minutes' where turn_id = ${turn.turnId}`;
  const again = await callModel(dependencies, { ...input, callNumber: 3 }, execution());
  expect(again).toMatchObject({ kind: 'fallback' });
  expect(await placesOf(sql, turn.conversationId)).toHaveLength(0);
});

test('a turn that ends keeps no place for the call that it waited with, nor the one that this was given', async () => {
  const { dependencies, release, askAnew } = await busyProvider(sql);
  const turns = await Promise.all([startTurn(sql, 'Say hello'), startTurn(sql, 'Say hello')]);
  for (const turn of turns) {
    const input = { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId), steps: 0 };
    expect(await callModel(dependencies, input, execution())).toMatchObject({ kind: 'wait' });
  }
  const [given, waits] = turns;
  await release();
  const younger = await askAnew();
  expect(younger.place.kind).toBe('queued');
  expect(await placesOf(sql, given.conversationId)).toEqual([{ granted: true }]);
  for (const turn of [waits, given])
    await endTurn(sql, { turn, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall);
  expect(await placesOf(sql, waits.conversationId)).toEqual([]);
  await askAnew();
  const [place] =
    await sql`select granted_at is not null as granted from provider_calls where call_key = ${younger.callKey}`;
  expect(place).toEqual({ granted: true });
});

test('a call that waits some seconds in its worker says so once, until it begins; its place then counts what the provider counted', async () => {
  const simulator = await startSimulator({ port: 0 });
  onTestFinished(() => simulator.close());
  const providerLimits = { tokensPerMinute: 1_000_000 };
  const dependencies = activityDependencies(sql, { simulatorUrl: simulator.url, providerLimits });
  await dependencies.providerGate.pause('sim', 8_000);
  onTestFinished(async () => void (await sql`delete from provider_pauses`));
  const turn = await startTurn(sql, 'Say hello');
  const input = { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId), steps: 0 };
  const answer = await callModel(dependencies, input, execution());
  const events = await sql<{ kind: string; data: object }[]>`
    select kind, data from events where conversation_id = ${turn.conversationId} order by number`;
  expect(events.at(-3)?.data).toMatchObject({ reason: 'rate_limit', provider: 'sim', holdsWorker: true });
  expect(events.map(({ kind }) => kind).slice(-3)).toEqual([
    'turn_waiting',
    'model_call_started',
    'model_call_answered',
  ]);
  const [place] = await sql<{ tokens: number }[]>`
    select tokens::float8 from provider_calls where conversation_id = ${turn.conversationId}`;
  expect(answer).toMatchObject({ kind: 'answered', inputTokens: place?.tokens });
});

test('a call that waits in its worker ends when its turn is taken over, and leaves the queue', async () => {
  const simulator = await startSimulator({ port: 0 });
  onTestFinished(() => simulator.close());
  const dependencies = activityDependencies(sql, {
    simulatorUrl: simulator.url,
    providerLimits: { concurrentCalls: 1 },
  });
  const running = {
    providerKey: providerKeyOf({ name: 'sim', baseUrl: simulator.url, apiKey: 'key' }),
    conversationId: newId(),
    callKey: newId(),
    holder: newId(),
    by: execution(),
    tokens: 10,
  };
  await askForPlace(sql, running, ONE);
  const turn = await startTurn(sql, 'Say hello');
  const input = { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId), steps: 0 };
  const refused = expect(callModel(dependencies, input, execution())).rejects.toMatchObject({ code: 'stale_epoch' });
  await waitUntil('it waits', async () => (await placesOf(sql, turn.conversationId)).length === 1);
  await sql`update conversations set epoch = epoch + 1 where id = ${turn.conversationId}`;
  await refused;
  expect(await placesOf(sql, turn.conversationId)).toEqual([]);
});

test('calls that the provider told the same wait end it at moments of their own, none before it is over', () => {
  const verdict = {
    kind: 'retryable',
    cause: 'rate_limit',
    delayMilliseconds: 20_000,
    evidence: 'status 429',
  } as const;
  const refused = { activity: 'callModel', model: 'sim/x', times: 1 } as const;
  const waits = Array.from({ length: 20 }, () => waitAfterRefusal(verdict, refused));
  const milliseconds = waits.map((wait) => wait.delayMilliseconds);
  expect(new Set(milliseconds).size).toBeGreaterThan(10);
  expect(Math.min(...milliseconds)).toBeGreaterThanOrEqual(20_000);
});

test('a call that waits in its worker for the end of a pause is spread over the time after it', async () => {
  const { providerGate } = activityDependencies(sql, { providerLimits: { concurrentCalls: 1 } });
  onTestFinished(async () => void (await sql`delete from provider_pauses`));
  const told: number[] = [];
  for (let call = 0; call < 20; call += 1) {
    await providerGate.pause('sim', 9_000);
    const stop = new AbortController();
    const onLongWait = ({ delayMilliseconds }: ProviderWait): Promise<void> => {
      told.push(delayMilliseconds);
      stop.abort();
      return Promise.resolve();
    };
    const asked = {
      provider: 'sim',
      conversationId: newId(),
      callKey: newId(),
      by: execution(),
      tokens: 10,
      signal: stop.signal,
    };
    await expect(providerGate.enter({ ...asked, onLongWait })).rejects.toThrow();
  }
  // What is left of the pause is no longer than the pause: only its spread is.
  expect(Math.max(...told)).toBeGreaterThan(9_000);
});

test.each([
  ['with limits', { concurrentCalls: 1 }],
  ['without limits', {}],
])(
  'a call of a provider %s that waits in its workflow for the end of a pause is spread over five seconds at most',
  async (_, providerLimits) => {
    const { providerGate } = activityDependencies(sql, { providerLimits });
    onTestFinished(async () => void (await sql`delete from provider_pauses`));
    const { signal } = new AbortController();
    const waits: number[] = [];
    for (let call = 0; call < 60; call += 1) {
      await providerGate.pause('sim', 600_000);
      const asked = { provider: 'sim', conversationId: newId(), callKey: newId(), by: execution(), tokens: 10, signal };
      const pass = await providerGate.enter(asked);
      if (pass.kind === 'wait') waits.push(pass.delayMilliseconds);
    }
    expect(waits).toHaveLength(60);
    expect(Math.max(...waits) - 600_000).toSatisfy((spread: number) => spread > 0 && spread <= 5_000);
  },
);
