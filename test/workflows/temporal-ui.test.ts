import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

const harness = useTurnHarness({
  agent: { model: 'simulator/sim-8k' },
  configurationFile: JSON.stringify({ agents: { brief: { model: 'simulator/sim-8k', limits: { steps: 1 } } } }),
});

beforeAll(async () => {
  for (let file = 1; file <= 6; file += 1) {
    await writeFile(join(harness.workspace, `log-${file}.txt`), `pump ${file} opens at ${file} bar. `.repeat(120));
  }
  await harness.startWorker();
});

test('the Temporal UI shows conversation, progress, activity summaries and search attributes without Holdfast', async () => {
  const turn = await harness.runTask('Call read_file with {"path": "log-$index.txt"} 6 times, one by one');
  const handle = harness.temporal.workflow.getHandle(turnWorkflowId(turn.conversationId));
  await waitUntil('the workflow completed', async () => (await handle.describe()).status.name === 'COMPLETED');
  const description = await handle.describe();
  expect(await description.staticSummary()).toBe(`conversation ${turn.conversationId}`);
  expect(await description.staticDetails()).toContain(turn.conversationId);
  expect(description.searchAttributes).toMatchObject({
    HoldfastConversation: [turn.conversationId],
    HoldfastAgent: ['default'],
    HoldfastModel: ['simulator/sim-8k'],
    HoldfastTurnState: ['completed'],
  });
  expect(await handle.result()).toEqual({
    outcome: 'completed',
    reason: null,
    explanation: 'The turn completed.',
    steps: 7,
    cost: expect.any(Number) as number,
  });
  const metadata = JSON.stringify(await handle.query('__temporal_workflow_metadata'));
  for (const row of ['| step |', '| window |', '| compactions |', '| cost |', '| now | completed |'])
    expect(metadata).toContain(row);
  expect(metadata).toMatch(/\| window \| [\d,]+ of 8,192 tokens \|/u);
  const summaries = await activitySummaries(handle);
  expect(summaries['compactContext']?.[0]).toBe('step 1');
  expect(summaries['endTurn']).toEqual(['completed']);
  expect(summaries['callModel']?.[0]).toMatch(/^step 1 · [\d,]+ of 8,192 tokens$/);
  expect(summaries['runTool']?.[0]).toBe('read_file');
  expect(summaries['summarize']?.[0]).toMatch(/^entries \d+–\d+ · part 1 of \d+ · [\d,]+ tokens → ≤ [\d,]+$/);
});

test('a turn that a person has to look at is a failed run whose type is the outcome; a limit that was set is none', async () => {
  const endOf = async (task: string, agent: string) => {
    const sent = await harness.client.start(task, { agent });
    await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
    return harness.temporal.workflow.getHandle(turnWorkflowId(sent.conversationId)).result();
  };
  await harness.fault({ kind: 'status', status: 400, times: 1 });
  await expect(endOf('Say hello', 'default')).rejects.toMatchObject({
    cause: { type: 'model_failed', message: expect.stringContaining('provider refused') as string },
  });
  await harness.clearFaults();
  expect(await endOf('Call list_files with {"path": "."} 3 times, one by one', 'brief')).toMatchObject({
    outcome: 'budget_exhausted',
    reason: 'step_limit',
    steps: 1,
  });
});

async function activitySummaries(
  handle: ReturnType<TurnHarness['temporal']['workflow']['getHandle']>,
): Promise<Record<string, string[]>> {
  const { events } = await handle.fetchHistory();
  const found: Record<string, string[]> = {};
  const unnamed: string[] = [];
  for (const event of events ?? []) {
    const type = event.activityTaskScheduledEventAttributes?.activityType?.name ?? localActivityType(event);
    const data = event.userMetadata?.summary?.data;
    if (type !== undefined && type !== null && data)
      (found[type] ??= []).push(JSON.parse(Buffer.from(data).toString()) as string);
    else if (type) unnamed.push(type);
  }
  expect(unnamed, 'activities without a summary').toEqual([]);
  return found;
}

/** The type of an activity that ran within its workflow task is in a marker. */
function localActivityType({ markerRecordedEventAttributes: marker }: HistoryEvent): string | undefined {
  const data = marker?.details?.['data']?.payloads?.[0]?.data;
  if (marker?.markerName !== 'core_local_activity' || !data) return undefined;
  return (JSON.parse(Buffer.from(data).toString()) as { readonly activity_type: string }).activity_type;
}

type History = Awaited<ReturnType<ReturnType<TurnHarness['temporal']['workflow']['getHandle']>['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];
