import { expect, test } from 'vitest';
import { summaryListLines } from '../../../../src/cli/render/lists/summary-list.ts';
import { PLAIN_STYLE } from '../../../../src/cli/render/text/style.ts';
import type { CompactionLineage, StoredSummary } from '../../../../src/client/types.ts';

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

const entries = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ sequence: from + index, entryId: `e${from + index}` }));
const LINEAGE: readonly CompactionLineage[] = [
  {
    compactionId: 'c1',
    number: 1,
    previousCompactionId: null,
    parts: [{ number: 1, kind: 'history', promptVersion: 'handoff@1', entries: entries(1, 15) }],
    changes: [],
  },
  {
    compactionId: 'c2',
    number: 2,
    previousCompactionId: 'c1',
    parts: [
      { number: 1, kind: 'history', promptVersion: 'handoff@1', entries: [...entries(16, 20), ...entries(22, 30)] },
    ],
    changes: [
      {
        sequence: 33,
        entryId: 'e33',
        toolName: 'read_file',
        method: 'clip',
        charactersBefore: 40_000,
        charactersAfter: 9_000,
      },
      { sequence: 35, entryId: 'e35', toolName: null, method: 'strip', charactersBefore: 0, charactersAfter: 60 },
    ],
  },
];
/** Lines of a generation with sections. */
function shown(options: Partial<Parameters<typeof summaryListLines>[1]> = {}): string[] {
  const sections = [
    { title: 'Primary Request and Intent', text: 'Read the logs.', open: true },
    { title: 'Errors and Fixes', text: 'first line\nsecond line', open: false },
  ];
  const summary = { ...second, text: 'whole text', compactionId: 'c2', sections };
  const lines = summaryListLines([summary], { columns: null, style: PLAIN_STYLE, full: false, ...options });
  return lines.map((line) => line.trim());
}

test('C11 each section is a line that unfolds, and those that the preset opens are open', () => {
  const lines = shown();
  expect(lines).toContain('▾ Primary Request and Intent');
  expect(lines).toContain('Read the logs.');
  expect(lines).toContain('▸ Errors and Fixes (2 lines, --full)');
  expect(lines).not.toContain('second line');
  expect(shown({ full: true }).join()).toContain('whole text');
});

test('W36 each shortened entry can be unfolded: tool, sizes before and after, share that is gone, method', () => {
  const lines = shown({ full: true, lineage: LINEAGE });
  expect(lines).toContain('entry 33 read_file: 40,000 → 9,000 characters (−78 %), head and tail kept');
  expect(lines).toContain('entry 35 message: 0 → 60 characters (−0 %), images taken out');
});

test('a summary is followed over its generations to the entries that it covers', () => {
  const lines = shown({ lineage: LINEAGE, showLineage: true });
  expect(lines).toContain('part 1 (history, handoff@1) read entries 16–20, 22–30');
  expect(lines).toContain('generation 1 read entries 1–15');
});
