import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { newId } from '../../src/store/database/ids.ts';
import { insertMemory } from '../support/insert-memory.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { lookAfterConversations } from '../../src/worker/upkeep.ts';
import { openMovedClock } from '../store/support/moved-clock.ts';
import type { MovedClock } from '../store/support/moved-clock.ts';
import { endedAs, openTestStore, send, startTurn } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { killedBehindWrite } from '../support/worker-deaths.ts';
import { NEVER, upkeepDependencies } from './support/upkeep-dependencies.ts';

let store: TestStore;
let clock: MovedClock;

beforeAll(async () => {
  store = await openTestStore();
  clock = openMovedClock(store.url);
  await clock.set(60);
});
afterAll(async () => {
  await clock.close();
  await store.close();
});

async function rememberByHand(expiresAt?: Date): Promise<void> {
  await insertMemory(store.sql, {
    id: newId(),
    scope: 'agent',
    scopeName: 'nobody',
    kind: 'fact',
    text: 'Pump 7 opens at 4 bar.',
    origin: 'user',
    ...(expiresAt !== undefined && { expiresAt: expiresAt.toISOString() }),
  });
}

/** Everything that upkeep is for: a message that nobody rang for, a lost turn, texts without index, what has expired. */
async function leaveWork() {
  const { sql } = store;
  const unrung = newId();
  await send(sql, { conversationId: unrung });
  const lost = await startTurn(sql, 'Pump 7 opens at 4 bar.');
  await send(sql, { conversationId: lost.conversationId });
  await rememberByHand();
  await rememberByHand(new Date(Date.now() - 2 * 86_400_000));
  const expired = await startTurn(sql);
  await endedAs(sql, expired);
  await sql`
    update conversations set agent = 'expired', active_at = active_at - interval '31 days'
    where id = ${expired.conversationId}`;
  return { unrung, lost, expired };
}

/** One look, which finds no workflow of any turn open. Returns the conversations that were rung for. */
async function look(database: Database): Promise<string[]> {
  const rung: string[] = [];
  const dependencies = upkeepDependencies(database, {
    retention: [{ agent: 'expired', days: 30 }],
    isWorkflowOpen: () => Promise.resolve(false),
    ringDoorbell: (conversationId) => {
      rung.push(conversationId);
      return Promise.resolve();
    },
  });
  await lookAfterConversations(dependencies, NEVER);
  return rung;
}

test('upkeep that dies behind whichever of its writes loses nothing: the next look does the rest', async () => {
  const { sql } = store;
  const died: string[] = [];
  for (;;) {
    const { unrung, lost, expired } = await leaveWork();
    const { database, lastWrite } = killedBehindWrite(clock.sql, died.length + 1);
    const rung = [...(await look(database)), ...(await look(clock.sql)), ...(await look(clock.sql))];
    expect(new Set(rung)).toEqual(new Set([unrung, lost.conversationId]));
    expect((await getTurn(sql, lost.turnId)).outcome).toBe('interrupted');
    expect(await sql`select from memories where expires_at < now()`).toHaveLength(0);
    expect(await sql`select from passages where conversation_id = ${lost.conversationId}`).not.toHaveLength(0);
    expect(await sql`select from conversations where id = ${expired.conversationId}`).toHaveLength(0);
    if (lastWrite().length === 0) break;
    died.push(lastWrite().join());
  }
  // In each part of a look.
  expect(died.join().split(',')).toEqual(expect.arrayContaining(['turns', 'memories', 'passages', 'conversations']));
});
