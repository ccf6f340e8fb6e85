import { expect, test } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { newId } from '../../src/store/database/ids.ts';
import { endPause, listPauses, pauseProvider, readPause } from '../../src/store/providers/provider-pauses.ts';
import {
  askForPlace,
  giveUpPlace,
  leaveQueue,
  providerKeyOf,
  releasePlace,
  renewPlace,
  stepAside,
} from '../../src/store/providers/provider-queue.ts';
import type { HeldPlace, QueuedCall } from '../../src/store/providers/provider-queue.ts';
import { useTestStore } from './support/store-builders.ts';

let sql: Database;
useTestStore((store) => ({ sql } = store));

const ONE = { concurrentCalls: 1, tokensPerMinute: null };

function callOf(providerKey: string, conversationId: string, callKey = newId(), tokens = 10) {
  const by = { runId: 'run', activityId: newId(), attempt: 1 };
  return { providerKey, conversationId, callKey, holder: newId(), by, tokens };
}

test("with two hundred calls of one conversation waiting, another's waits for at most two of them", async () => {
  const key = newId();
  const greedy = newId();
  expect((await askForPlace(sql, callOf(key, greedy), ONE)).kind).toBe('granted');
  await sql`
    insert into provider_calls (id, provider_key, conversation_id, call_key, holder, tokens)
    select gen_random_uuid(), ${key}, ${greedy}, gen_random_uuid()::text, gen_random_uuid(), 10 from generate_series(1, 199)`;
  const other = callOf(key, newId());
  let passed = 0;
  for (;;) {
    // All are there: each looks again, as it does in a worker.
    await sql`update provider_calls set seen_at = holdfast_now() where provider_key = ${key}`;
    if ((await askForPlace(sql, other, ONE)).kind === 'granted') break;
    const [running] = await sql<HeldPlace[]>`
      select call_key as "callKey", holder from provider_calls where provider_key = ${key} and granted_at is not null and released_at is null`;
    if (running === undefined) throw new Error('nobody has the place');
    await releasePlace(sql, running);
    passed += 1;
  }
  expect(passed).toBeLessThanOrEqual(2);
});

test('no more calls run at once than the limit; a place of a dead worker is free after its lease, and who is not there gets none', async () => {
  const key = newId();
  const two = { concurrentCalls: 2, tokensPerMinute: null };
  const [first, second, third, absent] = [1, 2, 3, 4].map(() => callOf(key, newId())) as [
    QueuedCall,
    QueuedCall,
    QueuedCall,
    QueuedCall,
  ];
  expect((await askForPlace(sql, first, two)).kind).toBe('granted');
  expect((await askForPlace(sql, second, two)).kind).toBe('granted');
  expect(await askForPlace(sql, absent, two)).toEqual({ kind: 'queued', waiting: 1, isNext: true });
  expect((await askForPlace(sql, third, two)).kind).toBe('queued');
  await sql`update provider_calls set seen_at = seen_at - interval '1 minute' where call_key = ${absent.callKey}`;
  await sql`update provider_calls set lease_until = holdfast_now() where call_key = ${first.callKey}`;
  expect((await askForPlace(sql, third, two)).kind).toBe('granted');
  expect((await askForPlace(sql, absent, two)).kind).toBe('queued');
});

test('a call keeps its turn while it waits in its workflow, also on a slow machine; one that was stopped leaves the queue', async () => {
  const key = newId();
  const [running, away, younger] = [callOf(key, newId()), callOf(key, newId()), callOf(key, newId())];
  expect((await askForPlace(sql, running, ONE)).kind).toBe('granted');
  expect((await askForPlace(sql, away, ONE)).kind).toBe('queued');
  await sql`update provider_calls set seen_at = seen_at - interval '12 seconds' where call_key = ${away.callKey}`;
  await releasePlace(sql, running);
  expect((await askForPlace(sql, younger, ONE)).kind).toBe('queued');
  expect((await askForPlace(sql, away, ONE)).kind).toBe('granted');
  const stopped = callOf(key, newId());
  await askForPlace(sql, stopped, ONE);
  await leaveQueue(sql, stopped);
  await leaveQueue(sql, away);
  expect((await askForPlace(sql, younger, ONE)).kind).toBe('granted');
});

test('tokens per minute hold calls back, also smaller ones behind; a call above the limit goes alone', async () => {
  const key = newId();
  const capacity = { concurrentCalls: null, tokensPerMinute: 100 };
  const large = callOf(key, newId(), newId(), 500);
  expect((await askForPlace(sql, large, capacity)).kind).toBe('granted');
  const next = callOf(key, newId(), newId(), 60);
  expect((await askForPlace(sql, next, capacity)).kind).toBe('queued');
  await sql`update provider_calls set granted_at = granted_at - interval '61 seconds' where provider_key = ${key} and granted_at is not null`;
  expect((await askForPlace(sql, next, capacity)).kind).toBe('granted');
  expect((await askForPlace(sql, callOf(key, newId(), newId(), 60), capacity)).kind).toBe('queued');
  expect((await askForPlace(sql, callOf(key, newId(), newId(), 1), capacity)).kind).toBe('queued');
});

test('a pause holds for everyone with the key, is never shortened, and its row tells nothing of the key', async () => {
  const provider = { name: 'example', baseUrl: 'https://models.example', apiKey: 'secret-key' };
  const providerKey = providerKeyOf(provider);
  expect(providerKeyOf({ ...provider, apiKey: 'other' })).not.toBe(providerKey);
  await pauseProvider(sql, { providerKey, label: 'example', milliseconds: 60_000 });
  await pauseProvider(sql, { providerKey, label: 'example', milliseconds: 1_000 });
  expect(await readPause(sql, providerKey)).toBeGreaterThan(50_000);
  expect((await askForPlace(sql, callOf(providerKey, newId()), ONE)).kind).toBe('paused');
  expect(JSON.stringify(await sql`select * from provider_pauses`)).not.toContain('secret');
});

test('a pause, a place and a caller of a clock that was a day ahead hold nobody back when it has jumped', async () => {
  const key = newId();
  await pauseProvider(sql, { providerKey: key, label: 'example', milliseconds: 60_000 });
  await sql`
    update provider_pauses set paused_at = paused_at + interval '1 day', paused_until = paused_until + interval '1 day'
    where provider_key = ${key}`;
  expect(await readPause(sql, key)).toBe(0);
  await pauseProvider(sql, { providerKey: key, label: 'example', milliseconds: 1_000 });
  expect(await readPause(sql, key)).toBeLessThanOrEqual(1_000);
  await sql`delete from provider_pauses where provider_key = ${key}`;
  const [dead, absent, here] = [callOf(key, newId()), callOf(key, newId()), callOf(key, newId())];
  expect((await askForPlace(sql, dead, ONE)).kind).toBe('granted');
  expect((await askForPlace(sql, absent, ONE)).kind).toBe('queued');
  await sql`
    update provider_calls set seen_at = seen_at + interval '1 day', granted_at = granted_at + interval '1 day',
      lease_until = lease_until + interval '1 day' where provider_key = ${key}`;
  expect((await askForPlace(sql, here, { concurrentCalls: 1, tokensPerMinute: 10 })).kind).toBe('granted');
});

test('tells of pauses that stand, and ends those of a provider whatever its key', async () => {
  const pause = (label: string, milliseconds: number): Promise<void> =>
    pauseProvider(sql, { providerKey: newId(), label, milliseconds });
  await pause('busy', 3_600_000);
  await pause('busy', 86_400_000);
  await pause('other', 60_000);
  await pause('free again', 0);
  const standing = await listPauses(sql);
  expect(standing.map(({ provider }) => provider).filter((name) => name !== 'example')).toEqual([
    'busy',
    'busy',
    'other',
  ]);
  const [longest] = standing;
  expect(Date.parse(longest?.until ?? '') - Date.parse(longest?.since ?? '')).toBe(86_400_000);
  expect(await endPause(sql, 'busy')).toBe(true);
  expect(await endPause(sql, 'busy')).toBe(false);
  expect(await endPause(sql, 'free again')).toBe(false);
  expect((await listPauses(sql)).map(({ provider }) => provider)).toContain('other');
  expect((await listPauses(sql)).map(({ provider }) => provider)).not.toContain('busy');
});

test('a call that goes on under another key leaves its place at the first', async () => {
  const [first, second] = [newId(), newId()];
  const call = callOf(first, newId());
  expect((await askForPlace(sql, call, ONE)).kind).toBe('granted');
  expect((await askForPlace(sql, { ...call, providerKey: second }, ONE)).kind).toBe('granted');
  expect((await askForPlace(sql, callOf(first, newId()), ONE)).kind).toBe('granted');
});

test('an attempt that was replaced neither gives back nor renews what its successor holds, nor takes it from the queue', async () => {
  const key = newId();
  const first = callOf(key, newId());
  const next = { ...first, holder: newId() };
  const other = callOf(key, newId());
  expect((await askForPlace(sql, first, ONE)).kind).toBe('granted');
  expect((await askForPlace(sql, next, ONE)).kind).toBe('granted');
  await releasePlace(sql, first);
  await leaveQueue(sql, first);
  expect((await askForPlace(sql, other, ONE)).kind).toBe('queued');
  await leaveQueue(sql, { ...other, holder: newId() });
  await sql`update provider_calls set lease_until = holdfast_now() + interval '1 second' where call_key = ${first.callKey}`;
  const left = async () => {
    const [row] = await sql<{ seconds: number }[]>`
      select extract(epoch from lease_until - holdfast_now())::float8 as seconds from provider_calls
      where call_key = ${first.callKey}`;
    return row?.seconds;
  };
  await renewPlace(sql, first);
  expect(await left()).toBeLessThan(2);
  await renewPlace(sql, next);
  expect(await left()).toBeGreaterThan(20);
  await releasePlace(sql, next);
  expect((await askForPlace(sql, other, ONE)).kind).toBe('granted');
});

test('the tokens of every try of a call count for its minute', async () => {
  const key = newId();
  const capacity = { concurrentCalls: null, tokensPerMinute: 100 };
  const call = callOf(key, newId(), newId(), 80);
  expect((await askForPlace(sql, call, capacity)).kind).toBe('granted');
  await releasePlace(sql, call);
  expect((await askForPlace(sql, call, capacity)).kind).toBe('queued');
  await sql`update provider_calls set granted_at = granted_at - interval '61 seconds' where provider_key = ${key} and granted_at is not null`;
  expect((await askForPlace(sql, call, capacity)).kind).toBe('granted');
});

test('a place goes to a call that is there rather than to one that is away far from its turn, and that one is there when its turn is near', async () => {
  const key = newId();
  const [running, second, third, far, last] = [1, 2, 3, 4, 5].map(() => callOf(key, newId())) as [
    QueuedCall,
    QueuedCall,
    QueuedCall,
    QueuedCall,
    QueuedCall,
  ];
  await askForPlace(sql, running, ONE);
  expect(await askForPlace(sql, second, ONE)).toMatchObject({ isNext: true });
  expect(await askForPlace(sql, third, ONE)).toMatchObject({ isNext: true });
  expect(await askForPlace(sql, far, ONE)).toMatchObject({ isNext: false });
  expect(await stepAside(sql, far)).toBe(true);
  await askForPlace(sql, last, ONE);
  for (const over of [running, second, third]) {
    await releasePlace(sql, over);
    await askForPlace(sql, last, ONE);
  }
  expect((await askForPlace(sql, last, ONE)).kind).toBe('granted');
  expect(await askForPlace(sql, far, ONE)).toMatchObject({ isNext: true });
  await releasePlace(sql, last);
  expect((await askForPlace(sql, callOf(key, newId()), ONE)).kind).toBe('queued');
  // The place was handed out before it could step aside.
  expect(await stepAside(sql, far)).toBe(false);
  expect((await askForPlace(sql, far, ONE)).kind).toBe('granted');
});

test('an attempt that was replaced takes nothing back when it asks, on or anew: neither the place of its successor nor its turn in the queue', async () => {
  const key = newId();
  const superseded = expect.objectContaining({ code: 'superseded_attempt' });
  const replacing = ({ by, ...call }: QueuedCall) => ({
    ...call,
    holder: newId(),
    by: { ...by, attempt: by.attempt + 1 },
  });
  const [first, second] = [callOf(key, newId()), callOf(key, newId())];
  const [next, waits] = [replacing(first), replacing(second)];
  for (const call of [first, next, second, waits]) await askForPlace(sql, call, ONE);
  for (const replaced of [first, second]) {
    await expect(askForPlace(sql, { ...replaced, again: true }, ONE)).rejects.toEqual(superseded);
    // It was frozen before it asked at all.
    await expect(askForPlace(sql, { ...replaced, holder: newId() }, ONE)).rejects.toEqual(superseded);
    await giveUpPlace(sql, replaced);
  }
  // Called under another number meanwhile: of these attempts the last that began to ask has the place.
  const comesBack = { ...waits, holder: newId(), by: { ...waits.by, activityId: newId(), attempt: 1 } };
  expect((await askForPlace(sql, comesBack, ONE)).kind).toBe('queued');
  await expect(askForPlace(sql, { ...waits, again: true }, ONE)).rejects.toEqual(superseded);
  const other = callOf(key, newId());
  expect((await askForPlace(sql, other, ONE)).kind).toBe('queued');
  await releasePlace(sql, next);
  expect((await askForPlace(sql, other, ONE)).kind).toBe('queued');
  expect((await askForPlace(sql, { ...comesBack, again: true }, ONE)).kind).toBe('granted');
  // Its successor finds what it was given, and gives it up although it did not ask itself.
  await giveUpPlace(sql, replacing(comesBack));
  expect((await askForPlace(sql, other, ONE)).kind).toBe('granted');
});
