import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startCli } from './run-cli.ts';

let proxy: TcpProxy;

const harness = useTurnHarness();

beforeAll(async () => {
  await harness.startWorker();
  proxy = await startTcpProxy(harness.databaseUrl);
});

afterAll(async () => {
  await proxy.close();
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
