import { afterEach, beforeEach, expect, test } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;
let logged: string[];

beforeEach(async () => {
  logged = [];
  harness = await startTurnHarness({ log: (line) => logged.push(line) });
});

afterEach(() => harness.stop());

async function addMigration(isRequired: boolean): Promise<void> {
  await harness.database`
    insert into migrations (name, checksum, is_required) values ('999999_next.sql', 'unknown', ${isRequired})`;
}

async function openClient(): Promise<void> {
  const { databaseUrl, taskQueue, temporalAddress: address } = harness;
  const client = await connect({ databaseUrl, taskQueue, temporal: { address, namespace: 'default' } });
  await client.close();
}

test('a worker and a client of an older version start on a database that a newer one has migrated, and turns complete', async () => {
  await addMigration(false);
  await harness.startWorker();
  await openClient();
  expect(await harness.runTask('Say done')).toMatchObject({ outcome: 'completed' });
  expect(logged.filter((line) => line.includes('migrations of a newer version'))).toEqual([
    expect.stringContaining('999999_next.sql'),
  ]);
});

test('a client of an older version copies no conversation out of a newer database: it would leave out what that added', async () => {
  await harness.startWorker();
  const { conversationId } = await harness.runTask('Say done');
  const lines: string[] = [];
  const copy = () => harness.client.conversation.export({ conversationId, write: (line) => void lines.push(line) });
  await copy();
  expect(lines.length).toBeGreaterThan(0);
  await addMigration(false);
  lines.length = 0;
  await expect(copy()).rejects.toThrow('999999_next.sql');
  expect(lines).toEqual([]);
});

test('a worker and a client of an older version refuse to start behind a migration that they cannot work with', async () => {
  await addMigration(true);
  await expect(harness.startWorker()).rejects.toMatchObject({ code: 'database_newer' });
  await expect(openClient()).rejects.toMatchObject({ code: 'database_schema' });
  await expect(openClient()).rejects.toThrow('999999_next.sql');
});
