import { expect, test } from 'vitest';
import { diskFull } from '../support/disk-full.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

const harness = useWorkingHarness();

test('work that fails ten times, and not because of an outage, ends the turn as interrupted with one code; the next message goes on', async () => {
  const { client, database } = harness;
  // A limit of Postgres is exceeded, which no waiting mends.
  const broken = await diskFull(database, 'insert on model_attempts', '54000');
  const sent = await client.start('Say hello');
  const { conversationId } = sent;
  const failing = async () =>
    (await database`select from conversations where id = ${conversationId} and failures <> '{}'`).length === 1;
  await waitUntil('a failure is counted', failing, 10_000);
  await database`
    update conversations set failures = (select jsonb_object_agg(key, 9) from jsonb_each(failures))
    where id = ${conversationId}`;
  const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 30_000 });
  expect(turn).toMatchObject({ outcome: 'interrupted', reason: 'repeated_failure' });
  expect(turn.explanation).toContain('failed ten times');
  expect(await failing()).toBe(false);
  await broken.end();
  expect((await harness.runTask('Say hello', { conversationId })).outcome).toBe('completed');
});
