import { expect, test } from 'vitest';
import { completePolicy } from '../../src/context/complete-policy.ts';
import type { CompactionPolicy } from '../../src/context/policy.ts';
import { overridePolicy } from '../../src/config/override-policy.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { DEFAULT_POLICY } from '../../src/context/presets/default.ts';

test('a policy that an older version stored gets the options that came later, and keeps its own numbers', () => {
  const { transcript: _, ...summary } = DEFAULT_POLICY.summary;
  const stored = { ...DEFAULT_POLICY, name: 'mine', trigger: { tokens: 5, exact: true }, reduce: [], summary };
  const complete = completePolicy(stored as unknown as CompactionPolicy);
  expect(complete).toEqual({ ...stored, summary: DEFAULT_POLICY.summary });
});

test('a complete policy stays as it is, of every preset', () => {
  for (const policy of Object.values(PRESETS)) {
    // The prompts that a preset leaves out are never asked for.
    expect(completePolicy(policy).summary.sharesPrefix).toEqual(policy.summary.sharesPrefix);
  }
  expect(completePolicy(DEFAULT_POLICY)).toEqual(DEFAULT_POLICY);
});

test('R27 summary.sharesPrefix switches the shared prefix on and off, whatever the preset', () => {
  const without = completePolicy(overridePolicy(DEFAULT_POLICY, { summary: { sharesPrefix: false } }));
  expect(without.summary.sharesPrefix).toBeUndefined();
  const { pi } = PRESETS;
  if (pi === undefined) throw new TypeError('there is a preset pi');
  const sharing = completePolicy(overridePolicy(pi, { summary: { sharesPrefix: true } }));
  expect(sharing.summary.sharesPrefix?.name).toBe('working-summary.shared-prefix');
});
