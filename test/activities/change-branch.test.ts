import { expect, onTestFinished, test } from 'vitest';
import { changeBranch } from '../../src/activities/change-branch.ts';
import { NO_MEASUREMENTS } from '../../src/context/measurement-arithmetic.ts';
import { createModelClients } from '../../src/models/model-clients.ts';
import { registerBranchTry } from '../../src/store/branch-tries.ts';
import type { Database } from '../../src/store/database.ts';
import { endTurn } from '../../src/store/end-turn.ts';
import { newId } from '../../src/store/ids.ts';
import { acceptMessage } from '../../src/store/messages.ts';
import { getTurn } from '../../src/store/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import {
  FIRST_ATTEMPT,
  answer,
  closeToolCall,
  continueConversation,
  useTestStore,
  startTurn,
} from '../store/support/store-builders.ts';
import { startHttpServer } from '../support/http-server.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

/** A turn that is to leave a branch, with a summary of it. */
async function turnToFork(): Promise<TurnReference> {
  const first = await startTurn(sql, 'Count the pumps');
  await answer(sql, first, 1);
  await endTurn(sql, { turn: first, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
  const { conversationId } = first;
  const target = { entryId: null, summarizes: true };
  const command = {
    id: newId(),
    conversationId,
    kind: 'fork',
    content: [],
    measurements: NO_MEASUREMENTS,
    target,
  } as const;
  await acceptMessage(sql, command);
  return continueConversation(sql, conversationId);
}

test('only failures of the model use up the five retries of a branch summary: deaths of workers do not, and the sixth failure does without a model', async () => {
  const server = await startHttpServer((_, response) => response.writeHead(500).end('{"error":{"message":"broken"}}'));
  onTestFinished(() => server.close());
  const turn = await turnToFork();
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  // Temporal counts the attempts of the dead workers too.
  for (let dead = 1; dead <= 6; dead += 1) await registerBranchTry(sql, turn, FIRST_ATTEMPT);
  for (let failure = 1; failure <= 5; failure += 1) {
    const trying = changeBranch(dependencies, { turn }, execution({ attempt: 6 + failure }));
    await expect(trying).rejects.toMatchObject({ type: 'BranchSummary.outage' });
  }
  expect(await changeBranch(dependencies, { turn }, execution({ attempt: 12 }))).toEqual({ kind: 'changed' });
  expect(server.requests).toHaveLength(6);
  expect(await sql`select model from branch_summaries where conversation_id = ${turn.conversationId}`).toEqual([
    { model: null },
  ]);
});

test('after ten tries that told nothing a branch summary is made without a model, which is not asked again', async () => {
  const server = await startHttpServer((_, response) => response.writeHead(500).end());
  onTestFinished(() => server.close());
  const turn = await turnToFork();
  for (let dead = 1; dead <= 10; dead += 1) await registerBranchTry(sql, turn, FIRST_ATTEMPT);
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  expect(await changeBranch(dependencies, { turn }, execution({ attempt: 11 }))).toEqual({ kind: 'changed' });
  expect(server.requests).toHaveLength(0);
});

test('a branch summary that no worker can ask for is unpaid, and made without a model after five retries', async () => {
  const turn = await turnToFork();
  const dependencies = { ...activityDependencies(sql), modelClient: createModelClients([]) };
  for (let attempt = 1; attempt <= 5; attempt += 1)
    await expect(changeBranch(dependencies, { turn }, execution({ attempt }))).rejects.toMatchObject({
      type: 'BranchSummary.not_sent',
    });
  expect(await changeBranch(dependencies, { turn }, execution({ attempt: 6 }))).toEqual({ kind: 'changed' });
  expect((await getTurn(sql, turn.turnId)).usage.modelCalls).toBe(0);
});
