import { beforeAll, expect, test } from 'vitest';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startCli } from './run-cli.ts';
import type { CliResult } from './cli-result.ts';
import { runInProcess } from './run-in-process.ts';

let conversationId: string;

const harness = useTurnHarness();

beforeAll(async () => {
  const worker = await harness.startWorker();
  ({ conversationId } = await harness.runTask('Say The answer.'));
  worker.shutdown();
  await worker.ended;
});

const options = () => ({ environment: harness.environment, directory: harness.workspace });
const cli = async (...args: readonly string[]): Promise<CliResult> => runInProcess(args, options());

async function activeBranch(): Promise<number | undefined> {
  return (await harness.client.branches.list({ conversationId })).find(({ active }) => active)?.branch;
}

test('without a worker fork says what it waits for and how to start one; who leaves finds the branch changed later', async () => {
  const running = startCli(['branch', 'fork', conversationId, '--at', 'start', '--no-summary', '--json'], options());
  await waitUntil('it is said that a worker is waited for', () => running.stderr().includes('waited for a worker'));
  expect(running.stderr()).toContain('npx holdfast worker');
  running.process.kill('SIGINT');
  const { code, stdout } = await running.ended;
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ conversationId, outcome: null, interrupted: true });
  await harness.startWorker();
  await expect.poll(activeBranch).toBe(1);
});

test('regenerate whose fork is refused later says that the message is not answered, and why', async () => {
  await harness.runTask('Say Once more.', { conversationId });
  await harness.database`update conversations set agent = 'of-another-machine' where id = ${conversationId}`;
  const stopped = async (...flags: readonly string[]): Promise<CliResult> => {
    const running = cli('branch', 'regenerate', conversationId, ...flags);
    await waitUntil(
      'the fork waits',
      async () => (await harness.client.conversation.get({ conversationId })).waitingMessages > 0,
    );
    await harness.client.conversation.stop({ conversationId });
    return running;
  };
  const refused = await stopped();
  expect(refused.code).toBe(1);
  expect(refused.stdout).toMatch(/^The message is not answered: its fork was not made\.\n/u);
  const json = await stopped('--json');
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ forked: false, outcome: expect.any(String), active: { branch: 1 } });
  await harness.database`update conversations set agent = 'default' where id = ${conversationId}`;
  const sent = await cli('branch', 'regenerate', conversationId, '--json');
  expect(JSON.parse(sent.stdout)).toMatchObject({ forked: true, outcome: null, active: { branch: 2 } });
});
