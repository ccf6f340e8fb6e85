import { afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/store/database/ids.ts';
import type { Database } from '../../src/store/database/database.ts';
import { alone } from '../../src/store/upkeep/alone.ts';
import {
  holdSessionLock,
  isServed,
  listAgentsOfWorkers,
  listWorkers,
  renewSession,
  takeOverSession,
} from '../../src/store/upkeep/worker-sessions.ts';
import { send, startTurn, useTestStore } from './support/store-builders.ts';

const { sql, owner } = useTestStore();

// Before that nobody is free. When all tests run, it is long past.
beforeAll(() => sql`select pg_sleep_until(pg_postmaster_start_time() + interval '10 seconds')`);
afterEach(() => sql`delete from workers`);

/** Of a worker that offers nothing. @param mine `null`: it does not hold its lock */
function renew(id: string, mine: readonly string[] | null, on: Database = sql) {
  return renewSession(on, id, mine, { taskQueue: 'mine', offers: [] });
}

async function connection() {
  const reserved = await sql.reserve();
  onTestFinished(() => reserved.release());
  return reserved;
}

/** Takes a worker over. @param work gets the conversations */
async function takeOver(id: string, renewals: number, work?: () => Promise<void>): Promise<readonly string[] | null> {
  let taken: readonly string[] | null = null;
  await takeOverSession(sql, { id, renewals }, async (conversations) => {
    taken = conversations;
    await work?.();
  });
  return taken;
}

test('a worker is free while it has a row and does not hold its lock', async () => {
  const session = await connection();
  await renew('a', []);
  expect(await renew('a', [])).toEqual([{ id: 'a', renewals: 1 }]);
  expect(await listWorkers(sql)).toEqual([]);
  await holdSessionLock(session, 'a');
  expect(await listWorkers(sql)).toEqual([{ id: 'a', since: expect.any(Date) }]);
  expect(await renew('b', null)).toEqual([]);
  await session`select pg_advisory_unlock_all()`;
  expect(await renew('b', null)).toEqual([{ id: 'a', renewals: 2 }]);
  await renew('a', null);
  expect(await renew('b', null)).toEqual([]);
});

test('in the first ten seconds of Postgres a worker learns that its own lock is free, and of no other', async () => {
  await renew('a', []);
  const early = await connection();
  const [before] = await early`select current_setting('search_path') as path`;
  await owner.unsafe('create schema early; grant usage on schema early to public');
  const upFor = (seconds: number) =>
    owner.unsafe(`create or replace function early.pg_postmaster_start_time() returns timestamptz
      language sql as $$ select clock_timestamp() - interval '${seconds} seconds' $$`);
  await early`select set_config('search_path', 'early, holdfast, pg_catalog', false)`;
  try {
    await upFor(9);
    expect(await renew('b', null, early)).toEqual([]);
    expect(await renew('a', [], early)).toEqual([{ id: 'a', renewals: 1 }]);
    await upFor(11);
    expect(await renew('b', null, early)).toEqual([{ id: 'a', renewals: 2 }]);
  } finally {
    await early`select set_config('search_path', ${String(before?.['path'])}, false)`;
  }
});

test('a dead worker is taken over once: first what it worked on, then what else is open or waits', async () => {
  const [mine, open] = [newId(), (await startTurn(sql)).conversationId];
  const waiting = newId();
  await send(sql, { conversationId: waiting });
  await renew('dead', [mine]);
  const taken = await takeOver('dead', 1);
  expect(taken?.[0]).toBe(mine);
  expect(taken?.slice(1)).toEqual(expect.arrayContaining([open, waiting]));
  expect(await takeOver('dead', 1)).toBeNull();
});

test('a worker that renews its row or takes its lock again is not taken over', async () => {
  const session = await connection();
  await renew('alive', []);
  await renew('alive', []);
  expect(await takeOver('alive', 1)).toBeNull();
  // It turns out to live while it is taken over: its renewal does not wait, and its row stays.
  const renewed = async (): Promise<void> => void (await renew('alive', []));
  expect(await takeOver('alive', 2, renewed)).not.toBeNull();
  expect(await renew('b', null)).toEqual([{ id: 'alive', renewals: 3 }]);
  await holdSessionLock(session, 'alive');
  expect(await takeOver('alive', 3)).toBeNull();
  await session`select pg_advisory_unlock_all()`;
});

test('one worker takes over at a time, and if it fails another one does', async () => {
  await renew('dead', []);
  const fails = async (): Promise<void> => {
    expect(await takeOver('dead', 1)).toBeNull();
    throw new Error('Temporal is away');
  };
  await expect(takeOver('dead', 1, fails)).rejects.toThrow('Temporal is away');
  expect(await takeOver('dead', 1)).not.toBeNull();
});

test('a takeover, as other work under a lock, may be silent for a minute, unlike other transactions', async () => {
  await alone(sql, 'any', async (open) => {
    const [limit] = await open`select current_setting('idle_in_transaction_session_timeout') as time`;
    expect(limit).toEqual({ time: '1min' });
  });
  const [limit] = await sql`select current_setting('idle_in_transaction_session_timeout') as time`;
  expect(limit).toEqual({ time: '5s' });
});

test('what a worker announces is served on its queue until it leaves', async () => {
  const convert = { needs: 'tool', name: 'convert' } as const;
  await renewSession(sql, 'a', [], { taskQueue: 'mine', offers: [convert, { needs: 'agent', name: 'other' }] });
  expect(await isServed(sql, 'mine', convert)).toBe(true);
  expect(await isServed(sql, 'mine', { ...convert, needs: 'agent' })).toBe(false);
  expect(await isServed(sql, 'other', convert)).toBe(false);
  expect(await listAgentsOfWorkers(sql)).toEqual(['other']);
  await renew('a', null);
  expect(await isServed(sql, 'mine', convert)).toBe(false);
});
