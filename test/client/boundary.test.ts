import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { HoldfastClientError } from '../../src/client/errors.ts';
import type { Holdfast } from '../../src/client/holdfast.ts';

import { connectDatabase } from '../../src/store/database/database.ts';
import { newId } from '../../src/store/database/ids.ts';
import { end } from '../store/support/branch-builders.ts';
import { startTurn } from '../store/support/store-builders.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';

/** Nothing listens there: what is sent stays in the inbox. */
const temporal = { address: '127.0.0.1:1', namespace: 'default' };

let database: TestDatabase;
let client: Holdfast;
let conversationId: string;
let messageId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  client = await connect({ databaseUrl: database.url, temporal });
  ({ conversationId, messageId } = await client.start('Say hello.', { agent: 'reader', preset: 'pi' }));
});
afterAll(async () => {
  await client.close();
  await database.drop();
});

async function errorOf(work: () => Promise<unknown>): Promise<HoldfastClientError> {
  const error: unknown = await work().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HoldfastClientError)) throw new Error(`no HoldfastClientError: ${String(error)}`);
  return error;
}

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item | null> {
  for await (const item of items) return item;
  return null;
}

/** As JavaScript, or a number from elsewhere, may call it. */
function loosely<Value>(value: unknown): Value {
  return value as Value;
}

describe('what is not an address of a server', () => {
  test.each([['garbage'], ['http://x:secret@y/z'], ['postgres://a:secret@:::/z']])(
    '%s is refused before anything connects, and not shown',
    async (databaseUrl) => {
      const error = await errorOf(() => connect({ databaseUrl: loosely(databaseUrl), temporal }));
      expect(error.code).toBe('invalid_argument');
      expect(error.message).toMatch(/^connect: databaseUrl .*postgres:\/\//u);
      expect(error.message).not.toContain('secret');
      expect(error.cause).toBeUndefined();
    },
  );

  test('a key is refused and not shown', async () => {
    const error = await errorOf(() => connect({ url: 'http://127.0.0.1:1', apiKey: 'hf_secret\n' }));
    expect(error).toMatchObject({ code: 'invalid_argument', what: 'connect: apiKey must be a key' });
  });

  test('a server that does not answer is named by host and port alone', async () => {
    const databaseUrl = 'postgres://holdfast:secret@127.0.0.1:1/holdfast';
    const error = await errorOf(() => connect({ databaseUrl, temporal }));
    expect(error).toMatchObject({
      code: 'database_unreachable',
      what: 'Postgres at 127.0.0.1:1 does not answer (ECONNREFUSED)',
    });
  });
});

test('arguments that make no sense are refused with method, name, value and what is accepted', async () => {
  const wrong: readonly (readonly [() => Promise<unknown>, string])[] = [
    [
      () => client.conversation.send({ conversationId, content: 'Go.', mode: loosely('bogus') }),
      'conversation.send: mode is "bogus": it must be one of steer, queue',
    ],
    [
      () => client.log.entries({ conversationId, limit: -1 }),
      'log.entries: limit is -1: it must be a whole number of 1 or more',
    ],
    [
      () =>
        client.conversation.send({
          conversationId,
          content: loosely([{ type: 'text', text: 'Go.', cache: undefined }]),
        }),
      'conversation.send: content.0.cache is not accepted: there are type, text',
    ],
    [
      () => client.log.entries({ conversationId, afterSequence: NaN }),
      'log.entries: afterSequence is NaN: it must be a whole number of 0 or more',
    ],
    [
      () => client.conversation.get({ conversationId: loosely(undefined) }),
      'conversation.get: conversationId is missing: it must be a text',
    ],
    [
      () => client.memory.search({ query: 'pump', conversationId, agent: 'reader' }),
      'memory.search: its argument must name a conversationId or an agent, and not both',
    ],
    [
      () => client.memory.search({ query: 'pump', agent: 'reader', after: 'soon' }),
      'memory.search: after is "soon": it must be an ISO time',
    ],
    [
      () => client.branches.fork({ conversationId, entryId: 'first' }),
      'branches.fork: entryId is "first": it must be a UUID',
    ],
    [() => client.start('Go.', { workspace: 'here' }), 'start: workspace is "here": it must be an absolute path'],
    ...['', ' ', 'a\nb', 'a\0', '\uD800', 'x'.repeat(201)].map((user): readonly [() => Promise<unknown>, string] => [
      () => client.start('Go.', { user }),
      'must be a text of 1 to 200 characters, not blank and without control characters',
    ]),
    [
      () => client.conversation.send({ conversationId, content: loosely([{ type: 'text', text: 7 }]) }),
      'conversation.send: content.0.text must be a text',
    ],
    [
      () => client.conversation.pin({ conversationId, rule: ' \n' }),
      'conversation.pin: rule is " \\n": it must be a rule, not blank',
    ],
    [
      async () => firstOf(client.conversation.watch({ conversationId, afterSequence: -1 })),
      'conversation.watch: afterSequence is -1: it must be a whole number of 0 or more',
    ],
  ];
  for (const [work, message] of wrong) {
    expect(await errorOf(work)).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(message) });
  }
});

test.each([[newId()], ['no-uuid']])(
  '%s, which is no conversation, is never answered as an empty one',
  async (unknown) => {
    const of = { conversationId: unknown };
    const asked: readonly (() => Promise<unknown>)[] = [
      () => client.log.entries(of),
      () => client.log.count(of),
      () => client.log.summaries(of),
      () => client.log.lineage({ conversationId: unknown }),
      () => client.memory.search({ ...of, query: 'pump' }),
      () => client.log.modelCalls(of),
      () => client.log.view(of),
      () => client.log.context({ conversationId: unknown }),
      () => client.branches.list({ conversationId: unknown }),
      () => client.branches.active({ conversationId: unknown }),
      () => client.models.costs({ ...of, by: 'turn' }),
      () => client.memory.reindex(of),
      () => client.conversation.outcome({ ...of, messageId }),
      async () => firstOf(client.conversation.watch(of)),
      () => client.conversation.send({ ...of, content: 'Go on.' }),
      () => client.conversation.export({ ...of, write: () => undefined }),
      () => client.conversation.delete({ conversationId: unknown }),
    ];
    for (const work of asked) {
      expect([(await errorOf(work)).code, String(work)]).toEqual(['conversation_not_found', String(work)]);
    }
  },
);

test('a conversation that has nothing yet is not called unknown', async () => {
  const of = { conversationId };
  expect(await client.log.entries(of)).toEqual({ items: [], hasMore: false });
  expect(await client.log.modelCalls(of)).toEqual({ items: [], hasMore: false });
  expect(await client.log.summaries(of)).toEqual([]);
  expect(await client.log.count(of)).toBe(0);
  expect(await client.memory.search({ ...of, query: 'pump' })).toEqual([]);
});

test('an outcome is waited for in its own conversation, and not for a signal that aborted', async () => {
  const other = await client.start('Say no.');
  const error = await errorOf(() => client.conversation.outcome({ conversationId: other.conversationId, messageId }));
  expect(error).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(messageId) });
  const reason = new Error('left');
  const signal = AbortSignal.abort(reason);
  await expect(client.conversation.outcome({ conversationId, messageId, signal })).rejects.toBe(reason);
});

test('a repeated start returns the conversation of the first; another task under its key is refused', async () => {
  const start = () => client.start('Say once.', { startKey: 'order-17' });
  const first = await start();
  expect(first).toMatchObject({ messageId: 'order-17', duplicate: false });
  expect(await start()).toMatchObject({ conversationId: first.conversationId, duplicate: true });
  expect((await client.start('Say once.')).conversationId).not.toBe(first.conversationId);
  const other = await errorOf(() => client.start('Say more.', { startKey: 'order-17' }));
  expect([other.code, other.message]).toEqual(['message_id_reused', expect.stringContaining('order-17')]);
});

test('a client that was closed says so, and closing it again does nothing', async () => {
  const closed = await connect({ databaseUrl: database.url, temporal });
  const watching = errorOf(async () => firstOf(closed.conversation.watch({ conversationId, afterSequence: 9 })));
  await closed.conversation.list();
  await closed.close();
  await closed.close();
  expect((await watching).code).toBe('client_closed');
  for (const work of [
    () => closed.conversation.list(),
    () => closed.models.listServed(),
    () => closed.conversation.send({ conversationId, content: 'Go on.' }),
    async () => firstOf(closed.conversation.watch({ conversationId })),
  ]) {
    expect((await errorOf(work)).code).toBe('client_closed');
  }
});

test('a watch that begins while its client closes ends with it, and leaves no connection', async () => {
  const closed = await connect({ databaseUrl: database.url, temporal });
  const watching = errorOf(async () => firstOf(closed.conversation.watch({ conversationId, afterSequence: 9 })));
  await closed.close();
  expect((await watching).code).toBe('client_closed');
});

test('a number without a pin is refused where nothing waits, and not where a message that pins waits', async () => {
  const sql = connectDatabase({ url: database.url });
  const turn = await startTurn(sql);
  await end(sql, turn);
  await sql.end();
  const of = { conversationId: turn.conversationId };
  expect(await errorOf(() => client.conversation.unpin({ ...of, pin: 1 }))).toMatchObject({
    code: 'invalid_argument',
    what: 'there is no pin 1 (nothing is pinned)',
  });
  await client.conversation.pin({ ...of, rule: 'Be brief.' });
  await client.conversation.unpin({ ...of, pin: 1 });
  expect((await client.conversation.get(of)).waitingMessages).toBe(2);
});

test('what the function that writes an export throws comes back as it is', async () => {
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const sql = connectDatabase({ url: database.url });
  const turn = await startTurn(sql);
  await end(sql, turn);
  await sql.end();
  const exported = client.conversation.export({
    conversationId: turn.conversationId,
    write: () => Promise.reject(full),
  });
  await expect(exported).rejects.toBe(full);
});
