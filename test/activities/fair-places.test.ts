import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { callModel } from '../../src/activities/model/call-model.ts';
import { createProviderGate } from '../../src/activities/runtime/provider-gate.ts';
import type { ProviderGate } from '../../src/activities/runtime/provider-gate.ts';
import { startSimulator } from '../../src/simulator/index.ts';
import type { Database } from '../../src/store/database/database.ts';
import { newId } from '../../src/store/database/ids.ts';
import { headOf, startTurn, useTestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';

const GREEDY_CALLS = 200;

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

/** A call as its workflow makes it: sent away, it comes back when it was told to. */
async function callThrough(gate: ProviderGate, conversationId: string, work: () => Promise<void>, signal: AbortSignal) {
  const call = { provider: 'sim', conversationId, callKey: newId(), by: execution(), tokens: 10, signal };
  for (;;) {
    const pass = await gate.enter(call);
    if (pass.kind === 'wait') {
      await delay(pass.delayMilliseconds, undefined, { signal });
      continue;
    }
    await work();
    return pass.leave();
  }
}

test('while 200 calls of one conversation wait for their provider, the model call of another waits for two of them at most', async () => {
  const simulator = await startSimulator({ port: 0 });
  onTestFinished(() => simulator.close());
  const { url: baseUrl } = simulator;
  const provider = {
    name: 'sim',
    protocol: 'anthropic',
    baseUrl,
    apiKey: 'key',
    limits: { concurrentCalls: 1 },
  } as const;
  const gateOf = () => createProviderGate({ database: sql, providers: [provider], concurrentWork: 20 });
  const greedy = newId();
  const waiting = async (conversationId: string): Promise<number> =>
    (await sql`select from provider_calls where conversation_id = ${conversationId} and granted_at is null`).length;

  const stop = new AbortController();
  // Each call that waits listens.
  setMaxListeners(GREEDY_CALLS, stop.signal);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const gate = gateOf();
  const calls = Array.from({ length: GREEDY_CALLS }, () => callThrough(gate, greedy, () => released, stop.signal));
  const ended = Promise.allSettled(calls);
  onTestFinished(async () => {
    release();
    stop.abort();
    await ended;
  });
  await waitUntil('all but the one that runs wait', async () => (await waiting(greedy)) === GREEDY_CALLS - 1);

  const turn = await startTurn(sql, 'Say hello');
  const headEntryId = await headOf(sql, turn.conversationId);
  // Its worker is another one.
  const dependencies = { ...activityDependencies(sql, { simulatorUrl: baseUrl }), providerGate: gateOf() };
  const answering = callModel(dependencies, { turn, callNumber: 1, headEntryId, steps: 0 }, execution());
  await waitUntil('it waits beside them', async () => (await waiting(turn.conversationId)) === 1);
  release();
  expect(await answering).toMatchObject({ kind: 'answered' });
  const [row] = await sql<{ passed: number; behind: number }[]>`
    select count(*) filter (where g.granted_at > o.requested_at and g.granted_at <= o.granted_at)::int as passed,
      count(*) filter (where coalesce(g.granted_at > o.granted_at, true))::int as behind
    from provider_calls o, provider_calls g
    where o.conversation_id = ${turn.conversationId} and g.conversation_id = ${greedy}`;
  expect(row?.passed).toBeLessThanOrEqual(2);
  // Nearly all of them asked before it and had their turn behind it.
  expect(row?.behind).toBeGreaterThanOrEqual(GREEDY_CALLS - 3);
});
