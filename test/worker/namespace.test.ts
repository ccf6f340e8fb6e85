import { afterAll, beforeAll, expect, test } from 'vitest';
import { adoptNamespace, readNamespace } from '../../src/store/temporal-namespace.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness();
});

afterAll(() => harness.stop());

test('a worker and a client of another namespace are refused, until the database is adopted', async () => {
  const { client, database, environment } = harness;
  await adoptNamespace(database, { name: 'elsewhere', id: '7f0c' });
  const refusal = {
    code: 'namespace_differs',
    message: expect.stringMatching(/namespace "elsewhere" \(7f0c\), not to "default"/u),
  };
  await expect(harness.startWorker()).rejects.toMatchObject(refusal);
  await expect(client.startTask({ task: 'Say hello.' })).rejects.toMatchObject(refusal);
  expect(await client.listConversations()).toMatchObject({ items: [] });
  const { code, stderr } = await runInProcess(['db', 'adopt', '--namespace', 'default'], { environment });
  expect([code, stderr]).toEqual([0, '']);
  expect(await readNamespace(database)).toMatchObject({ name: 'default' });
  await harness.startWorker();
  expect((await harness.runTask('Say hello.')).outcome).toBe('completed');
});

test('a server that lost its data is another one under the same name', async () => {
  await adoptNamespace(harness.database, { name: 'default', id: 'lost' });
  await expect(harness.startWorker()).rejects.toMatchObject({ code: 'namespace_differs' });
});
