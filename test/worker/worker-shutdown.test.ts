import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

const harness = useTurnHarness({ agent: { allowCommands: true } });

beforeAll(async () => {
  // For the worker's process.
  await writeFile(join(harness.workspace, 'holdfast.yaml'), 'agents: { default: { allowCommands: true } }\n');
});

test('SIGTERM during a model call and a tool call: results within the grace period are stored, the process ends, and another worker takes the rest', async () => {
  const { client, database: sql } = harness;
  const worker = await startWorkerProcess(harness);
  onTestFinished(() => worker.kill('SIGKILL'));
  const states = async (turn: { conversationId: string }): Promise<(string | null)[]> => {
    const rows = await sql<{ state: string | null }[]>`
        select format('tool %s, try %s', state, attempt) as state from tool_calls where conversation_id = ${turn.conversationId}
        union all select format('model %s, try %s', state, attempt) from model_attempts
        where conversation_id = ${turn.conversationId} order by 1`;
    return rows.map(({ state }) => state);
  };
  const letGo = join(harness.workspace, 'acting-may-end');
  const acting = await client.start(
    `Call run_command with {"command": "until [ -e ${letGo} ]; do sleep 0.1; done; echo done >> acted"}`,
  );
  await waitUntil('the tool runs', async () => (await states(acting)).includes('tool claimed, try 1'));
  await harness.hold({});
  const asking = await client.start('Call read_file with {"path": "acted"}');
  await waitUntil('the model is asked', async () => (await states(asking)).includes('model registered, try 1'));
  worker.kill('SIGTERM');
  await waitUntil('the worker takes no more', () => worker.output().includes('"state":"STOPPING"'));
  await Promise.all([harness.clearFaults(), writeFile(letGo, '')]);
  const ended = await worker.exited;
  expect(ended, ended.output).toMatchObject({ code: 0, signal: null });
  expect(await states(acting)).toContain('tool finished, try 1');
  expect((await states(asking))[0]).toBe('model answered, try 1');

  // In this process, with a grace period of one second.
  await harness.hold({});
  const hasty = await harness.startWorker();
  await waitUntil(
    'both ask',
    async () =>
      [...(await states(acting)), ...(await states(asking))].filter((one) => one === 'model registered, try 1')
        .length === 2,
  );
  hasty.shutdown();
  await hasty.ended;
  await harness.clearFaults();
  await harness.startWorker();
  for (const turn of [acting, asking]) {
    expect(await client.conversation.outcome({ ...turn, timeoutMilliseconds: 240_000 })).toMatchObject({
      outcome: 'completed',
      steps: 2,
    });
    const ended = await states(turn);
    expect(ended.filter((one) => one?.startsWith('tool'))).toEqual(['tool finished, try 1']);
    expect(ended.filter((one) => one?.startsWith('model answered'))).toHaveLength(2);
    expect(ended).toContain('model answered, try 2');
  }
  const { items: results } = await client.log.entries({ conversationId: asking.conversationId });
  expect(textOf(results.find(({ kind }) => kind === 'tool_result')?.content ?? [])).toContain('done');
  await expectAllHolds(harness);
});
