import { Context, asyncLocalStorage } from '@temporalio/activity';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { activity } from '../../src/activities/runtime/activity.ts';
import type { ActivityBody } from '../../src/activities/runtime/activity.ts';
import { createFenceWatch } from '../../src/activities/runtime/fence-watch.ts';
import { listEvents } from '../../src/store/log/events.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { startTurn, useTestStore } from '../store/support/store-builders.ts';
import { activityContext } from './support/activity-context.ts';

const { sql } = useTestStore();

/** Runs attempt after attempt of an activity that always fails; returns what each came to. */
async function failures(times: number, givenUp?: ActivityBody<unknown, string>['givenUp']) {
  const turn = await startTurn(sql);
  const shell = {
    database: sql,
    logger: pino({ level: 'silent' }),
    isWorkflowOpen: () => Promise.resolve(true),
    worksOn: () => ({ told: null, done: () => undefined }),
    fenceWatch: createFenceWatch(sql, pino({ level: 'silent' })),
  };
  const run = () => Promise.reject(new TypeError('planted'));
  const body = { name: 'summarize', run, ...(givenUp !== undefined && { givenUp }) };
  const failing = activity<{ turn: TurnReference }, string>(shell, body);
  const ends: unknown[] = [];
  for (let attempt = 1; attempt <= times; attempt += 1) {
    const context: Context = activityContext(attempt, 60_000);
    const trying = asyncLocalStorage.run(context, () => failing({ turn }));
    ends.push(await trying.catch((error: unknown) => error));
  }
  return { turn, ends };
}

test('a third failure is told in the timeline, the tenth ends the activity, and the failures of a turn are forgotten with it', async () => {
  const { turn, ends } = await failures(10);
  expect(ends.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => expect.objectContaining({ nonRetryable: false })));
  expect(ends[9]).toMatchObject({ type: 'repeated_failure', nonRetryable: true });
  const events = await listEvents(sql, { conversationId: turn.conversationId });
  expect(events.filter(({ kind }) => kind === 'activity_failing').map(({ data }) => data)).toEqual([
    { activity: 'summarize', code: 'TypeError', failures: 3 },
  ]);
});

test('a summary that failed ten times falls to its weaker form', async () => {
  const { ends } = await failures(10, () => 'weaker form');
  expect(ends[9]).toBe('weaker form');
});
