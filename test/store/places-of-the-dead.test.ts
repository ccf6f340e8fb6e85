import { expect, test } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { newId } from '../../src/store/database/ids.ts';
import { pauseProvider } from '../../src/store/providers/provider-pauses.ts';
import { askForPlace, releasePlace, renewPlace } from '../../src/store/providers/provider-queue.ts';
import type { ProviderCapacity, QueuedCall, QueuePlace } from '../../src/store/providers/provider-queue.ts';
import { useTestStore } from './support/store-builders.ts';

let sql: Database;
useTestStore((store) => ({ sql } = store));

const ONE = { concurrentCalls: 1, tokensPerMinute: null };

/** Calls of a provider of their own, each of another conversation. */
function providerWith(capacity: ProviderCapacity = ONE) {
  const providerKey = newId();
  return {
    providerKey,
    call: (tokens = 10): QueuedCall => {
      const by = { runId: 'run', activityId: newId(), attempt: 1 };
      return { providerKey, conversationId: newId(), callKey: newId(), holder: newId(), by, tokens };
    },
    ask: async (call: QueuedCall): Promise<QueuePlace['kind']> => (await askForPlace(sql, call, capacity)).kind,
  };
}

/** Temporal's next attempt of the call's activity. */
function retryOf({ by, ...call }: QueuedCall): QueuedCall {
  return { ...call, holder: newId(), by: { ...by, attempt: by.attempt + 1 } };
}

/** So much time passes for the provider's calls; those that wait are there all the same. */
async function pass({ providerKey }: Pick<QueuedCall, 'providerKey'>, seconds: number): Promise<void> {
  await sql`
    update provider_calls set requested_at = requested_at - make_interval(secs => ${seconds}),
      granted_at = granted_at - make_interval(secs => ${seconds}), lease_until = lease_until - make_interval(secs => ${seconds}),
      seen_at = case when granted_at is null then seen_at else seen_at - make_interval(secs => ${seconds}) end
    where provider_key = ${providerKey} and released_at is null`;
}

test('a call whose worker died and whose place was given away meanwhile waits when it asks again, and has its turn before younger ones', async () => {
  const { call, ask } = providerWith();
  const [dead, other, younger] = [call(), call(), call()];
  expect(await ask(dead)).toBe('granted');
  await pass(dead, 35);
  expect(await ask(other)).toBe('granted');
  expect(await ask(younger)).toBe('queued');
  const retry = retryOf(dead);
  expect(await ask(retry)).toBe('queued');
  // One conversation that was served goes behind one that never was; among equals the one that asked first is next.
  await sql`update provider_calls set conversation_id = ${dead.conversationId} where call_key = ${younger.callKey}`;
  await releasePlace(sql, other);
  expect(await ask(younger)).toBe('queued');
  expect(await ask(retry)).toBe('granted');
});

/** A call that got a place while it was away, and another one that waits behind it. */
async function grantedWhileAway() {
  const { call, ask } = providerWith();
  const [running, away, other] = [call(), call(), call()];
  expect(await ask(running)).toBe('granted');
  expect(await ask(away)).toBe('queued');
  await releasePlace(sql, running);
  // Hands the place to the older one.
  expect(await ask(other)).toBe('queued');
  return { call, ask, away, other };
}

test('a place that was given to a call while it was away and is over gives it no second one', async () => {
  const { ask, away, other } = await grantedWhileAway();
  await pass(away, 35);
  expect(await ask(other)).toBe('granted');
  expect(await ask({ ...away, again: true })).toBe('queued');
  await releasePlace(sql, other);
  expect(await ask({ ...away, again: true })).toBe('granted');
});

test.each([
  ['a moment ago', 6],
  ['longer ago than its lease', 35],
])('of a call whose worker died %s the minute counts both requests', async (_, seconds) => {
  const { call, ask } = providerWith({ concurrentCalls: null, tokensPerMinute: 100 });
  const dead = call(80);
  expect(await ask(dead)).toBe('granted');
  await pass(dead, seconds);
  const retry = retryOf(dead);
  // The first one may have been sent, and counts for the rest of its minute.
  expect(await ask(retry)).toBe('queued');
  await sql`
    update provider_calls set granted_at = granted_at - interval '61 seconds'
    where provider_key = ${dead.providerKey} and granted_at is not null`;
  expect(await ask(retry)).toBe('granted');
  expect(await ask(call(30))).toBe('queued');
});

test('a place that was given to a call before it came back from its wait counts once for the minute', async () => {
  const { call, ask } = providerWith({ concurrentCalls: 1, tokensPerMinute: 100 });
  const [running, away, other] = [call(1), call(60), call(1)];
  expect(await ask(running)).toBe('granted');
  expect(await ask(away)).toBe('queued');
  await releasePlace(sql, running);
  expect(await ask(other)).toBe('queued');
  expect(await ask(retryOf(away))).toBe('granted');
});

test('a call that the provider wants no calls from gives its place up, and waits for it behind the pause', async () => {
  const { providerKey, call, ask } = providerWith();
  const [dead, other] = [call(), call()];
  const pauseFor = (milliseconds: number): Promise<void> =>
    pauseProvider(sql, { providerKey, label: 'example', milliseconds });
  const endPause = async (): Promise<void> =>
    void (await sql`delete from provider_pauses where provider_key = ${providerKey}`);
  expect(await ask(dead)).toBe('granted');
  await pauseFor(60_000);
  expect(await ask(retryOf(dead))).toBe('paused');
  await endPause();
  expect(await ask(other)).toBe('granted');
  const again = retryOf(retryOf(dead));
  expect(await ask(again)).toBe('queued');
  await releasePlace(sql, other);
  // Hands the place to the one that waits, which meets the next pause before it knows.
  expect(await ask({ ...call(), conversationId: dead.conversationId })).toBe('queued');
  await pauseFor(60_000);
  expect(await ask({ ...again, again: true })).toBe('paused');
  await endPause();
  const [held] = await sql<{ places: number }[]>`
    select count(*)::int as places from provider_calls
    where provider_key = ${providerKey} and granted_at is not null and released_at is null`;
  expect(held).toEqual({ places: 0 });
});

test('a call that was frozen for longer than its lease counts again when its worker wakes up: nobody gets a place until both are over', async () => {
  const { call, ask } = providerWith();
  const [frozen, other, third] = [call(), call(), call()];
  expect(await ask(frozen)).toBe('granted');
  await pass(frozen, 35);
  expect(await ask(other)).toBe('granted');
  await renewPlace(sql, frozen);
  await releasePlace(sql, other);
  expect(await ask(third)).toBe('queued');
  await releasePlace(sql, frozen);
  expect(await ask(third)).toBe('granted');
});

test('a call that was frozen renews and gives back nothing of what its next attempt waits for or has', async () => {
  const { call, ask } = providerWith();
  const [frozen, other] = [call(), call()];
  expect(await ask(frozen)).toBe('granted');
  await pass(frozen, 35);
  expect(await ask(other)).toBe('granted');
  const retry = retryOf(frozen);
  expect(await ask(retry)).toBe('queued');
  await renewPlace(sql, frozen);
  expect(await ask({ ...retry, again: true })).toBe('queued');
  await releasePlace(sql, other);
  expect(await ask({ ...retry, again: true })).toBe('granted');
  await releasePlace(sql, frozen);
  expect(await ask(other)).toBe('queued');
});

test('a lease of a clock that was a day ahead gives its call no place that is another one by now', async () => {
  const { ask, away, other } = await grantedWhileAway();
  await pass(away, -86_400);
  expect(await ask(other)).toBe('granted');
  expect(await ask({ ...away, again: true })).toBe('queued');
});
