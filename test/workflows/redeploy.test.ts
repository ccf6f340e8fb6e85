import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import type { Holdfast } from '../../src/client/holdfast.ts';

import { textOf } from '../../src/context/log/content.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { WorkerProcess } from '../support/worker-process.ts';

const TURNS = 5;
const STEPS = 6;
const SENDERS = 8;
const MESSAGES_OF_EACH = 10;

let harness: TurnHarness;

async function openHarness(): Promise<TurnHarness> {
  harness = await startTurnHarness();
  // The last that is closed: those that a test opens later go first.
  onTestFinished(() => harness.stop());
  return harness;
}

/** A worker process that the test ends, also when it fails. */
async function startProcess(): Promise<WorkerProcess> {
  const started = await startWorkerProcess(harness);
  onTestFinished(async () => {
    started.kill('SIGKILL');
    await started.exited;
  });
  return started;
}

test('a rolling redeploy of worker processes with 5 turns open runs no tool again and buys no answer twice', async () => {
  const { client, database, workspace } = await openHarness();
  const agent = { model: 'simulator/sim-32k', allowCommands: true, tools: ['run_command'] };
  await writeFile(join(workspace, 'holdfast.yaml'), JSON.stringify({ agents: { default: agent } }));
  const first = await startProcess();
  // Turns stay open until two more workers have started.
  await harness.fault({ kind: 'delay', milliseconds: 3_000, times: null });
  const turns = await Promise.all(
    Array.from({ length: TURNS }, (_, turn) =>
      client.start(`Call run_command with {"command": "echo ${turn}/$index >> acts.txt"} ${STEPS} times, one by one`),
    ),
  );
  const openTurns = async (): Promise<number> => (await database`select from turns where outcome is null`).length;
  await waitUntil('tools of most turns have run', async () => {
    const begun = await database`select distinct turn_id from tool_calls where state <> 'requested'`;
    return begun.length >= 4;
  });
  const workers = async (): Promise<number> =>
    (await database`select distinct worker_identity from tool_calls where worker_identity is not null`).length;
  const second = await startProcess();
  expect(await openTurns()).toBe(TURNS);
  first.kill('SIGTERM');
  // None is only started and stopped.
  await waitUntil('the second has worked', async () => (await workers()) === 2);
  await startProcess();
  expect(await openTurns()).toBe(TURNS);
  second.kill('SIGTERM');
  await waitUntil('the third has worked', async () => (await workers()) === 3);
  await harness.clearFaults();
  expect([await first.exited, await second.exited]).toMatchObject([{ code: 0 }, { code: 0 }]);
  for (const turn of turns)
    expect(await client.conversation.outcome({ ...turn, timeoutMilliseconds: 120_000 })).toMatchObject({
      outcome: 'completed',
      steps: STEPS + 1,
    });
  // What the commands did, whatever the rows say.
  const acts = (await readFile(join(workspace, 'acts.txt'), 'utf8')).trimEnd().split('\n');
  expect(acts).toHaveLength(TURNS * STEPS);
  expect(new Set(acts).size).toBe(TURNS * STEPS);
  // What the provider was asked, and what is counted.
  const calls = await database<{ attempt: number; state: string }[]>`select attempt, state from model_attempts`;
  expect((await harness.asked()).total).toBe(TURNS * (STEPS + 1));
  expect(calls).toHaveLength(TURNS * (STEPS + 1));
  const again = await database`
    select attempt from tool_calls where attempt <> 1 or outcome <> 'succeeded'
    union all select attempt from model_attempts where attempt <> 1 or state <> 'answered'`;
  expect(again).toEqual([]);
}, 240_000);

/** Each sends its messages one after the other, over connections of its own; `0` sends some that wait for the next turn. */
async function sendAll(client: Holdfast, conversationId: string, sender: number): Promise<void> {
  for (let index = 0; index < MESSAGES_OF_EACH; index += 1) {
    const mode = isQueued(sender, index) ? 'queue' : 'steer';
    await client.conversation.send({ conversationId, content: `Say ${sender}/${index}`, mode });
  }
}

function isQueued(sender: number, index: number): boolean {
  return sender === 0 && index % 5 === 4;
}

async function userTexts(conversationId: string): Promise<string[]> {
  const said: string[] = [];
  for (let after = 0; ;) {
    const { items: page } = await harness.client.log.entries({ conversationId, afterSequence: after, limit: 1_000 });
    if (page.length === 0) return said;
    after = page.at(-1)?.sequence ?? after;
    said.push(...page.filter(({ kind }) => kind === 'user').map(({ content }) => textOf(content)));
  }
}

test('80 messages of 8 clients during a turn each enter once, in order of each client, none lost, although a worker is killed as they come', async () => {
  const { database, databaseUrl, taskQueue, temporalAddress } = await openHarness();
  const temporal = { address: temporalAddress, namespace: 'default' };
  const clients = await Promise.all(
    Array.from({ length: SENDERS }, () => connect({ databaseUrl, taskQueue, temporal })),
  );
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.close()));
  });
  const killed = await startProcess();
  await harness.fault({ kind: 'hang', times: 1 });
  const { conversationId } = await harness.client.start('Call list_files with {"path": "."}\nSay done');
  await waitUntil('the model is asked', async () => (await harness.asked()).total === 1);
  const sending = Promise.all(clients.map((client, sender) => sendAll(client, conversationId, sender)));
  const written = async (): Promise<number> => (await database`select from messages`).length;
  await waitUntil('the first are there', async () => (await written()) > 20);
  // In the middle of the model call, while messages come.
  killed.kill('SIGKILL');
  expect(await written()).toBeLessThan(SENDERS * MESSAGES_OF_EACH);
  await killed.exited;
  await sending;
  await harness.startWorker();
  await waitUntil(
    'all messages are taken',
    async () => {
      const conversation = await harness.client.conversation.get({ conversationId });
      return conversation.waitingMessages === 0 && conversation.turn?.state === 'ended';
    },
    120_000,
  );
  const said = await userTexts(conversationId);
  for (let sender = 0; sender < SENDERS; sender += 1) {
    const indexes = Array.from({ length: MESSAGES_OF_EACH }, (_, index) => index);
    // Queued ones come after the turn; each kind keeps its order.
    const steered = indexes.filter((index) => !isQueued(sender, index));
    const queued = indexes.filter((index) => isQueued(sender, index));
    expect(said.filter((text) => text.startsWith(`Say ${sender}/`))).toEqual(
      [...steered, ...queued].map((index) => `Say ${sender}/${index}`),
    );
  }
  expect(said).toHaveLength(SENDERS * MESSAGES_OF_EACH + 1);
}, 400_000);
