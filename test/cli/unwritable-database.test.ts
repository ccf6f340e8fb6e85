import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import type { Database } from '../../src/store/database/database.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { diskFull } from '../support/disk-full.ts';
import { runInProcess } from './run-in-process.ts';

/** Nothing listens there: what is sent stays in the inbox. */
const temporal = { address: '127.0.0.1:1', namespace: 'default' };

let database: TestDatabase;
let sql: Database;
let conversationId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  sql = connectDatabase({ url: database.ownerUrl });
  const client = await connect({ databaseUrl: database.url, temporal });
  ({ conversationId } = await client.start('Say hello.'));
  await client.close();
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const run = (...args: string[]) =>
  runInProcess(args, { environment: { DATABASE_URL: database.url, TEMPORAL_ADDRESS: temporal.address } });

describe('on a Postgres that takes no writes', () => {
  const name = () => `"${new URL(database.url).pathname.slice(1)}"`;
  beforeAll(() => sql.unsafe(`alter database ${name()} set default_transaction_read_only = on`));
  afterAll(() => sql.unsafe(`alter database ${name()} reset default_transaction_read_only`));

  test.each([
    ['send', (id: string) => ['send', id, 'Go on.']],
    ['approvals', () => ['approvals', '--end', '--agent', 'default', '--rule', 'tool act']],
  ])('%s says so and what to do', async (_, args) => {
    const { code, stderr } = await run(...args(conversationId));
    expect(stderr).toMatch(
      /^error \(database_read_only\): Postgres takes no writes: .* \(25006\)\nnext: Connect to the primary /u,
    );
    expect(code).toBe(3);
    expect(stderr).not.toContain('holdfast dev');
  });

  test('what only reads works', async () => {
    expect(await run('list')).toMatchObject({ code: 0, stderr: '' });
  });

  test('the client throws its own error', async () => {
    const client = await connect({ databaseUrl: database.url, temporal });
    try {
      await expect(client.conversation.stop({ conversationId })).rejects.toMatchObject({
        name: 'HoldfastClientError',
        code: 'database_read_only',
      });
    } finally {
      await client.close();
    }
  });
});

test('a full disk of Postgres is named, and what was sent is not said to be stored', async () => {
  const disk = await diskFull(sql, 'insert on messages');
  try {
    const { code, stdout, stderr } = await run('send', conversationId, 'Go on.');
    expect(stderr).toMatch(
      /^error \(database_disk_full\): Postgres cannot write to its disk \(53100\)\nnext: Make room /u,
    );
    expect([code, stdout]).toEqual([3, '']);
  } finally {
    await disk.end();
  }
});
