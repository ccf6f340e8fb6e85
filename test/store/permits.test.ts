import { expect, test } from 'vitest';
import { newId } from '../../src/store/database/ids.ts';
import {
  claimPermit,
  giveUpPermit,
  providerKeyOf,
  releasePermit,
  renewPermit,
} from '../../src/store/providers/permits.ts';
import type { PermitRequest, ProviderCapacity } from '../../src/store/providers/permits.ts';
import { endPause, listPauses, pauseProvider, readPause } from '../../src/store/providers/provider-pauses.ts';
import { waitUntil } from '../support/wait-until.ts';
import { useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

const ONE = { concurrentCalls: 1, tokensPerMinute: null };
const SUPERSEDED = { code: 'superseded_attempt' };

/** Calls of a provider of their own, each of another conversation unless one is named. */
function providerWith(capacity: ProviderCapacity = ONE) {
  const providerKey = newId();
  return {
    providerKey,
    call: ({ tokens = 10, conversationId = newId() } = {}): PermitRequest => {
      const by = { runId: 'run', activityId: newId(), attempt: 1 };
      return { providerKey, conversationId, callKey: newId(), by, tokens };
    },
    ask: async (request: PermitRequest) => (await claimPermit(sql, request, capacity)).kind,
  };
}

/** Temporal's next attempt of the call's activity. */
function retryOf({ by, ...call }: PermitRequest): PermitRequest {
  return { ...call, by: { ...by, attempt: by.attempt + 1 } };
}

/** So much time passes for the permits of the provider; calls that wait ask all the same. */
async function pass({ providerKey }: Pick<PermitRequest, 'providerKey'>, seconds: number): Promise<void> {
  await sql`
    update provider_calls set requested_at = requested_at - make_interval(secs => ${seconds}),
      granted_at = granted_at - make_interval(secs => ${seconds}),
      lease_until = lease_until - make_interval(secs => ${seconds})
    where provider_key = ${providerKey} and released_at is null`;
}

test("with two hundred calls of one conversation waiting, another's waits for at most two of them", async () => {
  const { providerKey, call, ask } = providerWith();
  const conversationId = newId();
  let running = call({ conversationId });
  expect(await ask(running)).toBe('granted');
  const greedy = Array.from({ length: 199 }, () => call({ conversationId }));
  for (const each of greedy) expect(await ask(each)).toBe('queued');
  const other = call();
  expect(await ask(other)).toBe('queued');
  let passed = 0;
  while (running.callKey !== other.callKey) {
    await releasePermit(sql, running);
    // All ask meanwhile, the other one last.
    await sql`update provider_calls set seen_at = holdfast_now() where provider_key = ${providerKey}`;
    const asking = [...greedy.slice(passed, passed + 3), other];
    let next: PermitRequest | undefined;
    for (const each of asking) if ((await ask(each)) === 'granted') next ??= each;
    if (next === undefined) throw new Error('no call got the permit');
    running = next;
    passed += 1;
  }
  // The last one that passed is the other's own.
  expect(passed - 1).toBeLessThanOrEqual(2);
});

test('no more calls run at once than the limit, and a call that asks no more is passed over', async () => {
  const { call, ask } = providerWith({ concurrentCalls: 2, tokensPerMinute: null });
  const [first, second, absent, third] = [call(), call(), call(), call()];
  for (const each of [first, second]) expect(await ask(each)).toBe('granted');
  for (const each of [absent, third]) expect(await ask(each)).toBe('queued');
  await releasePermit(sql, first);
  expect(await ask(third)).toBe('queued');
  await sql`update provider_calls set seen_at = seen_at - interval '1 minute' where call_key = ${absent.callKey}`;
  expect(await ask(third)).toBe('granted');
  expect(await ask(absent)).toBe('queued');
});

test.each([
  ['calls', ONE],
  ['tokens', { concurrentCalls: null, tokensPerMinute: 15 }],
])(
  'a call that counts while another one gets a permit counts again: no more run than the limit of %s',
  async (_, capacity) => {
    const { providerKey, call, ask } = providerWith(capacity);
    const [other, mine] = [newId(), call()];
    let asking: Promise<string> | undefined;
    await sql.begin(async (open) => {
      await open`
      insert into provider_calls (id, provider_key, conversation_id, call_key, tokens, granted_at, lease_until, grant_number)
      values (${other}, ${providerKey}, ${other}, ${other}, 10, now(), now() + interval '30 seconds', 1)`;
      asking = ask(mine);
      const meets = waitUntil('it meets the other one', async () => {
        const rows = await sql`
        select from pg_stat_activity
        where wait_event_type = 'Lock' and query like '%grant_number%' and datname = current_database()`;
        return rows.length > 0;
      });
      await Promise.race([meets, asking]);
    });
    expect(await asking).toBe('queued');
  },
);

test('tokens per minute hold calls back, also smaller ones behind; a call above the limit goes alone', async () => {
  const { providerKey, call, ask } = providerWith({ concurrentCalls: null, tokensPerMinute: 100 });
  expect(await ask(call({ tokens: 500 }))).toBe('granted');
  const next = call({ tokens: 60 });
  expect(await ask(next)).toBe('queued');
  await sql`update provider_calls set granted_at = granted_at - interval '61 seconds' where provider_key = ${providerKey}`;
  expect(await ask(next)).toBe('granted');
  expect(await ask(call({ tokens: 60 }))).toBe('queued');
  expect(await ask(call({ tokens: 1 }))).toBe('queued');
});

test('a minute counts what the provider counted of a call, and what each of its attempts may have sent', async () => {
  const { providerKey, call, ask } = providerWith({ concurrentCalls: null, tokensPerMinute: 100 });
  const reported = call({ tokens: 80 });
  expect(await ask(reported)).toBe('granted');
  await releasePermit(sql, reported, 10);
  const dead = call({ tokens: 80 });
  expect(await ask(dead)).toBe('granted');
  // Its lease is over.
  await pass({ providerKey }, 35);
  expect(await ask(retryOf(dead))).toBe('queued');
  await pass({ providerKey }, -35);
  await sql`update provider_calls set granted_at = granted_at - interval '61 seconds' where provider_key = ${providerKey}`;
  expect(await ask(retryOf(dead))).toBe('granted');
});

test('a call whose worker died and whose permit was given away meanwhile has its turn before younger ones', async () => {
  const { call, ask } = providerWith();
  const [dead, other] = [call(), call()];
  expect(await ask(dead)).toBe('granted');
  await pass(dead, 35);
  expect(await ask(other)).toBe('granted');
  const younger = call({ conversationId: dead.conversationId });
  expect(await ask(younger)).toBe('queued');
  const retry = retryOf(dead);
  expect(await ask(retry)).toBe('queued');
  await releasePermit(sql, other);
  expect(await ask(younger)).toBe('queued');
  expect(await ask(retry)).toBe('granted');
});

test('a call that was frozen for longer than its lease counts again when its worker wakes up', async () => {
  const { call, ask } = providerWith();
  const [frozen, other, third] = [call(), call(), call()];
  expect(await ask(frozen)).toBe('granted');
  await pass(frozen, 35);
  expect(await ask(other)).toBe('granted');
  await renewPermit(sql, frozen);
  await releasePermit(sql, other);
  expect(await ask(third)).toBe('queued');
  await releasePermit(sql, frozen);
  expect(await ask(third)).toBe('granted');
});

test('an attempt that was replaced neither asks for, renews nor gives back what its successor waits for or holds', async () => {
  const { call, ask } = providerWith();
  const [first, waiting, other] = [call(), call(), call()];
  const [holds, waits] = [retryOf(first), retryOf(waiting)];
  for (const each of [first, holds]) expect(await ask(each)).toBe('granted');
  for (const each of [waiting, waits]) expect(await ask(each)).toBe('queued');
  for (const replaced of [first, waiting]) {
    await expect(claimPermit(sql, replaced, ONE)).rejects.toMatchObject(SUPERSEDED);
    await releasePermit(sql, replaced);
    await giveUpPermit(sql, replaced);
  }
  await pass(first, 29);
  await renewPermit(sql, first);
  await pass(first, 5);
  // Not renewed: the lease of the successor is over, and the older call in the queue comes first.
  expect(await ask(other)).toBe('queued');
  expect(await ask(waits)).toBe('granted');
  // A later attempt gives up what an earlier one asked for.
  await giveUpPermit(sql, retryOf(waits));
  expect(await ask(other)).toBe('granted');
});

test('a pause holds for everyone with the key, is never shortened, and its row tells nothing of the key', async () => {
  const provider = { name: 'example', baseUrl: 'https://models.example', apiKey: 'secret-key' };
  const providerKey = providerKeyOf(provider);
  expect(providerKeyOf({ ...provider, apiKey: 'other' })).not.toBe(providerKey);
  await pauseProvider(sql, { providerKey, label: 'example', milliseconds: 60_000 });
  await pauseProvider(sql, { providerKey, label: 'example', milliseconds: 1_000 });
  expect(await readPause(sql, providerKey)).toBeGreaterThan(50_000);
  const { call, ask } = providerWith();
  expect(await ask({ ...call(), providerKey })).toBe('paused');
  expect(JSON.stringify(await sql`select * from provider_pauses`)).not.toContain('secret');
});

test('a pause, a permit and a call of a clock that was a day ahead hold nobody back when it has jumped', async () => {
  const { providerKey, call, ask } = providerWith({ concurrentCalls: 1, tokensPerMinute: 10 });
  await pauseProvider(sql, { providerKey, label: 'example', milliseconds: 60_000 });
  await sql`
    update provider_pauses set paused_at = paused_at + interval '1 day', paused_until = paused_until + interval '1 day'
    where provider_key = ${providerKey}`;
  expect(await readPause(sql, providerKey)).toBe(0);
  await pauseProvider(sql, { providerKey, label: 'example', milliseconds: 1_000 });
  expect(await readPause(sql, providerKey)).toBeLessThanOrEqual(1_000);
  await sql`delete from provider_pauses where provider_key = ${providerKey}`;
  const [dead, absent, here] = [call(), call(), call()];
  expect(await ask(dead)).toBe('granted');
  expect(await ask(absent)).toBe('queued');
  await sql`update provider_calls set seen_at = seen_at + interval '1 day' where provider_key = ${providerKey}`;
  await pass({ providerKey }, -86_400);
  expect(await ask(here)).toBe('granted');
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
  const left = (await listPauses(sql)).map(({ provider }) => provider);
  expect(left).toContain('other');
  expect(left).not.toContain('busy');
});
