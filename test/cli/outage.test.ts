import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startCli } from './run-cli.ts';

/** A way to Postgres that can be cut: connections break and new ones are refused. */
async function startProxy(target: URL) {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy()).on('close', () => to.destroy());
      from.pipe(to);
    }
    if (isCut) socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cut(): void {
      isCut = true;
      for (const socket of open) socket.destroy();
    },
    mend(): void {
      isCut = false;
    },
    close(): void {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

let harness: TurnHarness;
let proxy: Awaited<ReturnType<typeof startProxy>>;

beforeAll(async () => {
  harness = await startTurnHarness();
  await harness.startWorker();
  proxy = await startProxy(new URL(harness.databaseUrl));
});

afterAll(async () => {
  proxy.close();
  await harness.stop();
});

test('a watcher that loses Postgres says so, and shows the rest of the turn, each line once, when it is back', async () => {
  await harness.fault({ kind: 'hang', times: null });
  const { conversationId } = await harness.client.startTask({ task: 'Say Over and out.' });
  const watching = startCli(['watch', conversationId], {
    environment: { ...harness.environment, DATABASE_URL: proxy.url },
    directory: harness.workspace,
  });
  await waitUntil('the turn is shown', () => watching.stdout().includes('> Say Over and out.'));
  proxy.cut();
  await waitUntil('the outage is told', () => watching.stderr().includes('Postgres has not answered'));
  await harness.client.stop({ conversationId });
  await waitUntil(
    'the turn ends',
    async () => (await harness.client.getConversation(conversationId)).turn?.outcome !== null,
  );
  proxy.mend();
  const { code, stdout } = await watching.ended;
  await harness.clearFaults();
  expect(code).toBe(1);
  expect(stdout).toContain('✗ stopped');
  expect(stdout.split('> Say Over and out.')).toHaveLength(2);
});
