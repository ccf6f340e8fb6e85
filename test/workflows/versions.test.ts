import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { createHoldingTool } from '../support/holding-tool.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

let harness: TurnHarness;
let hold: ReturnType<typeof createHoldingTool>;

beforeEach(async () => {
  hold = createHoldingTool();
  harness = await startTurnHarness({ tools: [hold.tool], agent: { tools: ['hold', 'ask_user'] } });
});

afterEach(() => harness.stop());

/** From here on turns begin on the build. */
async function makeCurrent(deploymentName: string, buildId: string): Promise<void> {
  await waitUntil('the build is known', async () => {
    try {
      await harness.temporal.workflowService.setWorkerDeploymentCurrentVersion({
        namespace: 'default',
        deploymentName,
        buildId,
        identity: 'test',
        ignoreMissingTaskQueues: true,
      });
      return true;
    } catch {
      return false;
    }
  });
}

test('a turn ends on the build that it began on, the turn that follows it begins on the current one', async () => {
  const { client } = harness;
  const name = `holdfast-${randomUUID()}`;
  await harness.startWorker({ deployment: { name, buildId: 'old' } });
  await makeCurrent(name, 'old');
  const first = await client.start('Call hold with {}\nSay first');
  await waitUntil('the tool is held', () => hold.begun() === 1);
  await harness.startWorker({ deployment: { name, buildId: 'new' } });
  await makeCurrent(name, 'new');
  const { conversationId } = first;
  const next = await client.conversation.send({ conversationId, content: 'Say next', mode: 'queue' });
  hold.release();
  expect((await client.conversation.outcome({ ...first, timeoutMilliseconds: 240_000 })).outcome).toBe('completed');
  expect((await client.conversation.outcome({ ...next, timeoutMilliseconds: 240_000 })).outcome).toBe('completed');
  expect(await buildsOf(conversationId)).toEqual(['old', 'new']);
});

/** A turn that began on the build `old` and waits for an answer. */
async function askedOnOldBuild(versioning?: 'auto-upgrade') {
  const { client } = harness;
  const name = `holdfast-${randomUUID()}`;
  const mode = versioning === undefined ? {} : { versioning };
  const old = await harness.startWorker({ deployment: { name, buildId: 'old', ...mode } });
  await makeCurrent(name, 'old');
  const sent = await client.start('Call ask_user with {"question": "Which?"}\nSay done');
  const { conversationId } = sent;
  const state = async () => (await client.conversation.get({ conversationId })).turn?.state;
  await waitUntil('the turn asks', async () => (await state()) === 'waiting_for_answer');
  return {
    conversationId,
    state,
    /** Replaces the worker by one of the build `new`, and answers. */
    async redeploy() {
      await harness.startWorker({ deployment: { name, buildId: 'new', ...mode } });
      await makeCurrent(name, 'new');
      old.shutdown();
      await old.ended;
      await client.decisions.answer({ conversationId, text: 'this' });
    },
    async completesOnNewBuild() {
      const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
      expect(turn).toMatchObject({ outcome: 'completed' });
      expect(await buildsOf(conversationId)).toEqual(['new']);
    },
  };
}

test('a turn whose build has no worker any more waits, and ends on the current build once it is told to', async () => {
  const turn = await askedOnOldBuild();
  await turn.redeploy();
  const other = await harness.client.start('Say meanwhile');
  expect(await harness.client.conversation.outcome(other)).toMatchObject({ outcome: 'completed' });
  expect(await turn.state()).not.toBe('ended');
  await harness.temporal.workflowService.updateWorkflowExecutionOptions({
    namespace: 'default',
    workflowExecution: { workflowId: turnWorkflowId(turn.conversationId) },
    workflowExecutionOptions: { versioningOverride: { autoUpgrade: true } },
    updateMask: { paths: ['versioning_override'] },
  });
  await turn.completesOnNewBuild();
});

test('a turn of a build that lets its turns move goes on with the current build', async () => {
  const turn = await askedOnOldBuild('auto-upgrade');
  await turn.redeploy();
  await turn.completesOnNewBuild();
});

/** Of each turn's run, in order. */
async function buildsOf(conversationId: string): Promise<string[]> {
  const builds: string[] = [];
  for (const runId of await runsOf(conversationId)) {
    const { raw } = await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId), runId).describe();
    builds.push(raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? '');
  }
  return builds;
}

async function runsOf(conversationId: string): Promise<string[]> {
  const rows = await harness.database<{ begunByRunId: string }[]>`
    select begun_by_run_id from turns where conversation_id = ${conversationId} order by epoch`;
  return rows.map((row) => row.begunByRunId);
}
