import { Context, asyncLocalStorage } from '@temporalio/activity';
import type { Info } from '@temporalio/activity';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { activity } from '../../src/activities/runtime/activity-shell.ts';
import { waitUntil } from '../support/wait-until.ts';

/** What Temporal hands to an activity, as far as the shell reads it. */
function contextOf(attempt: number, startToCloseTimeoutMs: number): Context {
  const workflowExecution = { workflowId: 'agent-turn:1', runId: 'run' };
  const info = { activityId: '1', attempt, workflowExecution, startToCloseTimeoutMs } as Info;
  const never = new Promise<never>(() => undefined);
  const { signal } = new AbortController();
  const of = [info, never, signal, () => undefined, undefined, console, undefined, {}] as unknown;
  return new Context(...(of as ConstructorParameters<typeof Context>));
}

/** An activity whose work ends when the test says so. */
function waiting() {
  const ends: ((result: string) => void)[] = [];
  const shell = { logger: pino({ level: 'silent' }), isWorkflowOpen: () => Promise.resolve(true) };
  const run = activity<null, string>(shell, 'waiting', () => new Promise((resolve) => void ends.push(resolve)));
  const attempt = (context: Context): Promise<string> => asyncLocalStorage.run(context, () => run(null));
  return { ends, attempt };
}

test('an attempt joins the work of the one before while that is within its time limit', async () => {
  const { ends, attempt } = waiting();
  const attempts = [attempt(contextOf(1, 60_000)), attempt(contextOf(2, 60_000))];
  ends[0]?.('once');
  expect(await Promise.all(attempts)).toEqual(['once', 'once']);
  expect(ends).toHaveLength(1);
});

test('work that hangs beyond its time limit is begun anew by the next attempt, which does not wait for it', async () => {
  const limit = 50;
  const { ends, attempt } = waiting();
  const begun = performance.now();
  const hanging = attempt(contextOf(1, limit));
  await waitUntil('the time limit is over', () => performance.now() - begun > limit);
  const next = attempt(contextOf(2, limit));
  ends[1]?.('anew');
  expect(await next).toBe('anew');
  ends[0]?.('too late');
  expect(await hanging).toBe('too late');
  expect(ends).toHaveLength(2);
});
