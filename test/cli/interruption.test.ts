import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { EXECUTABLE, startCli } from './run-cli.ts';
import type { RunningCli } from './run-cli.ts';
import type { CliResult } from './cli-result.ts';

/** Far below the minutes for which a silent server is waited for; a loaded machine needs more than the second that a user does. */
const SOON_MILLISECONDS = 60_000;

/** Takes connections and says nothing. */
let silent: Server;

let connections = 0;
const harness = useTurnHarness();

beforeAll(async () => {
  await harness.startWorker();
  silent = createServer(() => {
    connections += 1;
  });
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', resolve);
  });
});

afterAll(async () => {
  silent.close();
});

const silentAddress = (): string => `127.0.0.1:${(silent.address() as AddressInfo).port}`;

/** Sends the signal, and fails when the command is still there after a while. */
async function leave(running: RunningCli, signal: NodeJS.Signals): Promise<CliResult> {
  running.process.kill(signal);
  try {
    await waitUntil('the command is gone', () => running.process.exitCode !== null, SOON_MILLISECONDS);
  } finally {
    running.process.kill('SIGKILL');
  }
  return running.ended;
}

test('a watcher whose Postgres has fallen silent leaves by Ctrl-C', async () => {
  const proxy = await startTcpProxy(harness.databaseUrl);
  await harness.fault({ kind: 'hang', times: null });
  const { conversationId } = await harness.client.start('Say never.');
  const watching = startCli(['watch', conversationId], {
    environment: { ...harness.environment, DATABASE_URL: proxy.url(harness.databaseUrl) },
  });
  await waitUntil('the turn is shown', () => watching.stdout().includes('> Say never.'));
  await proxy.blackHole();
  // It asks on, and waits for an answer.
  await harness.client.conversation.send({ conversationId, content: 'Say more.' });
  const left = await leave(watching, 'SIGINT');
  await harness.clearFaults();
  await proxy.close();
  expect(left.code).toBe(130);
  expect(left.stdout).toContain('You left; the turn goes on.');
});

test('Ctrl-C leaves a worker while Postgres is silent', async () => {
  const before = connections;
  const running = startCli(['worker'], {
    environment: { ...harness.environment, DATABASE_URL: `postgres://holdfast@${silentAddress()}/holdfast` },
  });
  await waitUntil('it asks Postgres', () => connections > before);
  expect((await leave(running, 'SIGINT')).code).toBe(130);
});

test('SIGTERM to the shell of npx ends the command, which the shell does not tell', async () => {
  const before = connections;
  const databaseUrl = `postgres://holdfast@${silentAddress()}/holdfast`;
  const shell = spawn('sh', ['-c', '"$@"; true', 'sh', process.execPath, EXECUTABLE, 'list'], {
    env: { ...process.env, ...harness.environment, DATABASE_URL: databaseUrl, npm_command: 'exec' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Its end is that of the last process that could write to it.
  const ended = once(shell.stdout, 'close');
  await waitUntil('it asks Postgres', () => connections > before);
  shell.kill('SIGTERM');
  shell.stdout.resume();
  await ended;
});

test('Ctrl-C leaves a start whose Temporal is silent, and does not wait for its doorbell', async () => {
  const before = connections;
  const environment = { ...harness.environment, TEMPORAL_ADDRESS: silentAddress() };
  const running = startCli(['start', 'Say never.'], { environment });
  await waitUntil('it asks Temporal', () => connections > before && running.stdout().includes('conversation '));
  const { code, stderr } = await leave(running, 'SIGINT');
  // What it says when a doorbell had no answer within two seconds.
  expect([code, stderr]).toEqual([130, expect.not.stringContaining('has not answered yet')]);
});

test('Ctrl-C leaves a worker that starts while Temporal is silent', async () => {
  const before = connections;
  const environment = { ...harness.environment, TEMPORAL_ADDRESS: silentAddress() };
  const running = startCli(['worker'], { environment });
  await waitUntil('it asks Temporal', () => connections > before);
  expect((await leave(running, 'SIGINT')).code).toBe(130);
});

let proxy: TcpProxy;

beforeAll(async () => {
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
