import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '../../src/context/content.ts';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { expectDeath, startWorkerProcess } from '../support/worker-process.ts';

/** A program whose worker has tools that note that they ran and bring its process down. */
const SCRIPT = `
  import { appendFile } from 'node:fs/promises';
  const { createWorker, defineTool } = await import(process.argv[2]);
  const { z } = await import(${JSON.stringify(import.meta.resolve('zod'))});
  const deadly = (effect) => defineTool({
    name: 'deadly_' + effect,
    description: 'Brings the process down.',
    input: z.object({}),
    effect,
    async run() {
      await appendFile(effect + '.txt', 'x');
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => undefined);
    },
  });
  const worker = await createWorker({ tools: [deadly('once'), deadly('idempotent')] });
  process.once('SIGTERM', () => worker.shutdown());
  await worker.ended;`;

let harness: TurnHarness;
let script: string;

beforeAll(async () => {
  harness = await startTurnHarness();
  script = join(harness.workspace, 'worker.mjs');
  await writeFile(script, SCRIPT);
  const agents = { default: { model: 'simulator/sim-32k', tools: ['deadly_once', 'deadly_idempotent'] } };
  await writeFile(join(harness.workspace, 'holdfast.yaml'), JSON.stringify({ agents }));
});

afterAll(() => harness.stop());

test.each([
  { effect: 'once', deaths: 1, told: /^Outcome unknown: / },
  { effect: 'idempotent', deaths: 5, told: /died, 5 times in a row; it is not tried again/ },
])(
  'a tool that kills its worker does so $deaths times with the effect $effect, then the model is told and the turn goes on',
  async ({ effect, deaths, told }) => {
    const sent = await harness.client.startTask({ task: `Call deadly_${effect} with {}` });
    for (let death = 1; death <= deaths; death += 1) {
      await expectDeath(await startWorkerProcess(harness, {}, script), `death ${death}`);
    }
    const last = await startWorkerProcess(harness, {}, script);
    try {
      const turn = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
      expect(turn).toMatchObject({ outcome: 'completed' });
      expect(await readFile(join(harness.workspace, `${effect}.txt`), 'utf8')).toBe('x'.repeat(deaths));
      const entries = await harness.client.listEntries({ conversationId: sent.conversationId });
      const results = entries.filter(({ kind }) => kind === 'tool_result');
      expect(results.map(({ content }) => textOf(content))).toEqual([expect.stringMatching(told)]);
      await expectAllHolds(harness);
    } finally {
      last.kill('SIGTERM');
      await last.exited;
    }
  },
  400_000,
);
