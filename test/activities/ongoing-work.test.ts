import { asyncLocalStorage } from '@temporalio/activity';
import type { Context } from '@temporalio/activity';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { activity } from '../../src/activities/runtime/activity.ts';
import { createFenceWatch } from '../../src/activities/runtime/fence-watch.ts';
import type { Database } from '../../src/store/database/database.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityContext } from './support/activity-context.ts';

/** An activity whose work ends when the test says so. */
function waiting() {
  const ends: ((result: string) => void)[] = [];
  // Nothing fails, so nothing is counted.
  const database = null as unknown as Database;
  const shell = {
    database,
    logger: pino({ level: 'silent' }),
    isWorkflowOpen: () => Promise.resolve(true),
    worksOn: () => ({ told: null, done: () => undefined }),
    fenceWatch: createFenceWatch(database, pino({ level: 'silent' })),
  };
  const work = () => new Promise<string>((resolve) => void ends.push(resolve));
  const run = activity<{ conversationId: string }, string>(shell, { name: 'waiting', run: work });
  const attempt = (context: Context): Promise<string> =>
    asyncLocalStorage.run(context, () => run({ conversationId: '1' }));
  return { ends, attempt };
}

test('an attempt joins the work of the one before while that is within its time limit', async () => {
  const { ends, attempt } = waiting();
  const attempts = [attempt(activityContext(1, 60_000)), attempt(activityContext(2, 60_000))];
  ends[0]?.('once');
  expect(await Promise.all(attempts)).toEqual(['once', 'once']);
  expect(ends).toHaveLength(1);
});

test('work that hangs beyond its time limit is begun anew by the next attempt, which does not wait for it', async () => {
  const limit = 50;
  const { ends, attempt } = waiting();
  const begun = performance.now();
  const hanging = attempt(activityContext(1, limit));
  await waitUntil('the time limit is over', () => performance.now() - begun > limit);
  const next = attempt(activityContext(2, limit));
  ends[1]?.('anew');
  expect(await next).toBe('anew');
  ends[0]?.('too late');
  expect(await hanging).toBe('too late');
  expect(ends).toHaveLength(2);
});
