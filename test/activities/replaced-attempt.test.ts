import { expect, onTestFinished, test } from 'vitest';
import { callModel } from '../../src/activities/call-model.ts';
import { changeBranch } from '../../src/activities/change-branch.ts';
import { summarize } from '../../src/activities/summarize.ts';
import type { Execution } from '../../src/activities/activity-shell.ts';
import type { ActivityDependencies } from '../../src/activities/dependencies.ts';
import type { Database } from '../../src/store/database.ts';
import { endTurn } from '../../src/store/end-turn.ts';
import { newId } from '../../src/store/ids.ts';
import { acceptMessage } from '../../src/store/messages.ts';
import { NO_MEASUREMENTS } from '../../src/context/measurement-arithmetic.ts';
import { plan } from '../store/support/compaction-builders.ts';
import {
  answer,
  closeToolCall,
  continueConversation,
  headOf,
  startTurn,
  step,
  useTestStore,
} from '../store/support/store-builders.ts';
import { startHttpServer } from '../support/http-server.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

type Work = (dependencies: ActivityDependencies, execution: Execution) => Promise<unknown>;

async function modelCall(): Promise<Work> {
  const turn = await startTurn(sql);
  const headEntryId = await headOf(sql, turn.conversationId);
  return (dependencies, tried) => callModel(dependencies, { turn, callNumber: 1, headEntryId }, tried);
}

async function summary(): Promise<Work> {
  const turn = await startTurn(sql);
  await step(sql, turn, 1);
  await step(sql, turn, 2);
  const { compactionId } = (await plan(sql, turn)).compaction;
  return (dependencies, tried) => summarize(dependencies, { turn, compactionId, part: 1 }, tried);
}

async function branchSummary(): Promise<Work> {
  const first = await startTurn(sql);
  await answer(sql, first, 1);
  await endTurn(sql, { turn: first, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
  const { conversationId } = first;
  const target = { entryId: null, summarizes: true };
  const content = { content: [], measurements: NO_MEASUREMENTS };
  await acceptMessage(sql, { id: newId(), conversationId, kind: 'fork', ...content, target });
  const turn = await continueConversation(sql, conversationId);
  return (dependencies, tried) => changeBranch(dependencies, { turn }, tried);
}

test.for([
  ['model call', modelCall],
  ['summary', summary],
  ['branch summary', branchSummary],
] as const)(
  'a worker that wakes up after Temporal gave its %s to another one does not ask the model for it',
  async ([, begin]) => {
    const server = await startHttpServer((_, response) => response.writeHead(500).end('{}'));
    onTestFinished(() => server.close());
    const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
    const work = await begin();
    await expect(work(dependencies, execution({ attempt: 2 }))).rejects.toThrow();
    expect(server.requests).toHaveLength(1);
    await expect(work(dependencies, execution({ attempt: 1 }))).rejects.toMatchObject({ code: 'superseded_attempt' });
    expect(server.requests).toHaveLength(1);
    // The next attempt, and those of another activity or run, which have no order with it, ask.
    for (const other of [{ attempt: 3 }, { activityId: '2' }, { runId: 'after a reset' }])
      await expect(work(dependencies, execution(other))).rejects.toThrow();
    expect(server.requests).toHaveLength(4);
  },
);
