import { expect, test } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { textOf } from '../../src/context/log/content.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';
import { createHeldCalls } from './support/held-calls.ts';

const SENDERS = 4;
const MESSAGES_OF_EACH = 75;

const { tool: hold, held, start } = createHeldCalls();

const harness = useWorkingHarness({ tools: [hold], agent: { tools: ['hold'] } });

async function eventsOfHistory(conversationId: string): Promise<number> {
  return (await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId)).describe()).historyLength;
}

const contentOf = (sender: number): string[] =>
  Array.from({ length: MESSAGES_OF_EACH }, (_, index) => `Say ${sender}/${index}`);

/** By a client of its own; returns when its rings have arrived. */
async function sendAll(conversationId: string, sender: number): Promise<void> {
  const { databaseUrl, taskQueue, temporalAddress: address } = harness;
  const client = await connect({ databaseUrl, taskQueue, temporal: { address, namespace: 'default' } });
  for (const content of contentOf(sender)) await client.conversation.send({ conversationId, content, mode: 'steer' });
  await client.close();
}

test('hundreds of messages during one tool call add no event to the history of its turn, and each enters once and in order', async () => {
  const { client } = harness;
  const task = await start(harness, 'steered');
  const { conversationId } = task;
  const before = await eventsOfHistory(conversationId);
  await Promise.all(Array.from({ length: SENDERS }, (_, sender) => sendAll(conversationId, sender)));
  expect(await eventsOfHistory(conversationId)).toBe(before);
  held.get('steered')?.release();
  expect(await client.conversation.outcome({ ...task, timeoutMilliseconds: 120_000 })).toMatchObject({
    outcome: 'completed',
  });
  const { items: entries } = await client.log.entries({ conversationId, limit: 1_000 });
  const said = entries.filter(({ kind }) => kind === 'user').map(({ content }) => textOf(content));
  expect(said).toHaveLength(1 + SENDERS * MESSAGES_OF_EACH);
  for (let sender = 0; sender < SENDERS; sender += 1)
    expect(said.filter((text) => text.startsWith(`Say ${sender}/`))).toEqual(contentOf(sender));
}, 300_000);
