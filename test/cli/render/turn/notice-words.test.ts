import { expect, test } from 'vitest';
import { noticeWords } from '../../../../src/cli/render/turn/notice-words.ts';
import { timelineEvent } from '../timeline.ts';

test.each([
  [
    timelineEvent('model_fallback', { from: 'a/b', to: 'c/d', reason: 'outage' }),
    'warning',
    'a/b is given up (outage): c/d takes over, its window checked first.',
  ],
  [
    timelineEvent('activity_failing', { activity: 'callModel', code: 'Error' }),
    'warning',
    'callModel fails again and again (Error); after ten failures the turn ends.',
  ],
  [
    timelineEvent('secrets_redacted', { count: 1 }),
    'information',
    '1 secret replaced for a summary; the originals are unchanged.',
  ],
  [
    timelineEvent('secrets_redacted', { count: 1_200 }),
    'information',
    '1,200 secrets replaced for a summary; the originals are unchanged.',
  ],
] as const)('$0.kind is told in words', (event, level, text) => expect(noticeWords(event)).toEqual({ level, text }));

test('another event is told by its name and its plain figures', () => {
  const event = { ...timelineEvent('turn_begun'), kind: 'of_a_newer_version', data: { a: 1, b: 'x', c: true, d: {} } };
  expect(noticeWords(event as never).text).toBe('of_a_newer_version: a 1, b x, c true');
  expect(noticeWords({ ...event, data: {} } as never).text).toBe('of_a_newer_version');
});
