import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import type { Holdfast } from '../../src/client/holdfast.ts';

import { newId } from '../../src/store/database/ids.ts';
import { createTestDatabase } from '../support/database.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let proxy: TcpProxy;
let client: Holdfast;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startTcpProxy(database.url);
  client = await connect({
    databaseUrl: proxy.url(database.url),
    temporal: { address: '127.0.0.1:1', namespace: 'default' },
  });
  await proxy.blackHole();
});
afterAll(async () => {
  await client.close();
  await proxy.close();
  await database.drop();
});

/** Aborts once the question has been written, which nothing will answer. */
function abortSoon(): AbortSignal {
  const abort = new AbortController();
  setImmediate(() => setImmediate(() => abort.abort(new Error('enough'))));
  return abort.signal;
}

test('a call is told of a Postgres that has fallen silent', async () => {
  await expect(client.conversation.list()).rejects.toMatchObject({ code: 'database_unreachable' });
});

test('an abort ends a watch of a Postgres that has fallen silent', async () => {
  const updates: unknown[] = [];
  for await (const update of client.conversation.watch({ conversationId: newId(), signal: abortSoon() }))
    updates.push(update);
  expect(updates).toEqual([]);
});

test('an abort and a time-out end a wait for an outcome that a silent Postgres never tells', async () => {
  const message = { conversationId: newId(), messageId: 'first' };
  await expect(client.conversation.outcome({ ...message, signal: abortSoon() })).rejects.toThrow('enough');
  await expect(client.conversation.outcome({ ...message, timeoutMilliseconds: 10 })).rejects.toMatchObject({
    code: 'timeout',
  });
});
