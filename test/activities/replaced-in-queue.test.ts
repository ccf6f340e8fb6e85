import { expect, onTestFinished, test } from 'vitest';
import { callModel } from '../../src/activities/model/call-model.ts';
import type { GateCall, ProviderGate } from '../../src/activities/runtime/provider-gate.ts';
import { queueKeyOf } from '../../src/activities/runtime/pass-gate.ts';
import { summarize } from '../../src/activities/compaction/summarize.ts';
import { startSimulator } from '../../src/simulator/index.ts';
import type { Database } from '../../src/store/database/database.ts';
import { newId } from '../../src/store/database/ids.ts';
import { storeAnswer } from '../../src/store/attempts/model-calls.ts';
import { askForPlace, providerKeyOf } from '../../src/store/providers/provider-queue.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { plan } from '../store/support/compaction-builders.ts';
import {
  FIRST_ATTEMPT,
  SNAPSHOT,
  answerWith,
  headOf,
  register,
  startTurn,
  step,
  useTestStore,
} from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { ONE, busyProvider, placesOf } from './support/busy-provider.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

const SUPERSEDED = { code: 'superseded_attempt' };

async function limitedProvider() {
  const simulator = await startSimulator({ port: 0 });
  onTestFinished(() => simulator.close());
  const worker = () =>
    activityDependencies(sql, { simulatorUrl: simulator.url, providerLimits: { concurrentCalls: 1 } });
  const providerKey = providerKeyOf({ name: 'sim', baseUrl: simulator.url, apiKey: 'key' });
  const other = {
    providerKey,
    conversationId: newId(),
    callKey: newId(),
    holder: newId(),
    by: execution(),
    tokens: 10,
  };
  /** The call of another conversation asks for the place. */
  const ask = async () => (await askForPlace(sql, other, ONE)).kind;
  return { worker, providerKey, ask };
}

async function firstCallOf(turn: TurnReference) {
  return { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId), steps: 0 };
}

async function holderOf(turn: TurnReference): Promise<string | null> {
  const [row] = await sql<{ holder: string | null }[]>`
    select holder from provider_calls where conversation_id = ${turn.conversationId}`;
  return row?.holder ?? null;
}

test('an attempt that waits in the queue ends once the next one asks on another worker, which has its place and keeps it', async () => {
  const { worker, ask } = await limitedProvider();
  const { providerGate } = worker();
  await providerGate.pause('sim', 6_000);
  onTestFinished(async () => void (await sql`delete from provider_pauses`));
  const turn = await startTurn(sql, 'Say hello');
  const input = await firstCallOf(turn);
  const replaced = expect(callModel(worker(), input, execution())).rejects.toMatchObject(SUPERSEDED);
  await waitUntil('it waits', async () => (await holderOf(turn)) !== null);
  const before = await holderOf(turn);
  const answering = callModel(worker(), input, execution({ attempt: 2 }));
  await waitUntil('the next one waits', async () => (await holderOf(turn)) !== before);
  await replaced;
  expect(await placesOf(sql, turn.conversationId)).toEqual([{ granted: false }]);
  await sql`delete from provider_pauses`;
  expect(await answering).toMatchObject({ kind: 'answered' });
  expect(await ask()).toBe('granted');
});

test("an attempt that was frozen while it waited is given nothing when it wakes up: the place is the next one's", async () => {
  const { worker, providerKey, ask } = await limitedProvider();
  const turn = await startTurn(sql, 'Say hello');
  const { providerGate } = worker();
  const running = { provider: 'sim', conversationId: newId(), callKey: newId(), by: execution(), tokens: 10 };
  const { signal } = new AbortController();
  const pass = await providerGate.enter({ ...running, signal });
  const call: GateCall = { ...running, conversationId: turn.conversationId, callKey: newId(), signal };
  const waking = expect(providerGate.enter(call)).rejects.toMatchObject(SUPERSEDED);
  await waitUntil('it waits', async () => (await holderOf(turn)) !== null);
  const next = { ...call, providerKey, holder: newId(), by: execution({ attempt: 2 }) };
  await askForPlace(sql, next, ONE);
  if (pass.kind === 'open') await pass.leave();
  await waking;
  expect((await askForPlace(sql, { ...next, again: true }, ONE)).kind).toBe('granted');
  expect(await ask()).toBe('queued');
});

test('an attempt that was replaced while it waited for the end of a pause leaves its successor the call, and changes no model', async () => {
  const dependencies = activityDependencies(sql, { providerLimits: {} });
  const { modelLimits, policy, summarizer, prices } = SNAPSHOT;
  const fallback = { model: 'other/sim-64k', modelLimits, policy, summarizer, prices };
  const turn = await startTurn(sql, 'Say hello', { snapshot: { fallbacks: [fallback] } });
  const input = await firstCallOf(turn);
  const successor = await register(sql, turn, 1, { ...FIRST_ATTEMPT, attempt: 2 });
  await dependencies.providerGate.pause('sim', 3_600_000);
  onTestFinished(async () => void (await sql`delete from provider_pauses`));
  await expect(callModel(dependencies, input, execution())).rejects.toMatchObject(SUPERSEDED);
  expect((await getTurn(sql, turn.turnId)).model).toBe(SNAPSHOT.model);
  await storeAnswer(sql, answerWith(turn, 1, successor, [{ type: 'text', text: 'bought once' }]));
  expect((await getTurn(sql, turn.turnId)).usage).toMatchObject({ modelCalls: 1 });
});

test('the place is given back before the answer is stored, with what the provider counted', async () => {
  const { worker } = await limitedProvider();
  const dependencies = worker();
  const order: unknown[] = [];
  const providerGate: ProviderGate = {
    ...dependencies.providerGate,
    async enter(call) {
      const pass = await dependencies.providerGate.enter(call);
      if (pass.kind === 'wait') return pass;
      const leave = (reported?: number | null) => {
        if (reported !== undefined) order.push({ reported });
        return pass.leave(reported);
      };
      return { kind: 'open', leave };
    },
  };
  const reachCrashPoint = (point: string) => void order.push(point);
  const input = await firstCallOf(await startTurn(sql, 'Say hello'));
  const answer = await callModel({ ...dependencies, providerGate, reachCrashPoint }, input, execution());
  const reported = answer.kind === 'answered' ? answer.inputTokens : null;
  expect(reported).toBeGreaterThan(0);
  const from = order.indexOf('callModel:answered');
  expect(order.slice(from, from + 3)).toEqual(['callModel:answered', { reported }, 'callModel:stored']);
});

test('an attempt that finds the answer stored gives back the place that the one before died with', async () => {
  const { worker, providerKey, ask } = await limitedProvider();
  const turn = await startTurn(sql, 'Say hello');
  const input = await firstCallOf(turn);
  const dead = {
    providerKey,
    conversationId: turn.conversationId,
    callKey: queueKeyOf(input, 'sim'),
    holder: newId(),
    by: execution(),
    tokens: 10,
  };
  expect((await askForPlace(sql, dead, ONE)).kind).toBe('granted');
  await storeAnswer(sql, answerWith(turn, 1, await register(sql, turn, 1), [{ type: 'text', text: 'stored' }]));
  expect(await ask()).toBe('queued');
  expect(await callModel(worker(), input, execution({ attempt: 2 }))).toMatchObject({ kind: 'answered' });
  expect(await ask()).toBe('granted');
});

/** Runs while nobody can read what messages say. */
async function withoutContents(run: () => Promise<unknown>): Promise<unknown> {
  return sql.begin(async (open) => {
    await open`set local role none`;
    await open`lock table contents in access exclusive mode`;
    let result: unknown;
    void run().then(
      (value) => (result = value),
      (error: unknown) => (result = error),
    );
    await waitUntil('it ends without reading', () => result !== undefined, 8_000);
    return result;
  });
}

test('a call that is sent to wait reads nothing of its view, and a part nothing of its originals', async () => {
  const { dependencies } = await busyProvider(sql);
  const turn = await startTurn(sql, 'Say hello');
  const input = await firstCallOf(turn);
  expect(await withoutContents(() => callModel(dependencies, input, execution()))).toMatchObject({ kind: 'wait' });
  for (const callNumber of [2, 3]) await step(sql, turn, callNumber);
  const { compactionId } = (await plan(sql, turn)).compaction;
  const part = { turn, compactionId, part: 1 };
  expect(await withoutContents(() => summarize(dependencies, part, execution()))).toMatchObject({ kind: 'wait' });
});
