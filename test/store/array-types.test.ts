import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../src/store/database/database.ts';
import { isOutage } from '../../src/store/database/errors.ts';
import { useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

/** No text of Postgres holds NUL. */
const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\0', ''));
const awkward = fc.constantFrom('', 'NULL', 'null', '{}', '{a,b}', '"', String.raw`\"`, String.raw`\\`, ' ', ',', '\n');

test('arrays come back as they were sent', async () => {
  const arrays = fc.record({
    texts: fc.array(fc.option(fc.oneof(text, awkward))),
    ids: fc.array(fc.uuid()),
    integers: fc.array(fc.option(fc.integer({ min: -2_147_483_648, max: 2_147_483_647 }))),
    long: fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
    doubles: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })),
    flags: fc.array(fc.boolean()),
    times: fc.array(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })),
  });
  const property = fc.asyncProperty(arrays, async (sent) => {
    const [read] = await sql`
      select ${sent.texts}::text[] as texts, ${sent.ids}::uuid[] as ids, ${sent.integers}::int[] as integers,
        ${sent.long}::bigint[] as long, ${sent.doubles}::float8[] as doubles,
        ${sent.flags.map(String)}::text[]::boolean[] as flags,
        ${sent.times.map((time) => time.toISOString())}::text[]::timestamptz[] as times`;
    expect(read).toEqual({ ...sent, doubles: sent.doubles.map((value) => (value === 0 ? 0 : value)) });
  });
  await fc.assert(property, { numRuns: 50 });
});

/** A Postgres that greets, and resets the connection at the first query of it. */
async function startFickleServer(): Promise<{ readonly url: string }> {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      // AuthenticationOk and ReadyForQuery.
      socket.write(Buffer.from('5200000008000000005a0000000549', 'hex'));
      socket.once('data', () => socket.resetAndDestroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return { url: `postgresql://one:secret@127.0.0.1:${(server.address() as AddressInfo).port}/any` };
}

test('a server that ends just after its greeting fails the query that was asked, and nothing that nobody handles', async () => {
  const { url } = await startFickleServer();
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const fickle = connectDatabase({ url, maximumConnections: 1 });
  const failure: unknown = await fickle`select 1`.then(
    () => null,
    (error: unknown) => error,
  );
  await fickle.end({ timeout: 0 });
  expect(isOutage(failure)).toBe(true);
  expect(unhandled).toEqual([]);
});
