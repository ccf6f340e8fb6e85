import { inject, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../src/store/database/database.ts';
import type { Database } from '../../src/store/database/database.ts';
import { openDatabase, requireNotifications } from '../../src/store/database/pooler.ts';

function pooled(listenUrl?: string): Database {
  const url = new URL(inject('databaseUrl'));
  url.searchParams.set('pgbouncer', 'true');
  url.searchParams.set('options', '-c work_mem=12MB');
  const sql = connectDatabase({ url: url.href, maximumConnections: 1, ...(listenUrl !== undefined && { listenUrl }) });
  onTestFinished(async () => sql.end({ timeout: 1 }));
  return sql;
}

interface Settings {
  readonly path: string;
  readonly idle: string;
  readonly memory: string;
}
const HOLDFAST = { path: expect.stringMatching(/^holdfast/u) as string, idle: '5s', memory: '12MB' };

test('behind a pooler each statement and transaction sets what it needs, and the connection keeps none of it', async () => {
  const sql = pooled();
  const read = (queries: Pick<Database, 'unsafe'> | Database) => (queries as Database)<Settings[]>`
    select current_setting('search_path') as path, current_setting('idle_in_transaction_session_timeout') as idle,
      current_setting('work_mem') as memory where ${1}::int = 1`;
  expect([...(await read(sql))]).toEqual([HOLDFAST]);
  expect(await Promise.all([1, 2, 3].map((value) => sql`select ${value}::int as value`))).toEqual([
    [{ value: 1 }],
    [{ value: 2 }],
    [{ value: 3 }],
  ]);
  await expect(sql`select ${0}::int / ${0}::int`).rejects.toMatchObject({ code: '22012' });
  await expect(sql`select from nothing_there`).rejects.toMatchObject({ code: '42P01' });
  const inside = await sql.begin('isolation level repeatable read', async (open) => [...(await read(open as never))]);
  expect(inside).toEqual([HOLDFAST]);
  const reserved = await sql.reserve();
  const [kept] = await read(reserved);
  reserved.release();
  expect(kept).not.toEqual(HOLDFAST);
  expect(kept?.idle).toBe('0');
  expect([...(await read(sql))]).toEqual([HOLDFAST]);
});

test('notifications need a direct connection, which carries them', async () => {
  await expect(requireNotifications(pooled())).rejects.toMatchObject({ code: 'database_pooled' });
  await requireNotifications(pooled(inject('databaseUrl')));
});

test('a direct connection passes the probe', async () => {
  const sql = await openDatabase({ url: inject('databaseUrl'), maximumConnections: 2 });
  onTestFinished(async () => sql.end({ timeout: 1 }));
  await requireNotifications(sql);
});
