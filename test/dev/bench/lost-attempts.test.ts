import { expect, test } from 'vitest';
import { countLostAttempts } from '../../../dev/bench/lost-attempts.ts';

const started = (attempt: number) => ({ activityTaskStartedEventAttributes: { attempt } });

test('attempts that were made again are lost, of activities that ended and of such that did not', () => {
  expect(countLostAttempts([started(1), {}, started(1)], [{ attempt: 1 }, {}])).toBe(0);
  expect(countLostAttempts([started(1), started(3)], [])).toBe(2);
  expect(countLostAttempts([started(1)], [{ attempt: 2 }, { attempt: 4 }])).toBe(4);
});

test('an activity whose time was over is lost, though there was no further attempt', () => {
  expect(countLostAttempts([started(1), { activityTaskTimedOutEventAttributes: {} }], [])).toBe(1);
});
