import { expect, test } from 'vitest';
import { failureForHistory } from '../../src/activities/activity-error.ts';
import { beginTurn } from '../../src/activities/begin-turn.ts';
import type { Database } from '../../src/store/database.ts';
import { getTurn } from '../../src/store/turns.ts';
import { said, send, startTurn, useTestStore } from '../store/support/store-builders.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

test('a worker that wakes up for a run which Temporal has replaced leaves the turn of the newer one alone, for good', async () => {
  const live = await startTurn(sql);
  const { conversationId } = live;
  await send(sql, { conversationId });
  const asked: string[] = [];
  const dependencies = {
    ...activityDependencies(sql),
    newestRunOf: (workflowId: string) => {
      asked.push(workflowId);
      return Promise.resolve('newer');
    },
  };
  const refused = await beginTurn(
    dependencies,
    { conversationId },
    execution({ workflowId: 'agent-turn', runId: 'older' }),
  ).catch((error: unknown) => error);
  expect(asked).toEqual(['agent-turn']);
  expect(failureForHistory(refused)).toMatchObject({ type: 'Store.run_replaced', nonRetryable: true });
  expect(await getTurn(sql, live.turnId)).toMatchObject({ outcome: null });
  expect(await said(sql, conversationId)).toEqual(['user hello']);
});

test('a run of a workflow that Temporal does not know takes nothing over; the newest one does', async () => {
  const dead = await startTurn(sql);
  const { conversationId } = dead;
  await send(sql, { conversationId });
  const lost = { ...activityDependencies(sql), newestRunOf: () => Promise.resolve(null) };
  await expect(beginTurn(lost, { conversationId }, execution())).rejects.toMatchObject({ code: 'run_replaced' });
  const newest = { ...lost, newestRunOf: () => Promise.resolve('run') };
  expect(await beginTurn(newest, { conversationId }, execution())).toMatchObject({ kind: 'begun' });
  expect(await getTurn(sql, dead.turnId)).toMatchObject({ outcome: 'interrupted', reason: 'taken_over' });
});

test('Temporal is not asked when nobody is to be taken over', async () => {
  const { conversationId } = await startTurn(sql);
  await sql`update conversations set active_turn_id = null where id = ${conversationId}`;
  await sql`update turns set outcome = 'completed', ended_at = holdfast_now() where conversation_id = ${conversationId}`;
  await send(sql, { conversationId });
  const dependencies = {
    ...activityDependencies(sql),
    newestRunOf: () => Promise.reject(new Error('not to be asked')),
  };
  const own = execution({ workflowId: 'agent-turn', runId: 'first' });
  expect(await beginTurn(dependencies, { conversationId }, own)).toMatchObject({ kind: 'begun' });
});
