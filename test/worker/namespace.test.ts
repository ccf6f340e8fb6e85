import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { adoptNamespace, readNamespace } from '../../src/store/database/temporal-namespace.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { useTurnHarness } from '../support/turn-harness.ts';

const harness = useTurnHarness();

test('a worker and a client of another namespace are refused, until the database is adopted', async () => {
  const { client, database, environment } = harness;
  await adoptNamespace(database, { name: 'elsewhere', id: '7f0c' });
  const refusal = {
    code: 'namespace_differs',
    message: expect.stringMatching(/namespace "elsewhere" \(7f0c\), not to "default"/u),
  };
  await expect(harness.startWorker()).rejects.toMatchObject(refusal);
  await expect(client.start('Say hello.')).rejects.toMatchObject(refusal);
  expect(await client.conversation.list()).toMatchObject({ items: [] });
  const { code, stderr } = await runInProcess(['db', 'adopt', '--namespace', 'default'], { environment });
  expect([code, stderr]).toEqual([0, '']);
  expect(await readNamespace(database)).toMatchObject({ name: 'default' });
  await harness.startWorker();
  expect((await harness.runTask('Say hello.')).outcome).toBe('completed');
});

test('a server that lost its data is another one under the same name: worker and client are refused, and nothing is stored', async () => {
  const { database, databaseUrl, taskQueue, temporalAddress: address } = harness;
  await adoptNamespace(database, { name: 'default', id: 'lost' });
  await expect(harness.startWorker()).rejects.toMatchObject({ code: 'namespace_differs' });
  const client = await connect({ databaseUrl, taskQueue, temporal: { address, namespace: 'default' } });
  onTestFinished(() => client.close());
  const before = await database`select from conversations`;
  const refusal = { code: 'namespace_differs', message: expect.stringContaining('(lost), not to "default" (') };
  for (const _ of [1, 2]) await expect(client.start('Say hello.')).rejects.toMatchObject(refusal);
  expect(await database`select from conversations`).toHaveLength(before.length);
});
