import { CancelledFailure } from '@temporalio/common';
import { expect, onTestFinished, test } from 'vitest';
import type { Simulator } from '../../packages/simulator/src/index.ts';
import { listModelCalls } from '../support/model-calls.ts';
import { readPause } from '../../src/store/providers/provider-pauses.ts';
import { providerKeyOf } from '../../src/store/providers/permits.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { startHttpServer } from '../support/http-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { killedBehindWrite } from '../support/worker-deaths.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { cutOffWorker as cutOff } from './support/cut-off-worker.ts';
import { modelCall, summary } from './support/asking-work.ts';
import { useStoreAndSimulator } from './support/store-and-simulator.ts';

let store: TestStore;
let simulator: Simulator;

useStoreAndSimulator((opened) => {
  ({ store, simulator } = opened);
});

interface Refusal {
  readonly status: number;
  readonly body: string;
}

const RATE_LIMIT: Refusal = { status: 429, body: '{"error":{"type":"rate_limit_error","message":"slow down"}}' };
const WAITS = { message: 'waits for sim: rate_limit' };
const BAD_REQUEST: Refusal = { status: 400, body: '{"error":{"type":"invalid_request_error","message":"no"}}' };
const OVERFLOW: Refusal = {
  status: 400,
  body: '{"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"prompt is too long"}}',
};

/** A provider that refuses every call, for a minute where it tells a time. */
async function refusingServer({ status, body }: Refusal) {
  const onCall: { now?: () => void } = {};
  const server = await startHttpServer((_, response) => {
    onCall.now?.();
    const headers = status === 429 ? { 'retry-after': '60' } : {};
    response.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(body);
  });
  onTestFinished(() => server.close());
  const providerKey = providerKeyOf({ name: 'sim', baseUrl: server.url, apiKey: 'key' });
  return { server, onCall, pause: () => readPause(store.sql, providerKey) };
}

function cutOffWorker(simulatorUrl: string) {
  return cutOff(store.url, (database) => activityDependencies(database, { simulatorUrl, providerLimits: {} }));
}

async function triesOf({ conversationId }: TurnReference) {
  const calls = await listModelCalls(store.sql, { conversationId });
  return calls.map(({ state, failure, cost }) => ({ state, kind: failure?.kind, cost }));
}

test.each([
  ['rate_limited', RATE_LIMIT, WAITS],
  ['permanent', BAD_REQUEST, { kind: 'failed' }],
  ['overflow', OVERFLOW, { kind: 'overflow' }],
] as const)(
  'a call that was refused as %s while Postgres was away is stored as refused and unpaid once it is back',
  async (kind, refusal, result) => {
    const { server, onCall, pause } = await refusingServer(refusal);
    const { proxy, dependencies, waits } = await cutOffWorker(server.url);
    onCall.now = () => void proxy.reset();
    const { turn, attempt } = await modelCall(store.sql);
    const calling = attempt(dependencies, execution()).catch((error: unknown) => error);
    await Promise.race([calling, waitUntil('the refusal waits', () => waits.length >= 2)]);
    await proxy.mend();
    expect(await calling).toMatchObject(result);
    expect(await triesOf(turn)).toEqual([{ state: 'failed', kind, cost: 0 }]);
    expect((await pause()) > 0).toBe(kind === 'rate_limited');
    // The next attempt is answered: what was refused counts with it for nothing.
    await attempt(activityDependencies(store.sql, { simulatorUrl: simulator.url }), execution({ attempt: 2 }));
    const [, answered] = await triesOf(turn);
    expect(answered).toMatchObject({ state: 'answered' });
    const { usage } = await getTurn(store.sql, turn.turnId);
    expect(usage).toMatchObject({ modelCalls: 1, cost: answered?.cost });
  },
);

test('a refused call whose activity is given up while Postgres is away is stored as unpaid once it is back', async () => {
  const { server, onCall, pause } = await refusingServer(RATE_LIMIT);
  const { proxy, dependencies, waits } = await cutOffWorker(server.url);
  onCall.now = () => void proxy.reset();
  const { turn, attempt } = await modelCall(store.sql);
  const given = new AbortController();
  const calling = attempt(dependencies, execution({ signal: given.signal })).catch((error: unknown) => error);
  await Promise.race([calling, waitUntil('the refusal waits', () => waits.length >= 2)]);
  given.abort(new CancelledFailure('NOT_FOUND'));
  expect(await triesOf(turn)).toMatchObject([{ state: 'registered' }]);
  await proxy.mend();
  expect(await calling).toMatchObject({ type: 'Waiting' });
  expect(await triesOf(turn)).toEqual([{ state: 'failed', kind: 'rate_limited', cost: 0 }]);
  expect(await pause()).toBeGreaterThan(0);
});

test.each([
  ['a model call', modelCall],
  ['a summary', summary],
] as const)(
  'when a worker dies right behind the refusal of %s, the pause that the provider asked for stands: the next attempt waits',
  async (_, startWork) => {
    const { server, pause } = await refusingServer(RATE_LIMIT);
    const simulated = { simulatorUrl: server.url, providerLimits: {} };
    const dependencies = activityDependencies(store.sql, simulated);
    const { attempt } = await startWork(store.sql);
    const { database } = killedBehindWrite(store.sql, /provider_pauses/u);
    await expect(attempt(activityDependencies(database, simulated), execution())).rejects.toThrow('the worker');
    expect(await pause()).toBeGreaterThan(50_000);
    await expect(attempt(dependencies, execution({ attempt: 2 }))).rejects.toMatchObject(WAITS);
    expect(server.requests).toHaveLength(1);
  },
);

test('a pause that a summary was told while Postgres was away is written once it is back', async () => {
  const { server, onCall, pause } = await refusingServer(RATE_LIMIT);
  const { proxy, dependencies, waits } = await cutOffWorker(server.url);
  onCall.now = () => void proxy.reset();
  const { attempt } = await summary(store.sql);
  const asking = expect(attempt(dependencies, execution())).rejects.toMatchObject(WAITS);
  await Promise.race([asking, waitUntil('the refusal waits', () => waits.length >= 5)]);
  await proxy.mend();
  await asking;
  const left = await pause();
  expect(left).toBeGreaterThan(0);
  // The second and a half and more for which it waited for Postgres counts as paused.
  expect(left).toBeLessThan(58_500);
});
