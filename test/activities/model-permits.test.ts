import { expect, onTestFinished, test } from 'vitest';
import { callModel } from '../../src/activities/model/call-model.ts';
import { summarize } from '../../src/activities/compaction/summarize.ts';
import { createModelPermits, waitAfterRefusal } from '../../src/activities/runtime/model-permits.ts';
import type { ModelPermits } from '../../src/activities/runtime/model-permits.ts';
import { startSimulator } from '../../packages/simulator/src/index.ts';
import { storeAnswer } from '../../src/store/attempts/model-calls.ts';
import { newId } from '../../src/store/database/ids.ts';
import { observeWrites } from '../../src/activities/runtime/observe-writes.ts';
import { claimPermit, providerKeyOf, releasePermit } from '../../src/store/providers/permits.ts';
import type { PermitRequest } from '../../src/store/providers/permits.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { plan } from '../store/support/compaction-builders.ts';
import {
  SNAPSHOT,
  answerWith,
  closeToolCall,
  headOf,
  register,
  startTurn,
  step,
  useTestStore,
} from '../store/support/store-builders.ts';
import { listModelCalls } from '../support/model-calls.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';

const { sql } = useTestStore();

const ONE = { concurrentCalls: 1, tokensPerMinute: null };
const WAITS = { type: 'Waiting', message: 'waits for sim: call_limit' };
const SUPERSEDED = { code: 'superseded_attempt' };

const { modelLimits, policy, summarizer, prices } = SNAPSHOT;
const FALLBACK = { model: 'other/sim-64k', modelLimits, policy, summarizer, prices };

/** A provider that takes one call at a time. */
async function limitedProvider() {
  const simulator = await startSimulator({ port: 0 });
  onTestFinished(() => simulator.close());
  const providerKey = providerKeyOf({ name: 'sim', baseUrl: simulator.url, apiKey: 'key' });
  const other = (): PermitRequest => {
    const by = execution({ activityId: newId() });
    return { providerKey, conversationId: newId(), callKey: newId(), by, tokens: 10 };
  };
  const ask = async (request: PermitRequest) => (await claimPermit(sql, request, ONE)).kind;
  const dependencies = activityDependencies(sql, {
    simulatorUrl: simulator.url,
    providerLimits: { concurrentCalls: 1 },
  });
  return { dependencies, other, ask };
}

/** One whose only permit another call holds. */
async function busyProvider() {
  const provider = await limitedProvider();
  const running = provider.other();
  expect(await provider.ask(running)).toBe('granted');
  return { ...provider, release: () => releasePermit(sql, running) };
}

async function firstCallOf(turn: TurnReference) {
  return { turn, callNumber: 1, headEntryId: await headOf(sql, turn.conversationId) };
}

async function permitsOf(turn: TurnReference) {
  return sql<{ granted: boolean }[]>`
    select granted_at is not null as granted from provider_calls where conversation_id = ${turn.conversationId}`;
}

/** Runs while nobody can read what messages say. */
async function withoutContents(run: () => Promise<unknown>): Promise<unknown> {
  return sql.begin(async (open) => {
    await open`set local role none`;
    await open`set local idle_in_transaction_session_timeout = 0`;
    await open`lock table contents in access exclusive mode`;
    let result: unknown;
    void run().then(
      (value) => (result = value),
      (error: unknown) => (result = error),
    );
    await waitUntil('it ends without reading', () => result !== undefined);
    return result;
  });
}

test('a call and a part that are next in the queue are asked again soon, read nothing of what they send, and keep their turn', async () => {
  const { dependencies, other, ask, release } = await busyProvider();
  const turn = await startTurn(sql, 'Say hello');
  const call = await firstCallOf(turn);
  const waiting = await withoutContents(() => callModel(dependencies, call, execution()));
  expect(waiting).toMatchObject(WAITS);
  expect((waiting as { nextRetryDelay: number }).nextRetryDelay).toBeLessThanOrEqual(200);
  const older = await startTurn(sql, 'Say hello');
  for (const callNumber of [1, 2]) await step(sql, older, callNumber);
  const { compactionId } = (await plan(sql, older)).compaction;
  const part = { turn: older, compactionId, part: 1 };
  expect(await withoutContents(() => summarize(dependencies, part, execution()))).toMatchObject(WAITS);
  expect((await getTurn(sql, turn.turnId)).waitReason).toBe('call_limit');
  await release();
  expect(await ask(other())).toBe('queued');
  expect(await callModel(dependencies, call, execution({ attempt: 2 }))).toMatchObject({ kind: 'answered' });
  expect((await getTurn(sql, turn.turnId)).waitReason).toBeNull();
  expect((await summarize(dependencies, part, execution({ attempt: 2 }))).kind).toBe('summarized');
  expect((await getTurn(sql, older.turnId)).waitReason).toBeNull();
});

test('a call at the front of the queue takes the permit that becomes free in the same attempt', async () => {
  const { dependencies, release } = await busyProvider();
  const turn = await startTurn(sql, 'Say hello');
  const asking = callModel(dependencies, await firstCallOf(turn), execution());
  await waitUntil('it waits', async () => (await permitsOf(turn)).length === 1);
  await release();
  expect(await asking).toMatchObject({ kind: 'answered' });
});

test('a call far from the front asks once, however many calls the provider takes at a time', async () => {
  const limits = { concurrentCalls: 10 };
  const provider = { name: 'sim', protocol: 'anthropic', baseUrl: newId(), apiKey: 'key', limits } as const;
  const other = () => {
    const by = execution({ activityId: newId() });
    return { provider: 'sim', conversationId: newId(), callKey: newId(), by, tokens: 10 };
  };
  const before = Array.from({ length: 18 }, other);
  for (const call of before)
    await claimPermit(sql, { ...call, providerKey: providerKeyOf(provider) }, { ...ONE, ...limits });
  const asked: unknown[] = [];
  const database = observeWrites(sql, (writes) => asked.push(...writes.filter((each) => each.startsWith('insert'))));
  const permits = createModelPermits({ database, providers: [provider] });
  expect(await permits.acquire(other())).toMatchObject({ kind: 'wait' });
  expect(asked).toHaveLength(1);
});

test('the permit is given back before the answer is stored, with what the provider counted', async () => {
  const { dependencies } = await limitedProvider();
  const order: unknown[] = [];
  const modelPermits: ModelPermits = {
    ...dependencies.modelPermits,
    async acquire(call) {
      const permit = await dependencies.modelPermits.acquire(call);
      if (permit.kind === 'wait') return permit;
      const release = (reported?: number | null) => {
        if (reported !== undefined) order.push({ reported });
        return permit.release(reported);
      };
      return { kind: 'granted', release };
    },
  };
  const reachCrashPoint = (point: string) => void order.push(point);
  const database = observeWrites(sql, (writes) => void (writes.includes('insert entries') && order.push('stored')));
  const input = await firstCallOf(await startTurn(sql, 'Say hello'));
  const answer = await callModel({ ...dependencies, database, modelPermits, reachCrashPoint }, input, execution());
  expect(answer.kind).toBe('answered');
  const [{ usage } = { usage: null }] = await listModelCalls(sql, input.turn);
  const reported = usage?.input ?? null;
  expect(reported).toBeGreaterThan(0);
  expect(order.slice(0, 3)).toEqual(['answered', { reported }, 'stored']);
});

test('a call that takes longer than the lease of its permit keeps the permit until it is over', async () => {
  /** Renewed each second: a machine that is busy for one or two of them must not lose the permit. */
  const leaseSeconds = 3;
  const { other, ask } = await limitedProvider();
  const call = other();
  const baseUrl = 'http://127.0.0.1:1';
  const provider = {
    name: 'sim',
    protocol: 'anthropic',
    baseUrl,
    apiKey: 'key',
    limits: { concurrentCalls: 1 },
  } as const;
  const permits = createModelPermits({ database: sql, providers: [provider], leaseSeconds });
  const permit = await permits.acquire({ ...call, by: execution(call.by), provider: 'sim' });
  if (permit.kind !== 'granted') throw new Error('the first call has to wait');
  onTestFinished(() => permit.release());
  await waitUntil('the first lease is over', async () => {
    const [row] = await sql<{ over: boolean }[]>`
      select holdfast_now() > granted_at + make_interval(secs => ${leaseSeconds + 1}) as over
      from provider_calls where call_key = ${call.callKey}`;
    return row?.over === true;
  });
  const waiting = { ...other(), providerKey: providerKeyOf(provider) };
  expect(await ask(waiting)).toBe('queued');
  await permit.release();
  expect(await ask(waiting)).toBe('granted');
});

test('an attempt that finds the answer stored gives back the permit that the one before died with', async () => {
  const { dependencies, other, ask } = await limitedProvider();
  const turn = await startTurn(sql, 'Say hello');
  const input = await firstCallOf(turn);
  const modelPermits: ModelPermits = {
    ...dependencies.modelPermits,
    async acquire(call) {
      await dependencies.modelPermits.acquire(call);
      throw new Error('the worker died');
    },
  };
  await expect(callModel({ ...dependencies, modelPermits }, input, execution())).rejects.toThrow('the worker died');
  await storeAnswer(sql, answerWith(turn, 1, await register(sql, turn, 1), [{ type: 'text', text: 'stored' }]));
  const waiting = other();
  expect(await ask(waiting)).toBe('queued');
  expect(await callModel(dependencies, input, execution({ attempt: 2 }))).toMatchObject({ kind: 'answered' });
  expect(await ask(waiting)).toBe('granted');
});

test('a turn that ends keeps no permit, and no turn in the queue', async () => {
  const { dependencies, other, ask } = await busyProvider();
  const turn = await startTurn(sql, 'Say hello');
  await expect(callModel(dependencies, await firstCallOf(turn), execution())).rejects.toMatchObject(WAITS);
  const held = await startTurn(sql, 'Say hello');
  await sql`update provider_calls set conversation_id = ${held.conversationId} where granted_at is not null`;
  const younger = other();
  expect(await ask(younger)).toBe('queued');
  for (const each of [turn, held])
    await endTurn(sql, { turn: each, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall);
  expect(await permitsOf(turn)).toEqual([]);
  expect(await ask(younger)).toBe('granted');
});

test('a call that waits too long goes to the fallback: it leaves the queue, and a frozen attempt of it is paid and stores no answer', async () => {
  const { dependencies } = await busyProvider();
  const turn = await startTurn(sql, 'Say hello', { snapshot: { fallbacks: [FALLBACK] } });
  const frozen = await register(sql, turn, 1);
  const input = await firstCallOf(turn);
  const waiting = callModel(dependencies, input, execution({ attempt: 2 }));
  await expect(waiting).rejects.toMatchObject(WAITS);
  await dependencies.modelPermits.pause('sim', 3_600_000, sql as never);
  onTestFinished(async () => void (await sql`delete from provider_pauses`));
  expect(await callModel(dependencies, input, execution({ attempt: 3 }))).toMatchObject({ kind: 'fallback' });
  expect(await permitsOf(turn)).toEqual([]);
  const late = answerWith(turn, 1, frozen, [{ type: 'text', text: 'late' }]);
  await expect(storeAnswer(sql, late)).rejects.toMatchObject(SUPERSEDED);
  const { usage, model } = await getTurn(sql, turn.turnId);
  expect(usage).toMatchObject({ modelCalls: 1, inputTokens: 100 });
  expect(model).toBe(FALLBACK.model);
  // Its result was lost: the next attempt tells the same.
  expect(await callModel(dependencies, input, execution({ attempt: 4 }))).toMatchObject({ kind: 'fallback' });
});

test('a pause that may end before its time is looked at each minute, an outage that names a time each five minutes', async () => {
  const day = { kind: 'retryable', repair: 'wait', delayMilliseconds: 86_400_000, evidence: 'status' } as const;
  expect(waitAfterRefusal({ ...day, cause: 'rate_limit' }, 1)).toMatchObject({ retryMilliseconds: 60_000 });
  expect(waitAfterRefusal({ ...day, cause: 'outage' }, 1)).toMatchObject({ retryMilliseconds: 300_000 });
  // A third wait is long enough to be told.
  const third = waitAfterRefusal({ ...day, delayMilliseconds: 1_000, cause: 'outage' }, 3);
  expect(third.delayMilliseconds).toBeGreaterThanOrEqual(2_000);
  const { dependencies } = await limitedProvider();
  await dependencies.modelPermits.pause('sim', 86_400_000, sql as never);
  onTestFinished(async () => void (await sql`delete from provider_pauses`));
  const waiting = callModel(dependencies, await firstCallOf(await startTurn(sql, 'Say hello')), execution());
  await expect(waiting).rejects.toMatchObject({ type: 'Waiting', nextRetryDelay: 60_000 });
});
