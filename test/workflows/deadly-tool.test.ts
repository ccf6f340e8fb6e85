import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { expectDeath, startWorkerProcess } from '../support/worker-process.ts';

/** A program whose worker has a tool that notes that it ran and brings its process down. */
const SCRIPT = `
  import { appendFile } from 'node:fs/promises';
  const { createWorker, defineTool } = await import(process.argv[2]);
  const { z } = await import(${JSON.stringify(import.meta.resolve('zod'))});
  const deadly = defineTool({
    name: 'deadly',
    description: 'Brings the process down.',
    input: z.object({}),
    effect: 'once',
    async run() {
      await appendFile('ran.txt', 'x');
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => undefined);
    },
  });
  const worker = await createWorker({ tools: [deadly] });
  process.once('SIGTERM', () => worker.shutdown());
  await worker.ended;`;

let harness: TurnHarness;
let script: string;

beforeAll(async () => {
  harness = await startTurnHarness();
  script = join(harness.workspace, 'worker.mjs');
  await writeFile(script, SCRIPT);
  const agents = { default: { model: 'simulator/sim-32k', tools: ['deadly'] } };
  await writeFile(join(harness.workspace, 'holdfast.yaml'), JSON.stringify({ agents }));
});

afterAll(() => harness.stop());

test('a tool that kills its worker does so once with the effect once, then the model is told and the turn goes on', async () => {
  const sent = await harness.client.start('Call deadly with {}');
  await expectDeath(await startWorkerProcess(harness, {}, script), 'the death');
  const last = await startWorkerProcess(harness, {}, script);
  try {
    const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
    expect(turn).toMatchObject({ outcome: 'completed' });
    expect(await readFile(join(harness.workspace, 'ran.txt'), 'utf8')).toBe('x');
    const { items: entries } = await harness.client.log.entries({ conversationId: sent.conversationId });
    const results = entries.filter(({ kind }) => kind === 'tool_result');
    expect(results.map(({ content }) => textOf(content))).toEqual([expect.stringMatching(/^Outcome unknown: /)]);
    await expectAllHolds(harness);
  } finally {
    last.kill('SIGTERM');
    await last.exited;
  }
});
