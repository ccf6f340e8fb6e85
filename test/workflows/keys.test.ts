import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { startLocalStack } from '../../src/local/stack.ts';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { readEverything } from '../support/read-everything.ts';
import { useTurnHarness } from '../support/turn-harness.ts';

const FROM_ENVIRONMENT = 'planted-key-of-the-environment-1';
const FROM_FILE = 'planted-key-of-the-file-2';
const ROTATED = 'planted-key-of-the-file-after-rotation-3';
const FROM_COMMAND = 'planted-key-of-the-command-4';
const PLANTED = [FROM_ENVIRONMENT, FROM_FILE, ROTATED, FROM_COMMAND];

const logged: string[] = [];

const harness = useTurnHarness({
  log: (line) => logged.push(line),
  agent: { model: 'filed/sim-32k', allowCommands: true, policy: { summary: { when: 'always' } } },
  environment: { SOME_KEY: FROM_ENVIRONMENT, COPY_OF_IT: `prefix ${FROM_ENVIRONMENT}` },
  configurationFile: ({ simulatorUrl }) => `
providers:
  named: { protocol: anthropic, baseUrl: "${simulatorUrl}", apiKeyVariable: SOME_KEY }
  filed: { protocol: anthropic, baseUrl: "${simulatorUrl}", apiKeyFile: key.txt }
  told: { protocol: chat, baseUrl: "${simulatorUrl}/v1", apiKeyCommand: "echo ${FROM_COMMAND}" }
models:
  filed/sim-32k: { window: 32768, maximumOutput: 8192 }
`,
});

beforeAll(async () => {
  await writeFile(join(harness.workspace, 'key.txt'), `${FROM_FILE}\n`);
  await harness.startWorker();
});

test('keys are rotated without a restart, and stand in no log, error, history, entry, event, summary or stack file, also after env', async () => {
  const commands = [
    'env; cat key.txt; cat /proc/$PPID/environ; grep told holdfast.yaml; seq 1 2500; env',
    'cat key.txt | sed s/planted/changed/',
  ];
  const task = commands.map((command) => `Call run_command with ${JSON.stringify({ command })}`).join('\n');
  const first = await harness.runTask(task);
  expect(first.outcome).toBe('completed');
  // The server takes the old key no more, and says so with the key in its words.
  await writeFile(join(harness.workspace, 'key.txt'), ROTATED);
  const refusal = { type: 'error', error: { type: 'authentication_error', message: `bad key ${FROM_FILE}` } };
  await harness.fault({ kind: 'status', status: 401, body: refusal, times: 1 });
  const { conversationId } = first;
  const again = `Call run_command with {"command": "cat key.txt"}`;
  expect((await harness.runTask(again, { conversationId })).outcome).toBe('completed');
  await harness.fault({ kind: 'status', status: 401, body: refusal, times: 2 });
  const failed = await harness.runTask(again, { conversationId });
  expect(failed).toMatchObject({ outcome: 'model_failed' });
  await harness.clearFaults();
  const compacted = await harness.client.conversation.compact({ conversationId, focus: 'the keys' });
  await harness.client.conversation.outcome({ ...compacted, timeoutMilliseconds: 240_000 });
  expect(await harness.client.log.summaries({ conversationId })).toHaveLength(1);

  const stack = await startLocalStack({
    directory: join(harness.workspace, '.holdfast'),
    services: ['postgres'],
    environment: {
      PATH: process.env['PATH'],
      ...harness.environment,
      DATABASE_URL: harness.databaseUrl,
      TEMPORAL_ADDRESS: harness.temporalAddress,
      SOME_KEY: FROM_ENVIRONMENT,
      ANTHROPIC_API_KEY: ROTATED,
    },
  });
  const stackFile = await readFile(join(harness.workspace, '.holdfast', 'stack.json'), 'utf8');
  await stack.stop();
  const workflow = await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId)).describe();
  const everything = [
    await readEverything(harness, conversationId),
    stackFile,
    JSON.stringify([workflow.raw, failed]),
    ...logged,
  ].join('\n');
  expect(everything).toContain('[masked key]');
  const places = PLANTED.flatMap((key) => {
    const at = everything.indexOf(key);
    return at === -1 ? [] : [everything.slice(Math.max(0, at - 300), at + 60)];
  });
  expect(places).toEqual([]);
  // Only what a command itself makes of a key gets through.
  expect(everything).toContain(FROM_FILE.replace('planted', 'changed'));
});
