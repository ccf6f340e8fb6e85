import { expect, test } from 'vitest';
import { completePolicy } from '../../src/context/complete-policy.ts';
import type { CompactionPolicy } from '../../src/context/policy.ts';
import { DEFAULT_POLICY } from '../../src/context/presets/default.ts';

test('a policy that an older version stored gets the options that came later, and keeps its own numbers', () => {
  const { transcript: _, ...summary } = DEFAULT_POLICY.summary;
  const stored = { ...DEFAULT_POLICY, name: 'mine', trigger: { tokens: 5, exact: true }, reduce: [], summary };
  const complete = completePolicy(stored as unknown as CompactionPolicy);
  expect(complete).toEqual({ ...stored, summary: DEFAULT_POLICY.summary });
});

test('a complete policy stays as it is', () => {
  expect(completePolicy(DEFAULT_POLICY)).toEqual(DEFAULT_POLICY);
});
