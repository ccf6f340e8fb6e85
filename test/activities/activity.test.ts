import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asyncLocalStorage } from '@temporalio/activity';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { activity } from '../../src/activities/runtime/activity.ts';
import type { ActivityBody } from '../../src/activities/runtime/activity.ts';
import { FenceWatch } from '../../src/activities/runtime/fence-watch.ts';
import { createOutlastingWork } from '../../src/activities/runtime/outlasting-work.ts';
import { countActivityFailure } from '../../src/store/turns/activity-failures.ts';
import { listEvents } from '../../src/store/log/events.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { startTurn, useTestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityContext } from './support/activity-context.ts';
import { orderedCrashPoints } from '../../src/activities/runtime/crash-points.ts';
import { observeWrites } from '../../src/activities/runtime/observe-writes.ts';

const { sql } = useTestStore();

type Of = { readonly turn: TurnReference } | { readonly conversationId: string };

/** Runs attempts of an activity as Temporal calls it. */
function attemptsOf(body: ActivityBody<Of, string>, timeLimit = 60_000) {
  const logger = pino({ level: 'silent' });
  const shell = {
    database: sql,
    logger,
    isWorkflowOpen: () => Promise.resolve(true),
    isServed: () => Promise.resolve(true),
    worksOn: () => () => undefined,
    fenceWatch: new FenceWatch(sql, logger),
    outlastingWork: createOutlastingWork(),
  };
  const run = activity<Of, string>(shell, body);
  return (attempt: number, of: Of): Promise<string> =>
    asyncLocalStorage.run(activityContext(attempt, timeLimit), () => run(of));
}

/** An activity whose work ends when the test says so. */
function waiting(timeLimit?: number) {
  const ends: ((result: string) => void)[] = [];
  const run = () => new Promise<string>((resolve) => void ends.push(resolve));
  const attempt = attemptsOf({ name: 'waiting', run }, timeLimit);
  return { ends, attempt: (number: number) => attempt(number, { conversationId: '1' }) };
}

test('an attempt joins the work of the one before while that is within its time limit', async () => {
  const { ends, attempt } = waiting();
  const attempts = [attempt(1), attempt(2)];
  await waitUntil('it runs', () => ends.length > 0);
  ends[0]?.('once');
  expect(await Promise.all(attempts)).toEqual(['once', 'once']);
  expect(ends).toHaveLength(1);
});

test('work that hangs beyond its time limit is begun anew by the next attempt, which does not wait for it', async () => {
  const limit = 50;
  const { ends, attempt } = waiting(limit);
  const hanging = attempt(1);
  const begun = performance.now();
  await waitUntil('the time limit is over', () => performance.now() - begun > limit);
  const next = attempt(2);
  await waitUntil('it runs anew', () => ends.length > 1);
  ends[1]?.('anew');
  expect(await next).toBe('anew');
  ends[0]?.('too late');
  expect(await hanging).toBe('too late');
  expect(ends).toHaveLength(2);
});

/** What ten attempts come to that always fail. */
async function tenFailures(givenUp?: ActivityBody<Of, string>['givenUp']) {
  const turn = await startTurn(sql);
  const run = () => Promise.reject(new TypeError('planted'));
  const attempt = attemptsOf({ name: 'summarize', run, ...(givenUp !== undefined && { givenUp }) });
  const ends: unknown[] = [];
  for (let number = 1; number <= 10; number += 1)
    ends.push(await attempt(number, { turn }).catch((error: unknown) => error));
  return { turn, ends };
}

test('a third failure is told in the timeline, the tenth ends the activity, and the failures of a turn are forgotten with it', async () => {
  const { turn, ends } = await tenFailures();
  expect(ends.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => expect.objectContaining({ nonRetryable: false })));
  expect(ends[9]).toMatchObject({ type: 'repeated_failure', nonRetryable: true });
  const events = await listEvents(sql, { conversationId: turn.conversationId });
  expect(events.filter(({ kind }) => kind === 'activity_failing').map(({ data }) => data)).toEqual([
    { activity: 'summarize', code: 'TypeError', failures: 3 },
  ]);
});

test('a turn that cannot begin is told of in the timeline of its conversation', async () => {
  const { conversationId } = await startTurn(sql);
  const failed = {
    conversationId,
    turn: null,
    activity: 'beginTurn',
    runId: 'run',
    activityId: '1',
    code: 'TypeError',
  };
  for (let times = 1; times <= 3; times += 1) expect(await countActivityFailure(sql, failed)).toBe(times);
  const told = (await listEvents(sql, { conversationId })).filter(({ kind }) => kind === 'activity_failing');
  expect(told).toMatchObject([{ turnId: null, data: { activity: 'beginTurn', code: 'TypeError', failures: 3 } }]);
});

test('a summary that failed ten times falls to its weaker form', async () => {
  const { ends } = await tenFailures(() => 'weaker form');
  expect(ends[9]).toBe('weaker form');
});

test('a crash point stands behind each commit that changed a row, and nowhere else', async () => {
  const { conversationId } = await startTurn(sql);
  const commits: string[] = [];
  const database = observeWrites(sql, (writes) => void commits.push(writes.join(', ')));
  const rename = database`update conversations set agent = 'a' where id = ${conversationId}`;
  expect(commits).toEqual([]);
  await rename;
  await database`update conversations set agent = 'b' where id = ${conversationId} and agent = 'c'`;
  await database`select from conversations for update`;
  await database.begin('read only', (open) => open`select from conversations`);
  await database.begin(async (open) => {
    await open`select from conversations where id = ${conversationId} for no key update`;
    await open`insert into search_progress (conversation_id) values (${conversationId}) on conflict do nothing`;
    await open`update conversations set agent = 'd' where id = ${conversationId}`;
    expect(commits).toHaveLength(1);
  });
  await expect(
    database.begin(async (open) => {
      await open`update conversations set agent = 'e' where id = ${conversationId}`;
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  expect(commits).toEqual(['update conversations', 'insert search_progress, update conversations']);
});

test('what is not a crash point is refused', () => {
  for (const setting of ['runTool:claimed', 'runTool', 'runTool:write@0']) {
    expect(() => orderedCrashPoints(setting)).toThrow(RangeError);
  }
});

test('the process dies by SIGKILL at the arrival that was named, or when a file orders it, not before', async () => {
  // The compiled one, which starts without a compiler.
  const module = fileURLToPath(new URL('../../dist/activities/runtime/crash-points.js', import.meta.url));
  const orders = join(await mkdtemp(join(tmpdir(), 'holdfast-orders-')), 'orders');
  const dying = async (setting: string, order: string): Promise<unknown> => {
    const script = `
      const { writeFileSync } = await import('node:fs');
      const { asyncLocalStorage } = await import('@temporalio/activity');
      const { orderedCrashPoints } = await import(${JSON.stringify(module)});
      const { reached } = orderedCrashPoints(${JSON.stringify(setting)}, ${JSON.stringify(orders)});
      const reach = (activityType, point) => asyncLocalStorage.run({ info: { activityType } }, () => reached(point));
      reach('summarize', 'answered'); reach('runTool', 'finished'); console.log('alive');
      writeFileSync(${JSON.stringify(orders)}, ${JSON.stringify(order)});
      reach('summarize', 'answered'); console.log('survived');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [, signal] = (await once(child, 'close')) as [number | null, string | null];
    await rm(orders, { force: true });
    return { signal, output };
  };
  expect(await dying('summarize:answered@2', '')).toEqual({ signal: 'SIGKILL', output: 'alive\n' });
  expect(await dying('', 'summarize:answered')).toEqual({ signal: 'SIGKILL', output: 'alive\n' });
  expect(await dying('', 'runTool:finished')).toEqual({ signal: null, output: 'alive\nsurvived\n' });
});
