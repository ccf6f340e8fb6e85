import { z } from 'zod';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import type { HoldfastClient } from '../../src/client/types.ts';
import { textOf } from '../../src/context/content.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { expectDeath, startWorkerProcess } from '../support/worker-process.ts';

let harness: TurnHarness;

const work = defineTool({
  name: 'work',
  description: 'Works a moment.',
  input: z.object({ n: z.number() }),
  effect: 'once',
  run: async ({ n }) => {
    await delay(100);
    return { content: `worked ${n}` };
  },
});

beforeAll(async () => {
  harness = await startTurnHarness({ tools: [work], agent: { tools: ['work', 'list_files'] } });
});

afterAll(() => harness.stop());

test('a rolling redeploy with 20 turns open runs no tool again and buys no answer twice', async () => {
  const { client, database } = harness;
  const first = await harness.startWorker();
  await harness.fault({ kind: 'delay', milliseconds: 150, times: null });
  const turns = await Promise.all(
    Array.from({ length: 20 }, () => client.startTask({ task: 'Call work with {"n": "$index"} 4 times, one by one' })),
  );
  const begun = async (): Promise<number> =>
    (await database`select distinct turn_id from tool_calls where state <> 'requested'`).length;
  await waitUntil('tools of most turns have run', async () => (await begun()) >= 15);
  const open = await database`select from turns where outcome is null`;
  expect(open.length).toBeGreaterThan(10);
  const second = await harness.startWorker();
  first.shutdown();
  await first.ended;
  await harness.startWorker();
  second.shutdown();
  await second.ended;
  for (const turn of turns) {
    expect((await client.waitForOutcome({ ...turn, timeoutMilliseconds: 120_000 })).outcome).toBe('completed');
  }
  const again = await database`
    select attempt from tool_calls where attempt <> 1 or outcome <> 'succeeded'
    union all select attempt from model_calls where attempt <> 1 or state <> 'answered'`;
  expect(again).toEqual([]);
  await harness.clearFaults();
});

test('1,000 messages of 50 clients during a turn each enter once, in order of each client, none lost, although workers die as they take and answer them', async () => {
  const other = await startTurnHarness();
  const clients = await Promise.all(Array.from({ length: 50 }, () => openClient(other)));
  try {
    const doomed = await startWorkerProcess(other, { HOLDFAST_CRASH_POINTS: 'takeMessages:written' });
    await other.fault({ kind: 'delay', milliseconds: 6_000, times: 1 });
    const sent = await other.client.startTask({ task: 'Call list_files with {"path": "."}\nSay done' });
    const { conversationId } = sent;
    await waitUntil('the model is asked', async () => (await other.requests()).total === 1);
    await Promise.all(
      clients.map(async (client, sender) => {
        for (let index = 0; index < 20; index += 1) {
          const mode = sender === 0 && index % 10 === 9 ? 'queue' : 'steer';
          await client.sendMessage({ conversationId, content: `Say ${sender}/${index}`, mode });
        }
      }),
    );
    await expectDeath(doomed, 'takeMessages:written');
    for (const point of ['callModel:stored', 'endTurn:written']) {
      await expectDeath(await startWorkerProcess(other, { HOLDFAST_CRASH_POINTS: point }), point);
    }
    await other.startWorker();
    await waitUntil(
      'all messages are taken',
      async () => {
        const conversation = await other.client.getConversation(conversationId);
        return conversation.waitingMessages === 0 && conversation.turn?.state === 'ended';
      },
      120_000,
    );
    const said: string[] = [];
    for (let after = 0; ;) {
      const page = await other.client.listEntries({ conversationId, afterSequence: after, limit: 1_000 });
      if (page.length === 0) break;
      after = page.at(-1)?.sequence ?? after;
      said.push(...page.filter(({ kind }) => kind === 'user').map(({ content }) => textOf(content)));
    }
    for (let sender = 0; sender < 50; sender += 1) {
      const all = Array.from({ length: 20 }, (_, index) => `Say ${sender}/${index}`);
      const own = said.filter((text) => text.startsWith(`Say ${sender}/`));
      // Queued ones come after the turn; each kind keeps its order.
      const isQueued = (text: string): boolean => sender === 0 && text.endsWith('9');
      expect(own.toSorted()).toEqual(all.toSorted());
      expect(own.filter((text) => !isQueued(text))).toEqual(all.filter((text) => !isQueued(text)));
      expect(own.filter(isQueued)).toEqual(all.filter(isQueued));
    }
    expect(said).toHaveLength(1_001);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await other.stop();
  }
}, 400_000);

/** A client with connections of its own. */
function openClient({ databaseUrl, temporalAddress, taskQueue }: TurnHarness): Promise<HoldfastClient> {
  return createClient({ databaseUrl, taskQueue, temporal: { address: temporalAddress, namespace: 'default' } });
}
