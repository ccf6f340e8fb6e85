import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { runInProcess } from './run-in-process.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test.each([['list'], ['verify']])('%s reads Postgres alone: Temporal need not be known', async (command) => {
  const result = await runInProcess([command, '--database-url', database.url]);
  expect(result).toMatchObject({ code: 0, stderr: '' });
});

test('what is sent needs a Temporal server, and the message says how to name one', async () => {
  const result = await runInProcess(['start', 'Say hello.', '--detach', '--database-url', database.url]);
  expect(result.code).toBe(3);
  expect(result.stderr).toMatch(
    /^error \(stack_not_started\): No Temporal server is known\.\nnext: .*TEMPORAL_ADDRESS/u,
  );
});

test('a login that Postgres refuses is not called an outage', async () => {
  const url = new URL(database.url);
  url.pathname = '/no_such_database';
  const result = await runInProcess(['list', '--database-url', url.href]);
  expect(result.code).toBe(3);
  expect(result.stderr).toMatch(/^error \(database_refused\): Postgres refuses the login \(3D000\)/u);
  expect(result.stderr).not.toContain('holdfast dev');
});

test.each([
  ['--database-url', 'https://holdfast:topsecret@nowhere/holdfast', 'postgres://'],
  ['--temporal-address', 'nowhere', 'host:port'],
])('a wrong %s is named as the flag, without its value', async (flag, value, words) => {
  const result = await runInProcess(['list', flag, value]);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(`The value of ${flag} is not what it takes.`);
  expect(result.stderr).toContain(words);
  expect(result.stderr).not.toContain(value);
  expect(result.stderr).not.toContain('topsecret');
});

test('an empty query is refused', async () => {
  const result = await runInProcess(['recall', 'last', ' ', '--database-url', database.url]);
  expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('The query is empty.') as string });
});
