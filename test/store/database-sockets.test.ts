import { inject, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../src/store/database.ts';
import { isOutage } from '../../src/store/errors.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

test('a connection that was forgotten on the way is given up, what waited fails as an outage, and a new one is made', async () => {
  const proxy = await startTcpProxy(inject('databaseUrl'));
  const url = proxy.url(inject('databaseUrl'));
  const sql = connectDatabase({ url, maximumConnections: 1, silenceLimitMilliseconds: 300 });
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
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(proxy.connections()).toBe(1);
});
