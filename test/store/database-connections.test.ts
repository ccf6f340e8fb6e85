import { setTimeout as delay } from 'node:timers/promises';
import { metrics as metricsApi } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { metrics } from '@opentelemetry/sdk-node';
import { inject, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../src/store/database/database.ts';
import type { Database, Transaction } from '../../src/store/database/database.ts';
import { observeDatabase } from '../../src/store/database/observe-database.ts';
import { isOutage } from '../../src/store/database/errors.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

test('a connection that was forgotten on the way is given up, what waited fails as an outage, and a new one is made', async () => {
  const proxy = await startTcpProxy(inject('databaseUrl'));
  const url = proxy.url(inject('databaseUrl'));
  const sql = connectDatabase({ url, maximumConnections: 1, silenceLimitMilliseconds: 1_000 });
  onTestFinished(async () => {
    await sql.end({ timeout: 0 });
    await proxy.close();
  });
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
  await proxy.blackHole();
  const error: unknown = await sql`select 2`.catch((thrown: unknown) => thrown);
  expect(isOutage(error)).toBe(true);
  await waitUntil('the connection is closed', () => proxy.connections() === 0);
  await proxy.mend();
  expect(await sql`select 3 as three`).toEqual([{ three: 3 }]);
  // Silence without a question is no silence.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(proxy.connections()).toBe(1);
});

test('an answer that came while the process stood still is read, and its connection kept', async () => {
  const sql = connectDatabase({ url: inject('databaseUrl'), maximumConnections: 1, silenceLimitMilliseconds: 500 });
  onTestFinished(() => sql.end({ timeout: 0 }));
  await sql`select 1 as one`;
  const answer = Promise.resolve(sql`select 2 as two from pg_sleep(0.1)`);
  // It is on its way.
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
  expect(await answer).toEqual([{ two: 2 }]);
});

test('queries that follow each other use one connection, so that the others of a burst become idle', async () => {
  const sql = connectDatabase({ url: inject('databaseUrl'), maximumConnections: 4 });
  onTestFinished(() => sql.end({ timeout: 0 }));
  const connectionOf = async () => (await sql`select pg_backend_pid() as pid from pg_sleep(0.05)`)[0]?.['pid'];
  expect(new Set(await Promise.all(Array.from({ length: 4 }, connectionOf))).size).toBe(4);
  const one = await connectionOf();
  for (let query = 0; query < 4; query += 1) expect(await connectionOf()).toBe(one);
});

/** Ends a connection from the server's side. Once its process is gone, its client hears of it within milliseconds. */
async function terminate(admin: Database, pid: number): Promise<void> {
  await admin`select pg_terminate_backend(${pid})`;
  await waitUntil(
    'its process has ended',
    async () => (await admin`select from pg_stat_activity where pid = ${pid}`).length === 0,
  );
  await delay(50);
}

/** Ends a transaction's connection from the server's side while the transaction is at some point. */
async function cutTransaction(
  work: (open: Transaction, cut: () => Promise<void>) => Promise<unknown>,
): Promise<unknown> {
  const sql = connectDatabase({ url: inject('databaseUrl'), maximumConnections: 1 });
  const admin = connectDatabase({ url: inject('databaseUrl'), maximumConnections: 1 });
  try {
    const error: unknown = await sql
      .begin(async (open) => {
        const [own] = await open<{ pid: number }[]>`select pg_backend_pid() as pid`;
        await work(open, () => terminate(admin, own?.pid ?? 0));
      })
      .catch((thrown: unknown) => thrown);
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
    return error;
  } finally {
    await Promise.all([sql.end({ timeout: 1 }), admin.end({ timeout: 1 })]);
  }
}

test.each<[string, (open: Transaction, cut: () => Promise<void>) => Promise<unknown>]>([
  ['during a statement', (open, cut) => Promise.all([open`select pg_sleep(5)`, cut()])],
  [
    'while several statements wait',
    (open, cut) => Promise.all([open`select pg_sleep(5)`, open`select ${1}::int`, open`select 2`, cut()]),
  ],
  [
    'between two statements',
    async (open, cut) => {
      await cut();
      await open`select 2`;
    },
  ],
  [
    'before it fails by itself',
    async (_, cut) => {
      await cut();
      throw new RangeError('of its own');
    },
  ],
])('a transaction whose connection closes %s fails as an outage, and the process lives', async (_, work) => {
  expect(isOutage(await cutTransaction(work))).toBe(true);
});

test('why the server ended a connection is told to what waited for it, and to no later query', async () => {
  const sql = connectDatabase({ url: inject('databaseUrl'), maximumConnections: 1 });
  const admin = connectDatabase({ url: inject('databaseUrl'), maximumConnections: 1 });
  onTestFinished(async () => {
    await Promise.all([sql.end({ timeout: 1 }), admin.end({ timeout: 1 })]);
  });
  const pidOf = async (): Promise<number> =>
    (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid ?? 0;
  const isIn = (pid: number, state: string) => async (): Promise<boolean> =>
    (await admin`select from pg_stat_activity where pid = ${pid} and state = ${state}`).length === 1;
  for (let round = 0; round < 3; round += 1) {
    const busy = await pidOf();
    const underWay = sql`select pg_sleep(30)`.catch((error: unknown) => error);
    await waitUntil('it is under way', isIn(busy, 'active'));
    await terminate(admin, busy);
    expect(await underWay).toMatchObject({ name: 'PostgresError', code: '57P01', severity: 'FATAL' });
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
    // Nothing waits for an idle one.
    const idle = await pidOf();
    await terminate(admin, idle);
    expect(await sql`select 2 as two`).toEqual([{ two: 2 }]);
  }
});

test('a connection that the server refuses fails with the reason, and the next one is made', async () => {
  const admin = connectDatabase({ url: inject('databaseUrl'), maximumConnections: 1 });
  const name = `refusing_${process.pid}`;
  const url = new URL(inject('databaseUrl'));
  url.pathname = `/${name}`;
  const sql = connectDatabase({ url: url.href, maximumConnections: 1 });
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    await admin`drop database if exists ${admin(name)} with (force)`;
    await admin.end({ timeout: 1 });
  });
  await admin`create database ${admin(name)}`;
  const [own] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const pid = own?.pid ?? 0;
  await admin`alter database ${admin(name)} with allow_connections false`;
  const underWay = sql`select pg_sleep(30)`.catch((error: unknown) => error);
  await waitUntil(
    'it is under way',
    async () => (await admin`select from pg_stat_activity where pid = ${pid} and state = 'active'`).length === 1,
  );
  await admin`select pg_terminate_backend(${pid})`;
  expect(await underWay).toMatchObject({ code: '57P01' });
  const refused = await sql`select 1`.catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: '55000', severity: 'FATAL' });
  await admin`alter database ${admin(name)} with allow_connections true`;
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
});

test('a query that comes between the reset of its connection and the end of it fails as an outage, and ends neither empty nor never', async () => {
  const proxy = await startTcpProxy(inject('databaseUrl'));
  const sql = connectDatabase({ url: proxy.url(inject('databaseUrl')), maximumConnections: 3 });
  onTestFinished(async () => {
    await sql.end({ timeout: 0 });
    await proxy.close();
  });
  // The connection made last is free first and asked next, so the idle ones are reset before its statement fails.
  await Promise.all([0.3, 0.2, 0.1].map((seconds) => sql`select pg_sleep(${seconds})`));
  const underWay = sql`select pg_sleep(30)`.catch((error: unknown) => error);
  await waitUntil('three connections', () => proxy.connections() === 3);
  await proxy.reset();
  await proxy.mend();
  expect(isOutage(await underWay)).toBe(true);
  const asked = [1, 2, 3].map((value) => sql`select ${value}::int as value`.catch((error: unknown) => error));
  // The next use of each connection must not answer for what was asked of the lost one.
  for (let value = 4; value < 10; value += 1) {
    await waitUntil('a query passes', async () => (await sql`select 1 as one`.catch(() => [])).length === 1);
    expect(await sql`select ${value}::int as value`).toEqual([{ value }]);
  }
  for (const [index, end] of (await Promise.all(asked)).entries()) {
    if (!isOutage(end)) expect(end).toEqual([{ value: index + 1 }]);
  }
});

test('each look at the metrics shows the connections by state, and how long a query waits for one', async () => {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  metricsApi.setGlobalMeterProvider(new metrics.MeterProvider({ readers: [exporter] }));
  const sql = connectDatabase({
    url: inject('databaseUrl'),
    applicationName: 'holdfast-observed',
    maximumConnections: 1,
  });
  onTestFinished(async () => {
    metricsApi.disable();
    await sql.end({ timeout: 0 });
  });
  observeDatabase(sql);
  const look = async (): Promise<string> =>
    new PrometheusSerializer().serialize((await exporter.collect()).resourceMetrics);
  const text = await look();
  expect(text).toMatch(/^holdfast_database_connections\{application="holdfast-observed",state="active"[^}]*\} 1$/mu);
  expect(text).toMatch(/^holdfast_database_query_seconds\S* 0\.\d+$/mu);
  // None is free, as when Postgres is silent: the alert needs the time, and the other metrics are shown too.
  const taken = await sql.reserve();
  expect(await look()).toMatch(/^holdfast_database_query_seconds\S* (?:1\.9|[2-9])/mu);
  taken.release();
});
