import { expect, test } from 'vitest';
import { summaryListLines } from '../../../../src/cli/render/lists/summary-list.ts';
import { PLAIN_STYLE } from '../../../../src/cli/render/text/style.ts';
import type { StoredSummary } from '../../../../src/client/types.ts';

const second: StoredSummary = {
  compactionId: '01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab',
  generation: 2,
  trigger: 'overflow',
  preset: 'cowork',
  form: 'retry_shorter',
  branch: 1,
  inForce: true,
  updatesGeneration: 1,
  tokensBefore: 28_400,
  tokensAfter: 7_100,
  coveredThroughSequence: 41,
  entriesCovered: 38,
  firstKeptSequence: 42,
  operations: 3,
  tries: 2,
  model: 'anthropic/claude-haiku',
  modelCalls: 4,
  cost: 0.0312,
  inputTokens: 20_000,
  cacheReadTokens: 5_000,
  text: 'Goal: read.',
  sections: [],
  createdAt: '2026-03-05T10:00:00.000Z',
  durationMilliseconds: 4_130,
};

const linesOf = (...summaries: StoredSummary[]): string[] =>
  summaryListLines(summaries, { columns: null, style: PLAIN_STYLE, full: false });

test('each generation is told with trigger, preset, what it covered and won, tries, model and cost', () => {
  expect(linesOf(second)).toEqual([
    '2. retry shorter  28,400 → 7,100 tokens (−75 %)  01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab',
    '   branch 1, in force · covers 38 entries through 41 · 3 entries shown shorter · preset cowork · trigger overflow · 2 tries · anthropic/claude-haiku · 4 calls, $0.0312 · 20,000 tokens read, 25 % from the cache · 4.1 s · 2026-03-05T10:00:00.000Z',
    '   Goal: read.',
  ]);
});

test('what a pass without model and summary has not is left out, and a price that is unknown is told as such', () => {
  const clipped: StoredSummary = {
    ...second,
    generation: 1,
    form: 'reduction',
    inForce: false,
    coveredThroughSequence: null,
    entriesCovered: 0,
    firstKeptSequence: null,
    operations: 1,
    tries: 1,
    model: null,
    modelCalls: 0,
    cost: 0,
    inputTokens: 0,
    cacheReadTokens: 0,
    text: null,
  };
  expect(linesOf(clipped, { ...second, cost: null })).toEqual([
    '1. reduction  28,400 → 7,100 tokens (−75 %)  01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab',
    '   branch 1 · 1 entry shown shorter · preset cowork · trigger overflow · 4.1 s · 2026-03-05T10:00:00.000Z',
    '',
    expect.stringMatching(/^2\. retry shorter /u),
    expect.stringContaining(' · 4 calls, cost unknown · '),
    '   Goal: read.',
  ]);
});
