import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import { HoldfastClientError } from '../../src/client/errors.ts';
import type { HoldfastClient } from '../../src/client/types.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import { newId } from '../../src/store/database/ids.ts';
import { end } from '../store/support/branch-builders.ts';
import { startTurn } from '../store/support/store-builders.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';

/** Nothing listens there: what is sent stays in the inbox. */
const temporal = { address: '127.0.0.1:1', namespace: 'default' };

let database: TestDatabase;
let client: HoldfastClient;
let conversationId: string;
let messageId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  client = await createClient({ databaseUrl: database.url, temporal });
  ({ conversationId, messageId } = await client.startTask({ task: 'Say hello.', agent: 'reader', preset: 'pi' }));
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
      const error = await errorOf(() => createClient({ databaseUrl: loosely(databaseUrl), temporal }));
      expect(error.code).toBe('invalid_argument');
      expect(error.message).toMatch(/^createClient: databaseUrl .*postgres:\/\//u);
      expect(error.message).not.toContain('secret');
      expect(error.cause).toBeUndefined();
    },
  );

  test('a server that does not answer is named by host and port alone', async () => {
    const databaseUrl = 'postgres://holdfast:secret@127.0.0.1:1/holdfast';
    const error = await errorOf(() => createClient({ databaseUrl, temporal }));
    expect(error).toMatchObject({
      code: 'database_unreachable',
      what: 'Postgres at 127.0.0.1:1 does not answer (ECONNREFUSED)',
    });
  });
});

test('arguments that make no sense are refused with method, name, value and what is accepted', async () => {
  const wrong: readonly (readonly [() => Promise<unknown>, string])[] = [
    [
      () => client.sendMessage({ conversationId, content: 'Go.', mode: loosely('bogus') }),
      'sendMessage: mode is "bogus": it must be one of steer, queue',
    ],
    [
      () => client.listEntries({ conversationId, limit: -1 }),
      'listEntries: limit is -1: it must be a whole number of 1 or more',
    ],
    [
      () => client.listEntries({ conversationId, afterSequence: NaN }),
      'listEntries: afterSequence is NaN: it must be a whole number of 0 or more',
    ],
    [() => client.getConversation(loosely(undefined)), 'getConversation: its argument is missing: it must be a text'],
    [
      () => client.searchMemory({ query: 'pump', conversationId, agent: 'reader' }),
      'searchMemory: its argument must name a conversationId or an agent, and not both',
    ],
    [
      () => client.searchMemory({ query: 'pump', agent: 'reader', after: 'soon' }),
      'searchMemory: after is "soon": it must be an ISO time',
    ],
    [() => client.fork({ conversationId, entryId: 'first' }), 'fork: entryId is "first": it must be a UUID'],
    [
      () => client.startTask({ task: 'Go.', workspace: 'here' }),
      'startTask: workspace is "here": it must be an absolute path',
    ],
    ...['', ' ', 'a\nb', 'a\0', '\uD800', 'x'.repeat(201)].map((user): readonly [() => Promise<unknown>, string] => [
      () => client.startTask({ task: 'Go.', user }),
      'must be a text of 1 to 200 characters, not blank and without control characters',
    ]),
    [
      () => client.sendMessage({ conversationId, content: loosely([{ type: 'text', text: 7 }]) }),
      'sendMessage: content must be a text, or a list of texts, images and files',
    ],
    [
      async () => firstOf(client.watch({ conversationId, afterSequence: -1 })),
      'watch: afterSequence is -1: it must be a whole number of 0 or more',
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
      () => client.listEntries(of),
      () => client.countEntries(of),
      () => client.listSummaries(of),
      () => client.readLineage(unknown),
      () => client.searchMemory({ ...of, query: 'pump' }),
      () => client.listModelCalls(of),
      () => client.getView(of),
      () => client.getContext(unknown),
      () => client.listBranches(unknown),
      () => client.getActiveBranch(unknown),
      () => client.listCosts({ ...of, by: 'turn' }),
      () => client.reindex(of),
      () => client.waitForOutcome({ ...of, messageId }),
      async () => firstOf(client.watch(of)),
      () => client.sendMessage({ ...of, content: 'Go on.' }),
      () => client.exportConversation({ ...of, write: () => undefined }),
      () => client.deleteConversation(unknown),
    ];
    for (const work of asked) {
      expect([(await errorOf(work)).code, String(work)]).toEqual(['conversation_not_found', String(work)]);
    }
  },
);

test('a conversation that has nothing yet is not called unknown', async () => {
  const of = { conversationId };
  expect(await client.listEntries(of)).toEqual({ items: [], hasMore: false });
  expect(await client.listModelCalls(of)).toEqual({ items: [], hasMore: false });
  expect(await client.listSummaries(of)).toEqual([]);
  expect(await client.countEntries(of)).toBe(0);
  expect(await client.searchMemory({ ...of, query: 'pump' })).toEqual([]);
});

test('an outcome is waited for in its own conversation, and not for a signal that aborted', async () => {
  const other = await client.startTask({ task: 'Say no.' });
  const error = await errorOf(() => client.waitForOutcome({ conversationId: other.conversationId, messageId }));
  expect(error).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(messageId) });
  const reason = new Error('left');
  const signal = AbortSignal.abort(reason);
  await expect(client.waitForOutcome({ conversationId, messageId, signal })).rejects.toBe(reason);
});

test('a repeated start returns the conversation of the first; another task under its key is refused', async () => {
  const start = { task: 'Say once.', startKey: 'order-17' };
  const first = await client.startTask(start);
  expect(first).toMatchObject({ messageId: 'order-17', duplicate: false });
  expect(await client.startTask(start)).toEqual({ ...first, duplicate: true });
  expect((await client.startTask({ task: start.task })).conversationId).not.toBe(first.conversationId);
  const other = await errorOf(() => client.startTask({ ...start, task: 'Say more.' }));
  expect([other.code, other.message]).toEqual(['message_id_reused', expect.stringContaining('order-17')]);
});

test('a client that was closed says so, and closing it again does nothing', async () => {
  const closed = await createClient({ databaseUrl: database.url, temporal });
  const watching = errorOf(async () => firstOf(closed.watch({ conversationId, afterSequence: 9 })));
  await closed.listConversations();
  await closed.close();
  await closed.close();
  expect((await watching).code).toBe('client_closed');
  for (const work of [
    () => closed.listConversations(),
    () => closed.listServedModels(),
    () => closed.sendMessage({ conversationId, content: 'Go on.' }),
    async () => firstOf(closed.watch({ conversationId })),
  ]) {
    expect((await errorOf(work)).code).toBe('client_closed');
  }
});

test('a watch that begins while its client closes ends with it, and leaves no connection', async () => {
  const closed = await createClient({ databaseUrl: database.url, temporal });
  const watching = errorOf(async () => firstOf(closed.watch({ conversationId, afterSequence: 9 })));
  await closed.close();
  expect((await watching).code).toBe('client_closed');
});

test('what the function that writes an export throws comes back as it is', async () => {
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const sql = connectDatabase({ url: database.url });
  const turn = await startTurn(sql);
  await end(sql, turn);
  await sql.end();
  const exported = client.exportConversation({
    conversationId: turn.conversationId,
    write: () => Promise.reject(full),
  });
  await expect(exported).rejects.toBe(full);
});
