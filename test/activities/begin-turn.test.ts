import { expect, test } from 'vitest';
import { beginTurn } from '../../src/activities/turn/begin-and-end-turn.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { said, send, startTurn, useTestStore } from '../store/support/store-builders.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { countWaiting } from '../store/support/waiting-rows.ts';

const { sql } = useTestStore();

async function endOpenTurn(conversationId: string): Promise<void> {
  await sql`update conversations set active_turn_id = null where id = ${conversationId}`;
  await sql`
    update turns set outcome = 'completed', ended_at = holdfast_now()
    where conversation_id = ${conversationId} and outcome is null`;
}

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
  expect(refused).toMatchObject({ code: 'run_replaced', permanent: true });
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

test('a run whose beginning was scheduled before that of the newest turn begins one only if Temporal has no newer run', async () => {
  const { conversationId } = await startTurn(sql);
  await endOpenTurn(conversationId);
  await send(sql, { conversationId });
  const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));
  const own = { workflowId: 'agent-turn', runId: 'later', scheduledAt: at(2) };
  const notAsked = { ...activityDependencies(sql), newestRunOf: () => Promise.reject(new Error('not to be asked')) };
  expect(await beginTurn(notAsked, { conversationId }, execution(own))).toMatchObject({ kind: 'begun' });
  await endOpenTurn(conversationId);
  await send(sql, { conversationId });
  const begin = (newest: string, runId: string, seconds: number) => {
    const dependencies = { ...activityDependencies(sql), newestRunOf: () => Promise.resolve(newest) };
    return beginTurn(dependencies, { conversationId }, execution({ ...own, runId, scheduledAt: at(seconds) }));
  };
  await expect(begin('later', 'dead', 1)).rejects.toMatchObject({ code: 'run_replaced' });
  expect(await countWaiting(sql, conversationId)).toMatchObject({ waiting: 1 });
  // A run that begins again from before the turn, after a reset, keeps the times of the one that was reset.
  expect(await begin('reset', 'reset', 1)).toMatchObject({ kind: 'begun' });
});

test('Temporal is not asked when nobody is to be taken over', async () => {
  const { conversationId } = await startTurn(sql);
  await endOpenTurn(conversationId);
  await send(sql, { conversationId });
  const dependencies = {
    ...activityDependencies(sql),
    newestRunOf: () => Promise.reject(new Error('not to be asked')),
  };
  const own = execution({ workflowId: 'agent-turn', runId: 'first' });
  expect(await beginTurn(dependencies, { conversationId }, own)).toMatchObject({ kind: 'begun' });
});
