import { expect, test } from 'vitest';
import { DEFAULT_OPTIONS, parseOptions } from '../../soak/options.ts';
import { createRandom } from '../../soak/random.ts';
import { reportLines } from '../../soak/report.ts';
import { runSoak } from '../../soak/run-soak.ts';

test('25 strikes at workers, Temporal and Postgres lose nothing and double nothing, and every turn reaches its outcome', async () => {
  // Strikes follow each other sooner than a takeover takes, so that they overlap.
  const small = { kills: 25, seed: 7, conversations: 4, files: 6, minutes: 2, patience: 600 };
  const result = await runSoak({ ...DEFAULT_OPTIONS, ...small }, { onProgress: () => undefined });
  expect(result.violations, reportLines(result).join('\n')).toEqual([]);
  expect(result.settledMilliseconds).not.toBeNull();
  expect(result.kills).toBe(25);
  expect(Object.keys(result.hitActivities).length).toBeGreaterThan(3);
  expect(result.outcomes['completed']).toBeGreaterThan(0);
  expect(result.effects).toBeGreaterThan(0);
}, 300_000);

test('a seed always chooses the same', () => {
  const draw = (seed: number): number[] => {
    const random = createRandom(seed);
    return Array.from({ length: 5 }, () => random.between(1, 1_000));
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

test('a crash point that does not exist is refused', () => {
  expect(parseOptions(['--at', 'commitCompaction:after-write'])).toMatchObject({ at: 'commitCompaction:after-write' });
  expect(() => parseOptions(['--at', 'commitCompaction:before-write'])).toThrow(/no such point/);
  expect(() => parseOptions(['--kills', '0'])).toThrow(/whole number from 1/);
});
