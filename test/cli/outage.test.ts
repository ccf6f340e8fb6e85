import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startCli } from './run-cli.ts';

let harness: TurnHarness;
let proxy: TcpProxy;

beforeAll(async () => {
  harness = await startTurnHarness({ agent: { tools: ['ask_user'] } });
  await harness.startWorker();
  proxy = await startTcpProxy(harness.databaseUrl);
});

afterAll(async () => {
  await proxy.close();
  await harness.stop();
});

test('a watcher that loses Postgres says so, and shows the rest of the turn, each line once, when it is back', async () => {
  await harness.fault({ kind: 'hang', times: null });
  const { conversationId } = await harness.client.start('Say Over and out.');
  const watching = startCli(['watch', conversationId], {
    environment: { ...harness.environment, DATABASE_URL: proxy.url(harness.databaseUrl) },
    directory: harness.workspace,
  });
  await waitUntil('the turn is shown', () => watching.stdout().includes('> Say Over and out.'));
  await proxy.reset();
  await waitUntil('the outage is told', () => watching.stderr().includes('Postgres has not answered'));
  await harness.client.conversation.stop({ conversationId });
  await waitUntil(
    'the turn ends',
    async () => (await harness.client.conversation.get({ conversationId })).turn?.outcome !== null,
  );
  await proxy.mend();
  const { code, stdout } = await watching.ended;
  await harness.clearFaults();
  expect(code).toBe(1);
  expect(stdout).toContain('✗ stopped');
  expect(stdout.split('> Say Over and out.')).toHaveLength(2);
});

test('a compaction that waits for a decision outlives a lost Postgres, says so, and is told when it is made', async () => {
  const { client } = harness;
  const { conversationId } = await client.start('Call ask_user with {"question": "Sure?"}');
  await waitUntil('it asks', async () => (await client.conversation.get({ conversationId })).waitingCalls.length === 1);
  const compacting = startCli(['compact', conversationId], {
    environment: { ...harness.environment, DATABASE_URL: proxy.url(harness.databaseUrl) },
    directory: harness.workspace,
  });
  await waitUntil('it is told what is waited for', () => compacting.stdout().includes('your answer to call 1.1.0'));
  await proxy.reset();
  await waitUntil('the outage is told', () => compacting.stderr().includes('Postgres has not answered'));
  await client.decisions.answer({ conversationId, text: 'yes' });
  await proxy.mend();
  const { code, stdout } = await compacting.ended;
  expect(code).toBe(0);
  expect(stdout).toContain('ask_user (call 1.1.0): answered.');
  expect(stdout).toMatch(/Nothing was compacted|compaction done/u);
});
