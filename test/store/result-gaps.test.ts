import { expect, inject, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../src/store/database.ts';
import type { Database } from '../../src/store/database.ts';
import { isOutage } from '../../src/store/errors.ts';
import { waitUntil } from '../support/wait-until.ts';

/** A pool of one connection. */
function oneConnection(): Database {
  const sql = connectDatabase({ url: inject('databaseUrl'), maximumConnections: 1 });
  onTestFinished(() => sql.end({ timeout: 1 }));
  return sql;
}

test('a statement that fails after its first rows leaves nothing of them to the next on its connection', async () => {
  const sql = oneConnection();
  const failing = sql`select 1 / (10000 - row) as share from generate_series(1, 10000) as row`;
  await expect(failing).rejects.toMatchObject({ code: '22012' });
  const next = await sql`select 1 as one union all select 2`;
  expect(next).toEqual([{ one: 1 }, { one: 2 }]);
  expect(next.count).toBe(2);
  expect(await sql.begin((open) => open`select 3 as three`)).toEqual([{ three: 3 }]);
});

test('neither in a transaction that goes on behind a savepoint', async () => {
  const sql = oneConnection();
  const rows = await sql.begin(async (open) => {
    const failing = open.savepoint((inner) => inner`select 1 / (10000 - row) from generate_series(1, 10000) as row`);
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    return open`select 1 as one`;
  });
  expect(rows).toEqual([{ one: 1 }]);
});

test.each([10, 1_000, 100_000])(
  'a connection that closes among rows of %d characters leaves nothing of them to the next one: its first query has its first row',
  async (characters) => {
    const [sql, admin] = [oneConnection(), oneConnection()];
    const [own] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    // What does not fit into the server's buffer of 8 KB is sent before it sleeps.
    const rows = Math.ceil(200_000 / characters);
    const underWay = sql`
      select repeat('x', ${characters}::int) as text, case when row = ${rows} then pg_sleep(30)::text end as slept
      from generate_series(1, ${rows}::int) as row`.catch((error: unknown) => error);
    await waitUntil('it sleeps', async () => {
      const sleeping = await admin`
        select from pg_stat_activity where pid = ${own?.pid ?? 0} and wait_event = 'PgSleep'`;
      return sleeping.length > 0;
    });
    await admin`select pg_terminate_backend(${own?.pid ?? 0})`;
    expect(isOutage(await underWay)).toBe(true);
    // The driver may tell the next query once more why the connection had closed.
    const next = await sql`select 1 as one`.catch((thrown: unknown) => thrown);
    if (!isOutage(next)) expect(next).toEqual([{ one: 1 }]);
    expect(await sql`select 2 as two union all select 3`).toEqual([{ two: 2 }, { two: 3 }]);
  },
);

test('what finds nothing still finds nothing', async () => {
  const sql = oneConnection();
  await expect(sql`select 1 / (10000 - row) from generate_series(1, 10000) as row`).rejects.toThrow();
  expect(await sql`select where false`).toEqual([]);
});
