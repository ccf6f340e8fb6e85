import { execFileSync } from 'node:child_process';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../src/local/ports.ts';
import { startPostgres } from '../../src/local/postgres/postgres.ts';
import type { LocalPostgres } from '../../src/local/postgres/postgres.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import { temporaryDirectory } from '../support/servers.ts';

let primary: LocalPostgres;
let standby: LocalPostgres;

beforeAll(async () => {
  const directory = await temporaryDirectory('standby');
  const options = async (name: string) => ({
    dataDirectory: join(directory, name),
    port: await freePort(),
    durable: false,
    settings: { wal_level: 'replica', max_wal_senders: '5' },
    logFile: join(directory, `${name}.log`),
  });
  const [ofPrimary, ofStandby] = [await options('primary'), await options('standby')];
  primary = await startPostgres(ofPrimary);
  await primary.stop();
  // Root's Postgres runs as another user, whose files they stay.
  execFileSync('cp', ['-a', ofPrimary.dataDirectory, ofStandby.dataDirectory]);
  const { username, password } = new URL(primary.url('postgres'));
  const upstream = `host=127.0.0.1 port=${ofPrimary.port} user=${username} password=${password}`;
  await appendFile(join(ofStandby.dataDirectory, 'postgresql.auto.conf'), `primary_conninfo = '${upstream}'\n`);
  await writeFile(join(ofStandby.dataDirectory, 'standby.signal'), '');
  primary = await startPostgres(ofPrimary);
  standby = await startPostgres(ofStandby);
});
afterAll(async () => {
  await standby?.stop();
  await primary?.stop();
});

test.each([
  ['read-write', 'primary'],
  ['primary', 'primary'],
  ['read-only', 'standby'],
  ['standby', 'standby'],
  ['prefer-standby', 'standby'],
])('target_session_attrs=%s finds the %s among the hosts, whichever is named first', async (target, found) => {
  const places = [primary, standby].map((server) => new URL(server.url('postgres')));
  for (const hosts of [places, places.toReversed()]) {
    const { username, password } = places[0] ?? new URL('postgres://');
    const list = hosts.map(({ host }) => host).join(',');
    const url = `postgres://${username}:${password}@${list}/postgres?target_session_attrs=${target}`;
    const sql = connectDatabase({ url, maximumConnections: 1 });
    onTestFinished(async () => sql.end({ timeout: 1 }));
    const [row] = await sql`select case when pg_is_in_recovery() then 'standby' else 'primary' end as found`;
    expect(row).toEqual({ found });
  }
});
