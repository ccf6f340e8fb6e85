import { z } from 'zod';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { textOf } from '../../src/context/log/content.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { Conversation } from '../../src/client/types.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { markInterrupted } from '../../src/store/upkeep/upkeep.ts';
import { closeToolCall } from '../store/support/store-builders.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

const decisions = () => harness.client.decisions;
const conversations = () => harness.client.conversation;
let worker: RunningWorker;
/** Runs of the tool, by what they were given. */
let released: string[] = [];

const release = defineTool({
  name: 'release',
  description: 'Publishes a version.',
  input: z.object({ version: z.string() }),
  effect: 'once',
  approval: true,
  run: ({ version }) => {
    released.push(version);
    return Promise.resolve({ content: `released ${version}` });
  },
});

const harness = useTurnHarness({
  upkeep: true,
  tools: [release],
  agent: { tools: ['release', 'ask_user'] },
});

beforeAll(async () => {
  worker = await harness.startWorker();
});

beforeEach(() => {
  released = [];
});

/** Starts a task and waits until calls wait for a person. */
async function startWaiting(task: string, calls = 1): Promise<Conversation & { messageId: string }> {
  const { conversationId, messageId } = await harness.client.start(task);
  let conversation = await conversations().get({ conversationId });
  await waitUntil('calls wait', async () => {
    conversation = await conversations().get({ conversationId });
    return conversation.waitingCalls.length === calls;
  });
  return { ...conversation, messageId };
}

async function endOf({ conversationId, messageId }: { conversationId: string; messageId: string }) {
  const turn = await conversations().outcome({ conversationId, messageId, timeoutMilliseconds: 240_000 });
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 100 });
  return { turn, texts: entries.map((entry) => `${entry.kind}: ${textOf(entry.content)}`) };
}

test('a call waits for its approval and is allowed with no worker alive, shows where people look, and runs once allowed; a second decision is stale', async () => {
  const waiting = await startWaiting('Call release with {"version": "1.2.0"}');
  const { conversationId } = waiting;
  expect(waiting.waitingCalls).toMatchObject([
    { call: '1.1.0', kind: 'approval', tool: 'release', arguments: '{"version":"1.2.0"}', rules: ['tool release'] },
  ]);
  expect(waiting.turn?.state).toBe('waiting_for_approval');
  const lifetime = Date.parse(waiting.waitingCalls[0]?.expiresAt ?? '') - Date.now();
  expect(lifetime).toBeGreaterThan(86_000_000);
  const handle = harness.temporal.workflow.getHandle(turnWorkflowId(conversationId));
  // Visibility is written behind the workflow.
  await waitUntil('the search attribute tells', async () => {
    const { searchAttributes } = await handle.describe();
    return searchAttributes['HoldfastTurnState']?.[0] === 'waiting_for_approval';
  });
  const details = JSON.stringify(await handle.query('__temporal_workflow_metadata'));
  expect(details).toContain('waiting for the approval of a tool call of the user');
  expect((await handle.describe()).raw.pendingActivities ?? []).toEqual([]);
  const cli = async (...args: readonly string[]): Promise<string> =>
    (await runInProcess(args, { environment: harness.environment })).stdout;
  expect(await cli('show', conversationId)).toContain('call 1.1.0 waits for approval: release {"version":"1.2.0"}');
  expect(await cli('list')).toContain('waiting for approval');
  expect(released).toEqual([]);
  worker.shutdown();
  await worker.ended;
  const approved = await cli('approve', conversationId, '--json');
  expect(JSON.parse(approved)).toMatchObject({ call: '1.1.0', tool: 'release', duplicate: false, decided: 1 });
  worker = await harness.startWorker();
  const { texts, turn } = await endOf(waiting);
  expect(turn.outcome).toBe('completed');
  expect(released).toEqual(['1.2.0']);
  expect(texts).toContain('tool_result: released 1.2.0');
  await expect(decisions().deny({ conversationId, call: '1.1.0' })).rejects.toMatchObject({ code: 'decision_stale' });
  await expect(decisions().approve({ conversationId })).rejects.toMatchObject({ code: 'decision_not_found' });
});

test('the state of a turn and the calls that wait are of one moment, also when a decision comes between two reads', async () => {
  const { conversationId, ...waiting } = await startWaiting('Call release with {"version": "6.0.0"}');
  let reading: Promise<Conversation> | undefined;
  await harness.database.begin(async (open) => {
    // Only the list of calls reads this table: it waits here while the state has been read.
    await open`lock table tool_calls in access exclusive mode`;
    reading = conversations().get({ conversationId });
    await waitUntil('the list of calls waits for the lock', async () => {
      const busy = await harness.database<{ blocked: boolean }[]>`
        select wait_event_type is not distinct from 'Lock' as blocked from pg_stat_activity
        where datname = current_database() and application_name = 'holdfast-client' and state = 'active'`;
      return busy.length === 1 && busy[0]?.blocked === true;
    });
    await open`
      update decisions set state = 'denied', scope = 'call', decided_at = holdfast_now()
      where conversation_id = ${conversationId} and state = 'waiting'`;
  });
  const read = await reading;
  expect([read?.turn?.state, read?.waitingCalls.length]).toEqual(['waiting_for_approval', 1]);
  await conversations().send({ conversationId, content: 'Say on' });
  await endOf({ ...waiting, conversationId });
});

test('a turn that was taken over while it waits for a person ends when it is rung, and the next message goes on', async () => {
  const { conversationId, turn } = await startWaiting('Call ask_user with {"question": "Red or blue?"}');
  const [row] = await harness.database<{ epoch: number }[]>`
    select epoch from conversations where id = ${conversationId}`;
  const lost = { conversationId, turnId: turn?.turnId ?? '', epoch: row?.epoch ?? 0 };
  expect(await markInterrupted(harness.database, lost, closeToolCall)).toBe(true);
  expect((await harness.runTask('Say on', { conversationId })).outcome).toBe('completed');
});
