import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness({
    temporalAddress: inject('shortHistoryTemporalAddress'),
    agent: { limits: { steps: 20, repeatedCalls: 100 } },
  });
  await harness.startWorker();
});

afterEach(() => harness.clearFaults());

afterAll(async () => {
  await harness.stop();
});

/** Runs of the conversation's workflow, by Temporal's visibility. */
async function runs(conversationId: string): Promise<number> {
  let count = 0;
  for await (const execution of harness.temporal.workflow.list({
    query: `WorkflowId = "${turnWorkflowId(conversationId)}"`,
  })) {
    count += execution.runId === '' ? 0 : 1;
  }
  return count;
}

test('a turn whose history grows goes on in new runs, with one turn id and no step lost', async () => {
  const turn = await harness.runTask('Call list_files with {"path": "missing-$index"} 12 times, one by one');
  expect(turn).toMatchObject({ outcome: 'completed', steps: 13 });
  const { items: entries } = await harness.client.log.entries({ conversationId: turn.conversationId });
  expect(new Set(entries.map((entry) => entry.turnId))).toEqual(new Set([turn.turnId]));
  expect(await runs(turn.conversationId)).toBeGreaterThan(1);
});

test('the recovery counter survives continue-as-new: a second overflow in a later run ends the turn', async () => {
  await harness.fault({ kind: 'overflow', times: 1, skip: 4, match: { purpose: 'agent' } });
  await harness.fault({ kind: 'overflow', times: 1, skip: 11, match: { purpose: 'agent' } });
  await writeFile(join(harness.workspace, 'log.txt'), 'pump 7 opens at 21 bar\n'.repeat(200));
  const turn = await harness.runTask('Call read_file with {"path": "log.txt"} 15 times, one by one');
  expect(turn).toMatchObject({ outcome: 'context_exhausted', reason: 'second_overflow' });
  expect(await runs(turn.conversationId)).toBeGreaterThan(1);
});
