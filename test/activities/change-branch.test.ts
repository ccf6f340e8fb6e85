import { expect, onTestFinished, test } from 'vitest';
import { changeBranch } from '../../src/activities/change-branch.ts';
import { NO_MEASUREMENTS } from '../../src/context/measurement-arithmetic.ts';
import { registerBranchTry } from '../../src/store/branch-tries.ts';
import type { Database } from '../../src/store/database.ts';
import { endTurn } from '../../src/store/end-turn.ts';
import { newId } from '../../src/store/ids.ts';
import { acceptMessage } from '../../src/store/messages.ts';
import {
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

test('only failures of the model use up the five retries of a branch summary: deaths of workers do not, and the sixth failure does without a model', async () => {
  const server = await startHttpServer((_, response) => response.writeHead(500).end('{"error":{"message":"broken"}}'));
  onTestFinished(() => server.close());
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
  const turn = await continueConversation(sql, conversationId);
  const dependencies = activityDependencies(sql, { simulatorUrl: server.url });
  // Temporal counts the attempts of the dead workers too.
  for (let dead = 1; dead <= 6; dead += 1) await registerBranchTry(sql, turn);
  for (let failure = 1; failure <= 5; failure += 1) {
    const trying = changeBranch(dependencies, { turn }, execution({ attempt: 6 + failure }));
    await expect(trying).rejects.toMatchObject({ type: 'BranchSummary.outage' });
  }
  expect(await changeBranch(dependencies, { turn }, execution({ attempt: 12 }))).toEqual({ kind: 'changed' });
  expect(server.requests).toHaveLength(6);
  expect(await sql`select model from branch_summaries where conversation_id = ${conversationId}`).toEqual([
    { model: null },
  ]);
});
