import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { turnWorkflowId } from '../../src/temporal/names.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

let harness: TurnHarness;
let release = (): void => undefined;
let held = 0;

const hold = defineTool({
  name: 'hold',
  description: 'Waits until it is released.',
  input: z.object({}),
  effect: 'none',
  run: async () => {
    await new Promise<void>((resolve) => {
      release = resolve;
      held += 1;
    });
    return { content: 'released' };
  },
});

beforeAll(async () => {
  harness = await startTurnHarness({ tools: [hold], agent: { tools: ['hold'] } });
});

afterAll(() => harness.stop());

test('a turn ends on the build that it began on, the turn that follows it begins on the current one', async () => {
  const { client, temporal } = harness;
  const name = `holdfast-${randomUUID()}`;
  const makeCurrent = async (buildId: string): Promise<void> => {
    await waitUntil('the build is known', async () => {
      try {
        await temporal.workflowService.setWorkerDeploymentCurrentVersion({
          namespace: 'default',
          deploymentName: name,
          buildId,
          identity: 'test',
          ignoreMissingTaskQueues: true,
        });
        return true;
      } catch {
        return false;
      }
    });
  };
  await harness.startWorker({ deployment: { name, buildId: 'old' } });
  await makeCurrent('old');
  const first = await client.startTask({ task: 'Call hold with {}\nSay first' });
  await waitUntil('the tool is held', () => held === 1);
  await harness.startWorker({ deployment: { name, buildId: 'new' } });
  await makeCurrent('new');
  const { conversationId } = first;
  const next = await client.sendMessage({ conversationId, content: 'Say next', mode: 'queue' });
  release();
  expect((await client.waitForOutcome({ ...first, timeoutMilliseconds: 30_000 })).outcome).toBe('completed');
  expect((await client.waitForOutcome({ ...next, timeoutMilliseconds: 30_000 })).outcome).toBe('completed');
  const builds: string[] = [];
  for (const runId of await runsOf(conversationId)) {
    const { raw } = await temporal.workflow.getHandle(turnWorkflowId(conversationId), runId).describe();
    builds.push(raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? '');
  }
  expect(builds).toEqual(['old', 'new']);
});

async function runsOf(conversationId: string): Promise<string[]> {
  const rows = await harness.database<{ begun_by_run_id: string }[]>`
    select begun_by_run_id from turns where conversation_id = ${conversationId} order by epoch`;
  return rows.map((row) => row.begun_by_run_id);
}
