import { describe, expect, test } from 'vitest';
import {
  drawBar,
  formatAge,
  formatBytes,
  formatClock,
  formatCost,
  formatCount,
  formatDuration,
  formatPercent,
  formatShortCount,
  formatTimeLeft,
  plural,
} from '../../../../src/cli/render/text/numbers.ts';

describe('numbers', () => {
  test.each([
    [formatCount(1_234_567), '1,234,567'],
    [formatCount(999), '999'],
    [formatShortCount(950), '950'],
    [formatShortCount(31_204), '31.2k'],
    [formatShortCount(99_999), '100k'],
    [formatShortCount(200_000), '200k'],
    [formatShortCount(1_048_576), '1.0M'],
    [formatShortCount(999), '999'],
    [formatShortCount(1_000), '1.0k'],
    [formatShortCount(99_949), '99.9k'],
    [formatShortCount(999_499), '999k'],
    [formatShortCount(999_500), '1.0M'],
    [formatBytes(1_023), '1023 B'],
    [formatBytes(1_024), '1.0 KB'],
    [formatBytes(1_024 ** 2), '1.0 MB'],
    [formatBytes(8_600), '8.4 KB'],
    [formatBytes(5 * 1_024 ** 2), '5.0 MB'],
    [formatDuration(40), '0.0 s'],
    [formatDuration(4_130), '4.1 s'],
    [formatDuration(59_990), '1 min 0 s'],
    [formatDuration(75_000), '1 min 15 s'],
    [formatDuration(3_700_000), '1 h 1 min'],
    [formatDuration(3_599_000), '59 min 59 s'],
    [formatDuration(3_600_000), '1 h 0 min'],
    [formatDuration(-5), '0.0 s'],
    [formatCost(0.01321), '$0.0132'],
    [formatCost(0.9949), '$0.9949'],
    [formatCost(0.995), '$0.99'],
    [formatCost(12), '$12.00'],
    [formatCost(0), '$0.00'],
    [formatCost(null), 'cost unknown'],
    [formatPercent(1, 3), '33 %'],
    [formatPercent(1, 0), '–'],
    [plural(1, 'entry', 'entries'), '1 entry'],
    [plural(2, 'entry', 'entries'), '2 entries'],
  ])('%s', (actual, expected) => {
    expect(actual).toBe(expected);
  });

  const now = Date.parse('2026-01-02T12:00:00Z');

  test.each([
    [0, '0 s ago'],
    [59, '59 s ago'],
    [60, '1 min ago'],
    [3_599, '59 min ago'],
    [3_600, '1 h ago'],
    [86_399, '23 h ago'],
    [86_400, '1 d ago'],
    [-5, '0 s ago'],
  ])('an age of %i seconds is told in its largest unit', (seconds, words) => {
    expect(formatAge(new Date(now - seconds * 1_000).toISOString(), now)).toBe(words);
  });

  test.each([
    [-1, 'now'],
    [0, 'in 0 s'],
    [59, 'in 59 s'],
    [60, 'in 1 min'],
    [3_599, 'in 59 min'],
    [3_600, 'in 1 h'],
    [172_799, 'in 47 h'],
    [172_800, 'in 2 d'],
  ])('a time in %i seconds is told in its largest unit, rounded down', (seconds, words) => {
    expect(formatTimeLeft(new Date(now + seconds * 1_000 + 999).toISOString(), now)).toBe(words);
  });

  test('a clock shows its day when that is another one', () => {
    const noon = new Date(2026, 0, 2, 9, 5, 7).getTime();
    expect(formatClock(noon, noon)).toBe('09:05:07');
    expect(formatClock(noon, noon + 86_400_000)).toBe('2026-01-02 09:05:07');
  });

  test('a bar has its columns whatever the fraction', () => {
    for (const fraction of [-1, 0, 0.01, 0.5, 0.999, 1, 7]) {
      const { filled, empty } = drawBar(fraction, 10);
      expect(filled.length + empty.length).toBe(10);
    }
    expect(drawBar(0.5, 10).filled).toBe('█████');
    expect(drawBar(0.05, 10).filled).toBe('▌');
    expect(drawBar(7, 3)).toEqual({ filled: '███', empty: '' });
    expect(drawBar(-1, 3)).toEqual({ filled: '', empty: '   ' });
  });
});
