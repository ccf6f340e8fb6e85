import { expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../../../dev/soak/options.ts';
import type { SoakOptions } from '../../../dev/soak/options.ts';
import { reportLines } from '../../../dev/soak/report.ts';
import { runSoak } from '../../../dev/soak/run-soak.ts';

/** Few conversations with few files that fill a small window, and strikes that follow each other sooner than a takeover takes, so that they overlap. */
const SMALL: SoakOptions = {
  ...DEFAULT_OPTIONS,
  kills: 4,
  seed: 7,
  workers: 2,
  conversations: 3,
  files: 8,
  lines: 80,
  window: 20,
  // More than any machine takes for 4 strikes: their number ends them.
  minutes: 12,
  patience: 300,
  latency: 120,
  // A process that starts again takes seconds of the processor, one that was frozen none.
  kinds: [
    ['worker_crash_point', 30],
    ['worker_kill', 5],
    ['worker_restart', 3],
    ['worker_freeze', 22],
    ['postgres_kill', 14],
    ['postgres_freeze', 10],
    ['postgres_restart', 4],
    ['temporal_kill', 4],
    ['temporal_freeze', 8],
    ['temporal_restart', 3],
  ],
};

test('4 strikes at workers, Temporal and Postgres lose nothing, double nothing, and keep no turn from its outcome', async () => {
  const result = await runSoak(SMALL, { onProgress: () => undefined });
  expect(result.violations, reportLines(result, SMALL.kills).join('\n')).toEqual([]);
  expect(result.kills).toBe(4);
  expect(Object.keys(result.hitActivities).length).toBeGreaterThanOrEqual(1);
  expect(result.outcomes['completed']).toBeGreaterThan(0);
  expect(result.effects).toBeGreaterThan(0);
  // What the invariants of compactions are about must have happened. Whether a strike hits one, and whether a report comes, is luck.
  expect(Object.keys(result.compactions).join()).toContain('committed with a summary');
  expect(result.reportsOwed).toBeGreaterThan(0);
}, 1_000_000);
