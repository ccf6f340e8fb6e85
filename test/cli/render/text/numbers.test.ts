import { describe, expect, test } from 'vitest';
import {
  drawBar,
  formatAge,
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatPercent,
  formatShortCount,
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
    [formatBytes(1_023), '1023 B'],
    [formatBytes(8_600), '8.4 KB'],
    [formatBytes(5 * 1_024 ** 2), '5.0 MB'],
    [formatDuration(40), '0.0 s'],
    [formatDuration(4_130), '4.1 s'],
    [formatDuration(59_990), '1 min 0 s'],
    [formatDuration(75_000), '1 min 15 s'],
    [formatDuration(3_700_000), '1 h 1 min'],
    [formatDuration(-5), '0.0 s'],
    [formatCost(0.01321), '$0.0132'],
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

  test('ages take the largest unit', () => {
    const now = Date.parse('2026-01-02T12:00:00Z');
    expect(formatAge('2026-01-02T11:59:30Z', now)).toBe('30 s ago');
    expect(formatAge('2026-01-02T11:00:00Z', now)).toBe('1 h ago');
    expect(formatAge('2026-01-01T10:00:00Z', now)).toBe('1 d ago');
  });

  test('a bar has its columns whatever the fraction', () => {
    for (const fraction of [-1, 0, 0.01, 0.5, 0.999, 1, 7]) {
      const { filled, empty } = drawBar(fraction, 10);
      expect(filled.length + empty.length).toBe(10);
    }
    expect(drawBar(0.5, 10).filled).toBe('█████');
    expect(drawBar(0.05, 10).filled).toBe('▌');
  });
});
