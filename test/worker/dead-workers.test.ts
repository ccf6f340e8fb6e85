import { expect, test } from 'vitest';
import { judgeOthers } from '../../src/worker/worker-session.ts';

/** What a worker knows after looks at these times, each of which found these locks free, or failed (`null`). */
function after(...looks: readonly (readonly [now: number, free: Readonly<Record<string, number>> | null])[]) {
  return looks
    .reduce(
      (before, [now, free]) =>
        judgeOthers(before, free && Object.entries(free).map(([id, renewals]) => ({ id, renewals })), now),
      judgeOthers({ suspects: [], dead: [], blindUntil: 0 }, [], 0),
    )
    .dead.map(({ id }) => id);
}

test('a worker is dead once its lock has been free for half a second in which it renewed nothing', () => {
  expect(after([1_000, { a: 7 }])).toEqual([]);
  expect(after([1_000, { a: 7 }], [1_499, { a: 7 }])).toEqual([]);
  expect(after([1_000, { a: 7 }], [1_499, { a: 7 }], [1_500, { a: 7 }])).toEqual(['a']);
});

test('a worker that renews its row, or takes its lock again, is not dead', () => {
  expect(after([1_000, { a: 7 }], [1_600, { a: 8 }])).toEqual([]);
  expect(after([1_000, { a: 7 }], [1_250, {}], [1_600, { a: 7 }])).toEqual([]);
});

test('a worker whose takeover failed is dead again half a second later', () => {
  expect(after([1_000, { a: 7 }], [1_500, { a: 7 }], [1_550, { a: 7 }])).toEqual([]);
  expect(after([1_000, { a: 7 }], [1_500, { a: 7 }], [1_550, { a: 7 }], [2_050, { a: 7 }])).toEqual(['a']);
});

test('for ten seconds after a look that failed nobody counts as dead: the others may come back later', () => {
  expect(after([1_000, null], [1_001, { a: 7 }], [10_999, { a: 7 }])).toEqual([]);
  expect(after([1_000, { a: 7 }], [1_250, null], [11_250, { a: 7 }])).toEqual([]);
  expect(after([1_000, null], [11_000, { a: 7 }], [11_500, { a: 7 }])).toEqual(['a']);
});
