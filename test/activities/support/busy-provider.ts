import { onTestFinished } from 'vitest';
import { startSimulator } from '../../../src/simulator/index.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { newId } from '../../../src/store/database/ids.ts';
import { askForPlace, providerKeyOf, releasePlace } from '../../../src/store/providers/provider-queue.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { activityDependencies, execution } from './activity-dependencies.ts';

/** What a provider takes that takes one call at a time. */
export const ONE = { concurrentCalls: 1, tokensPerMinute: null };

/** A provider that takes one call at a time and has one; who asks from here on is sent to wait in its workflow. */
export async function busyProvider(sql: Database) {
  const simulator = await startSimulator({ port: 0 });
  onTestFinished(() => simulator.close());
  const dependencies = activityDependencies(sql, {
    simulatorUrl: simulator.url,
    providerLimits: { concurrentCalls: 1 },
  });
  const providerKey = providerKeyOf({ name: 'sim', baseUrl: simulator.url, apiKey: 'key' });
  const callOf = () => ({
    providerKey,
    conversationId: newId(),
    callKey: newId(),
    holder: newId(),
    by: execution(),
    tokens: 10,
  });
  const running = callOf();
  await askForPlace(sql, running, ONE);
  // The one call that may wait in the worker.
  const stop = new AbortController();
  const waiting = { ...callOf(), provider: 'sim', signal: stop.signal };
  const entering = dependencies.providerGate.enter(waiting).catch(() => undefined);
  const queued = async () => (await sql`select from provider_calls where call_key = ${waiting.callKey}`).length === 1;
  await waitUntil('the worker is full', queued);
  const release = async () => {
    stop.abort();
    await entering;
    await releasePlace(sql, running);
  };
  const askAnew = async () => {
    const call = callOf();
    return { callKey: call.callKey, place: await askForPlace(sql, call, ONE) };
  };
  return { dependencies, release, askAnew };
}

/** Places of a conversation, those that it waits for included. */
export async function placesOf(sql: Database, conversationId: string) {
  return sql<{ granted: boolean }[]>`
    select granted_at is not null as granted from provider_calls where conversation_id = ${conversationId}`;
}
