import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../src/store/database/database.ts';
import type { Database, DatabaseOptions, Transaction } from '../../src/store/database/database.ts';
import { outageOf } from '../../src/store/database/errors.ts';
import type { LocalPostgres } from '../../src/local/postgres/postgres.ts';
import { startTestPostgres } from '../support/servers.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { acceptTls, TEST_AUTHORITY } from '../support/tls-postgres.ts';
import { waitUntil } from '../support/wait-until.ts';

let server: LocalPostgres;
let admin: Database;

beforeAll(async () => {
  server = await startTestPostgres();
  await acceptTls(server);
  admin = connectDatabase({ url: server.url('postgres'), maximumConnections: 1 });
  await admin.unsafe(
    'create schema holdfast; create table holdfast.pairs (transaction int not null, place int not null)',
  );
});

afterAll(async () => {
  await admin?.end({ timeout: 1 });
  await server?.stop();
});

/** Connections that the server ends; `npm run test:deployment` sets 300, which take twenty seconds. */
const TERMINATIONS = Number(process.env['HOLDFAST_TERMINATIONS'] ?? 20);

/** Milliseconds within which each caller has an answer or an error. */
const ANSWER_MILLISECONDS = 60_000;

async function withinLimit<Result>(work: Promise<Result>): Promise<Result | 'no answer'> {
  const limit = new AbortController();
  const late = delay(ANSWER_MILLISECONDS, 'no answer' as const, { signal: limit.signal }).catch(
    () => 'no answer' as const,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    limit.abort();
  }
}

/** What became of a transaction that writes two rows: `done`, or the error that its caller got. */
async function writePair(sql: Database, transaction: number): Promise<unknown> {
  const work = sql.begin(async (open) => {
    await open`insert into pairs values (${transaction}, 1)`;
    await open`select pg_sleep(0.002)`;
    await open`insert into pairs values (${transaction}, 2)`;
  });
  return withinLimit(
    work.then(
      () => 'done',
      (error: unknown) => error,
    ),
  );
}

/** Transactions that left one of their two rows. */
async function halfTransactions(): Promise<readonly unknown[]> {
  return admin`select transaction from pairs group by transaction having count(*) <> 2`;
}

/** The server said that it ends the connection, or could not say it any more. */
const isLost = (error: unknown): boolean => ['restarting', 'unreachable'].includes(outageOf(error) ?? '');

test('verify-full compares an address of numbers with the certificate too', async () => {
  const url = new URL(server.url('postgres'));
  url.hostname = '127.0.0.1';
  url.search = `sslmode=verify-full&sslrootcert=${encodeURIComponent(TEST_AUTHORITY)}`;
  const sql = connectDatabase({ url: url.href, maximumConnections: 1 });
  onTestFinished(async () => sql.end({ timeout: 1 }));
  await expect(sql`select 1`).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
});

describe.each(['disable', 'verify-full'])('connections with sslmode=%s', (sslmode) => {
  const open = (options: Partial<DatabaseOptions> = {}): Database => {
    const url = new URL(options.url ?? server.url('postgres'));
    url.hostname = 'localhost';
    url.searchParams.set('sslmode', sslmode);
    if (sslmode !== 'disable') url.searchParams.set('sslrootcert', TEST_AUTHORITY);
    const sql = connectDatabase({ maximumConnections: 4, applicationName: 'victim', ...options, url: url.href });
    onTestFinished(async () => sql.end({ timeout: 1 }));
    return sql;
  };

  test('a server that ends connections under load costs each caller an outage at most, and no half transaction', async () => {
    const sql = open();
    await admin`truncate pairs`;
    const progress = { ended: 0 };
    const outcomes: unknown[] = [];
    const work = async (caller: number): Promise<void> => {
      for (let round = 0; progress.ended < TERMINATIONS; round += 1)
        outcomes.push(await writePair(sql, caller * 100_000 + round));
    };
    expect(await writePair(sql, 0)).toBe('done');
    const callers = Promise.all([1, 2, 3, 4, 5, 6].map(work));
    while (progress.ended < TERMINATIONS) {
      const [row] = await admin<{ ended: number }[]>`
        select count(pg_terminate_backend(pid))::int as ended from (
          select pid from pg_stat_activity where application_name = 'victim' order by random() limit 1) as victim`;
      progress.ended += row?.ended ?? 0;
    }
    await callers;
    const errors = outcomes.filter((outcome) => outcome !== 'done');
    expect(errors.filter((error) => !isLost(error))).toEqual([]);
    expect(errors.length).toBeGreaterThan(0);
    expect(outcomes.length).toBeGreaterThan(errors.length);
    expect(await halfTransactions()).toEqual([]);
    expect(await sql`select ${'after'}::text as value`).toEqual([{ value: 'after' }]);
  });

  test('a transaction that idles beyond its limit writes nothing, and its later statements reach no other transaction', async () => {
    const sql = open({ maximumConnections: 1 });
    await admin`truncate pairs`;
    const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const idleThenWrite = async (transaction: Transaction): Promise<unknown> => {
      await transaction`insert into pairs values (1, 1)`;
      await transaction`set local idle_in_transaction_session_timeout = 50`;
      await waitUntil('the server has ended it', async () => {
        const sessions = await admin`select from pg_stat_activity where pid = ${row?.pid ?? 0}`;
        return sessions.length === 0;
      });
      const other = writePair(sql, 2);
      const later = await transaction`insert into pairs values (1, 2)`.catch((error: unknown) => error);
      return { other: await other, later: outageOf(later) };
    };
    let work: Promise<unknown> | undefined;
    const outcome = sql.begin((transaction) => (work = idleThenWrite(transaction))).catch((error: unknown) => error);
    expect(outageOf(await outcome)).toBe('busy');
    expect(await work).toEqual({ other: 'done', later: 'busy' });
    expect(await admin`select transaction, place from pairs order by place`).toEqual([
      { transaction: 2, place: 1 },
      { transaction: 2, place: 2 },
    ]);
  });

  test('a server whose processes are killed answers again after its recovery, and no transaction is half written', async () => {
    const sql = open();
    await admin`truncate pairs`;
    const callers = Promise.all(Array.from({ length: 20 }, (_, index) => writePair(sql, index)));
    let victim: number | undefined;
    await waitUntil('it has connected', async () => {
      const rows = await admin<{ pid: number }[]>`select pid from pg_stat_activity where application_name = 'victim'`;
      victim = rows[0]?.pid;
      return victim !== undefined;
    });
    if (victim !== undefined) process.kill(victim, 'SIGKILL');
    expect((await callers).filter((outcome) => outcome !== 'done' && !isLost(outcome))).toEqual([]);
    await waitUntil('it has recovered', async () => (await writePair(sql, 20)) === 'done');
    await waitUntil('it answers others', async () =>
      admin`select 1`.then(
        () => true,
        () => false,
      ),
    );
    expect(await halfTransactions()).toEqual([]);
  });

  test('a server that has become read-only is reported as that, and works when it takes writes again', async () => {
    const sql = open({ maximumConnections: 1 });
    const set = async (value: string): Promise<void> => {
      await admin.unsafe(`alter system set default_transaction_read_only = ${value}`);
      await admin`select pg_reload_conf()`;
      await waitUntil('the setting is in force', async () => {
        const [row] = await admin<{ setting: string }[]>`show default_transaction_read_only`;
        return Object.values(row ?? {})[0] === value;
      });
    };
    expect(await writePair(sql, 1)).toBe('done');
    await set('on');
    try {
      await waitUntil('writes are refused', async () => outageOf(await writePair(sql, 2)) === 'read_only');
      const url = new URL(server.url('postgres'));
      url.searchParams.set('target_session_attrs', 'read-write');
      expect(outageOf(await writePair(open({ url: url.href }), 3))).toBe('read_only');
    } finally {
      await set('off');
    }
    await waitUntil('writes are taken', async () => (await writePair(sql, 4)) === 'done');
  });

  test('a statement that fails after its first rows leaves no gap in front of the next rows', async () => {
    const sql = open({ maximumConnections: 1 });
    const failing = sql`select 1 / (10000 - row) as share from generate_series(1, 10000) as row`;
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    expect([...(await sql`select 1 as one union all select 2`)]).toEqual([{ one: 1 }, { one: 2 }]);
  });

  test('statements that a transaction still sends after it failed are refused', async () => {
    const sql = open({ maximumConnections: 1 });
    await admin`truncate pairs`;
    let late: Promise<unknown> | undefined;
    const outcome = sql.begin(async (transaction) => {
      await transaction`insert into pairs values (1, 1)`;
      late = delay(50).then(() => transaction`insert into pairs values (1, 2)`);
      throw new RangeError('of its own');
    });
    await expect(outcome).rejects.toThrow('of its own');
    await expect(late).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' });
    expect(await admin`select from pairs`).toEqual([]);
  });

  test('a server that goes silent fails what waits, and the pool makes new connections', async () => {
    const proxy = await startTcpProxy(server.url('postgres'));
    onTestFinished(async () => proxy.close());
    const sql = open({ url: proxy.url(server.url('postgres')), silenceLimitMilliseconds: 500, maximumConnections: 2 });
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
    await proxy.blackHole();
    const answers = await Promise.all(
      Array.from({ length: 6 }, async () =>
        withinLimit(
          sql`select 2`.then(
            () => 'done',
            (error: unknown) => error,
          ),
        ),
      ),
    );
    expect(answers.map(outageOf)).toEqual(Array.from({ length: 6 }, () => 'unreachable'));
    await proxy.mend();
    expect(await writePair(sql, 3)).toBe('done');
  });

  test('a process that is frozen inside a transaction gets an outage when it goes on, and works again', async () => {
    await admin`truncate pairs`;
    const url = new URL(server.url('postgres'));
    url.hostname = 'localhost';
    url.search = sslmode === 'disable' ? '' : `sslmode=${sslmode}&sslrootcert=${encodeURIComponent(TEST_AUTHORITY)}`;
    const program = fileURLToPath(new URL('support/frozen-transaction.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', program, url.href], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    await waitUntil('its transaction is open', () => output.includes('open'));
    child.kill('SIGSTOP');
    await waitUntil(
      'the server has ended the transaction',
      async () => (await admin`select from pg_stat_activity where application_name = 'frozen'`).length === 0,
    );
    child.kill('SIGCONT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(output).toMatch(/^open\n(?:busy|unreachable)\nworks\n$/u);
    expect(await halfTransactions()).toEqual([]);
  });
});
