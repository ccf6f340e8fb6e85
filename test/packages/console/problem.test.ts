import { expect, test } from 'vitest';
import { mayPass, Problem, problemOf, readAgainAfter, whenWelcome } from '../../../packages/console/src/api/problem.ts';

test.each([
  ['an outage', 0, 'server_unreachable', true, 2_000],
  ['a fault of the server', 503, 'database_busy', true, 2_000],
  ['a limit', 429, 'too_many_requests', true, 2_000],
  ['a login that is needed', 401, 'login_needed', true, 2_000],
  // What is read again takes the form for the key away.
  ['a key that is needed', 401, 'key_missing', true, false],
  ['a conversation that is gone', 404, 'conversation_not_found', false, false],
] as const)('a page goes on, and reads again, after what may pass: %s', (_, status, code, passes, after) => {
  const problem = new Problem(code, '', '', status);
  expect([mayPass(problem), readAgainAfter(problem)]).toEqual([passes, after]);
});

test.each([
  ['0.2', 200],
  // Holdfast's server sends seconds; another one may send a date.
  ['Sun, 29 Nov 2026 01:00:00 GMT', 0],
])('a page that is asked to wait reads nothing sooner: Retry-After %s', async (asked, wait) => {
  const headers = { 'retry-after': asked };
  const problem = await problemOf(Response.json({ code: 'too_many_requests' }, { status: 429, headers }));
  expect(problem.waitMilliseconds).toBe(wait);
  const began = performance.now();
  await expect(whenWelcome(() => Promise.reject(problem))).rejects.toBe(problem);
  const readAt = await whenWelcome(() => Promise.resolve(performance.now()));
  expect(readAt - began).toBeGreaterThanOrEqual(wait);
});
