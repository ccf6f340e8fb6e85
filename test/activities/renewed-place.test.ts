import { expect, onTestFinished, test } from 'vitest';
import { createProviderGate } from '../../src/activities/runtime/provider-gate.ts';
import type { Database } from '../../src/store/database/database.ts';
import { newId } from '../../src/store/database/ids.ts';
import { askForPlace, providerKeyOf } from '../../src/store/providers/provider-queue.ts';
import { useTestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { execution } from './support/activity-dependencies.ts';

/** Renewed each second: a machine that is busy for one or two of them must not lose the place. */
const LEASE_SECONDS = 3;

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

test('a call that takes longer than the lease of its place keeps the place until it is over', async () => {
  const provider = {
    name: 'sim',
    protocol: 'anthropic',
    baseUrl: 'http://127.0.0.1:1',
    apiKey: 'key',
    limits: { concurrentCalls: 1 },
  } as const;
  const providerKey = providerKeyOf(provider);
  const gate = createProviderGate({
    database: sql,
    providers: [provider],
    concurrentWork: 20,
    leaseSeconds: LEASE_SECONDS,
  });
  const callKey = newId();
  const signal = new AbortController().signal;
  const pass = await gate.enter({
    provider: 'sim',
    conversationId: newId(),
    callKey,
    by: execution(),
    tokens: 10,
    signal,
  });
  if (pass.kind !== 'open') throw new Error(`the first call has to ${pass.kind}`);
  onTestFinished(() => pass.leave());
  const other = {
    providerKey,
    conversationId: newId(),
    callKey: newId(),
    holder: newId(),
    by: execution(),
    tokens: 10,
  };
  const ask = async () => (await askForPlace(sql, other, { concurrentCalls: 1, tokensPerMinute: null })).kind;
  expect(await ask()).toBe('queued');
  await waitUntil('the first lease is over', async () => {
    const [row] = await sql<{ over: boolean }[]>`
      select holdfast_now() > granted_at + make_interval(secs => ${LEASE_SECONDS + 1}) as over
      from provider_calls where call_key = ${callKey}`;
    return row?.over === true;
  });
  expect(await ask()).toBe('queued');
  await pass.leave();
  expect(await ask()).toBe('granted');
});
