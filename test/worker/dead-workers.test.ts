import { expect, test } from 'vitest';
import { judgeSessions } from '../../src/worker/worker-session.ts';

test('a worker is dead once its lock has been free for half a second in which it renewed nothing', () => {
  const first = judgeSessions([], [{ id: 'a', renewals: 7 }], 1_000);
  expect(first.dead).toEqual([]);
  const second = judgeSessions(first.suspicions, [{ id: 'a', renewals: 7 }], 1_499);
  expect(second.dead).toEqual([]);
  const third = judgeSessions(second.suspicions, [{ id: 'a', renewals: 7 }], 1_500);
  expect(third.dead).toMatchObject([{ id: 'a', renewals: 7 }]);
});

test('a worker that renews its row, or takes its lock again, is not dead', () => {
  const before = judgeSessions(
    [],
    [
      { id: 'renews', renewals: 7 },
      { id: 'locks', renewals: 3 },
    ],
    1_000,
  );
  const renewed = judgeSessions(before.suspicions, [{ id: 'renews', renewals: 8 }], 1_600);
  expect(renewed.dead).toEqual([]);
  const later = judgeSessions(
    renewed.suspicions,
    [
      { id: 'renews', renewals: 9 },
      { id: 'locks', renewals: 3 },
    ],
    1_700,
  );
  expect(later.dead).toEqual([]);
});
