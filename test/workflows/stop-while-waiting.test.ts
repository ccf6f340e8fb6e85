import { afterEach, beforeAll, expect, test } from 'vitest';
import type { SentMessage } from '../../src/client/types.ts';
import { textOf } from '../../src/context/log/content.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { createHeldCalls } from './support/held-calls.ts';
import { READ } from './write-scenarios.ts';
import { writeLogs } from './presets/scenario.ts';

const { tool: hold, held } = createHeldCalls();

const summary = { when: 'always' } as const;
const tools = ['read_file', 'hold'];
const agent = { model: 'simulator/sim-8k', policy: { summary, trigger: { fraction: 0.7 } }, tools };
const harness = useTurnHarness({ agent, tools: [hold] });

beforeAll(async () => {
  await writeLogs(harness, 5, 90);
  await harness.startWorker();
});

/** The provider is well again, for the next message and the next test. */
async function recover(): Promise<void> {
  await harness.clearFaults();
  await harness.database`delete from provider_pauses`;
}

afterEach(recover);

/** Stops a turn that waits: it ends, asks for nothing more, and the next message is answered. */
async function expectStop(sent: SentMessage): Promise<void> {
  const { client } = harness;
  const { conversationId } = sent;
  const asked = (await harness.asked()).total;
  await client.conversation.stop({ conversationId });
  const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'stopped' });
  expect((await harness.asked()).total).toBe(asked);
  await recover();
  expect((await harness.runTask('Say on', { conversationId })).outcome).toBe('completed');
  const { items: entries } = await client.log.entries({ conversationId, limit: 1_000 });
  expect(textOf(entries.at(-1)?.content ?? [])).toBe('on');
}

async function forkAtStart(): Promise<SentMessage> {
  const { conversationId } = await harness.runTask('Say one');
  return harness.client.branches.fork({ conversationId, entryId: null });
}

const compactingTask = () => harness.client.start(`${READ} 5 times, one by one`);

test('a stop aborts a summary before a step within 2 s, and the conversation goes on', async () => {
  await harness.fault({ kind: 'hang', times: null, match: { purpose: 'summary' } });
  const before = (await harness.asked()).summary;
  const sent = await compactingTask();
  await waitUntil('each part is asked for', async () => {
    const parts = await harness.database`
      select state from compaction_parts where conversation_id = ${sent.conversationId} and wave = 1`;
    return parts.length > 0 && (await harness.asked()).summary - before === parts.length;
  });
  await expectStop(sent);
});

test.each([
  ['a model call', 'agent', () => harness.client.start('Say hello')],
  ['a summary', 'summary', compactingTask],
  ['a branch summary', 'summary', forkAtStart],
] as const)(
  'a stop ends the wait for the rate limit of %s within 2 s, and the conversation goes on',
  async (_, purpose, start) => {
    await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 60, times: null, match: { purpose } });
    const sent = await start();
    await waitUntil('the turn waits', async () => {
      const { turn } = await harness.client.conversation.get({ conversationId: sent.conversationId });
      return turn?.state === 'waiting_for_rate_limit';
    });
    await expectStop(sent);
  },
);

test('a stop ends a compaction that was asked for inside the turn: it is not made in a turn of its own, nor paid again', async () => {
  const { client } = harness;
  const sent = await client.start(`${READ} 2 times, one by one\nCall hold with {"name": "asked"}\nSay on`);
  const { conversationId } = sent;
  await waitUntil('the tool runs', () => held.has('asked'));
  await harness.fault({ kind: 'hang', times: null, match: { purpose: 'summary' } });
  const before = (await harness.asked()).summary;
  const asked = await client.conversation.compact({ conversationId });
  held.get('asked')?.release();
  await waitUntil('a summary is asked for', async () => (await harness.asked()).summary > before);
  await expectStop(sent);
  const [stopped, compaction] = await Promise.all(
    [sent, asked].map((each) => client.conversation.outcome({ ...each, timeoutMilliseconds: 240_000 })),
  );
  expect(compaction).toEqual(stopped);
});
