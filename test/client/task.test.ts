import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TimelineEvent } from '../../src/client/types.ts';
import { newId } from '../../src/store/database/ids.ts';
import { insertMemory } from '../support/insert-memory.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness();
  await harness.startWorker();
});
afterAll(async () => harness.stop());

async function eventsOf(task: { events: () => AsyncIterable<TimelineEvent> }): Promise<TimelineEvent[]> {
  const events: TimelineEvent[] = [];
  for await (const event of task.events()) events.push(event);
  return events;
}

test('a task tells the events of its own turn, ends with it, and its result holds the answer', async () => {
  const { client } = harness;
  const task = await client.start('Say one', { agent: 'default' });
  const events = await eventsOf(task);
  expect(events.map(({ kind }) => kind)).toEqual([
    'turn_begun',
    'message_taken',
    'model_call_started',
    'model_call_answered',
    'turn_ended',
  ]);
  const { outcome, text, output, cost, explanation } = await task.result();
  expect({ outcome, text, output, cost }).toEqual({ outcome: 'completed', text: 'one', output: undefined, cost: 0 });
  expect(explanation).toMatch(/^The turn .*\.$/u);
  const next = await client.open(task.conversation.id).send('Say two', { mode: 'queue' });
  const turns = new Set((await eventsOf(next)).map(({ turnId }) => turnId));
  expect([turns.size, turns.has(events[0]?.turnId ?? '')]).toEqual([1, false]);
  expect(await next.result()).toMatchObject({ outcome: 'completed', text: 'two' });
  expect((await task.conversation.get()).turn).toMatchObject({ outcome: 'completed' });
  expect(await task.conversation.summaries()).toEqual([]);
});

test('conversations are listed by agent, state and time', async () => {
  const { client } = harness;
  const { conversationId } = await client.start('Say listed');
  const ids = async (options: Parameters<typeof client.conversation.list>[0]) =>
    (await client.conversation.list(options)).items.map((each) => each.conversationId);
  expect(await ids({ agent: 'default' })).toContain(conversationId);
  expect(await ids({ agent: 'another' })).toEqual([]);
  expect(await ids({ since: new Date(Date.now() + 3_600_000).toISOString() })).toEqual([]);
  expect(await ids({ since: new Date(Date.now() - 3_600_000).toISOString() })).toContain(conversationId);
});

test('memories are listed by scope and forgotten by id, those of another tenant not', async () => {
  const { client, database } = harness;
  const memory = { kind: 'fact', text: 'Heron nests.', origin: 'user' } as const;
  const [own, other] = [newId(), newId()];
  await insertMemory(database, { ...memory, id: own, scope: 'user', scopeName: 'ada' });
  await insertMemory(database, { ...memory, id: other, scope: 'user', scopeName: 'ada', tenant: 'elsewhere' });
  const listed = async () => (await client.memory.list({ scope: 'user', name: 'ada' })).items.map(({ id }) => id);
  expect(await listed()).toEqual([own]);
  expect((await client.memory.list({ scope: 'agent' })).items).toEqual([]);
  const options = { environment: harness.environment };
  expect((await runInProcess(['memory', 'list', '--of', 'ada'], options)).stdout).toMatch(
    new RegExp(`${own} +user ada +fact +Heron nests\\.`, 'u'),
  );
  expect((await runInProcess(['memory', 'forget', own], options)).stdout).toBe('Forgotten.\n');
  expect(await listed()).toEqual([]);
  for (const memoryId of [own, other, 'no-uuid']) {
    await expect(client.memory.forget({ memoryId })).rejects.toMatchObject({ code: 'memory_not_found' });
  }
});
