import { once } from 'node:events';
import { pino } from 'pino';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { FenceWatch } from '../../src/activities/runtime/fence-watch.ts';
import { createListeners } from '../../src/store/database/listen.ts';
import { markCancelled } from '../../src/store/turns/fences.ts';
import { startTurn, useTestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';

const { sql } = useTestStore();

afterEach(() => vi.useRealTimers());

const logger = pino({ level: 'silent' });

async function runOf(turnId: string) {
  const [turn] = await sql<{ workflowId: string; runId: string }[]>`
    select workflow_id, run_id from turns where id = ${turnId}`;
  return { workflowId: '', runId: '', ...turn };
}

test.each([
  ['a look', false],
  ['a notification', true],
])(
  '%s tells what a run has scheduled up to a cancellation, and nothing that came later or of another run',
  async (_, isNotified) => {
    // With none, no look comes.
    if (isNotified) vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const turn = await startTurn(sql);
    const { turnId } = turn;
    const { workflowId, runId } = await runOf(turnId);
    const listeners = createListeners(sql);
    onTestFinished(() => listeners.close());
    const fences = new FenceWatch(sql, logger, isNotified ? listeners : undefined);
    if (isNotified)
      await waitUntil('it listens', async () => {
        const listening =
          await sql`select from pg_stat_activity where datname = current_database() and query ilike 'listen%work%'`;
        return listening.length > 0;
      });
    const activity = { purpose: 'activity', turn, runId, activityId: 7 } as const;
    const before = fences.watch(activity);
    const later = fences.watch({ ...activity, activityId: 8 });
    const other = fences.watch({ ...activity, runId: 'another' });
    onTestFinished(() => [before, later, other].forEach((work) => work.end()));
    const told = once(before.signal, 'abort');
    await markCancelled(sql, { workflowId, runId, activityId: 7 });
    await told;
    expect(before.signal.reason).toMatchObject({ name: 'CancelledFailure' });
    expect([later.signal.aborted, other.signal.aborted]).toEqual([false, false]);
  },
);
