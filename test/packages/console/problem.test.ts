import { expect, test } from 'vitest';
import { mayPass, Problem, readAgainAfter } from '../../../packages/console/src/api/problem.ts';

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
