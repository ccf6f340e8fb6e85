import { expect, test } from 'vitest';
import {
  compactionBegunLines,
  compactionDoneLines,
  runningCompactionLines,
} from '../../../src/cli/render/turn/compaction-card.ts';
import { summaryListLines } from '../../../src/cli/render/lists/summary-list.ts';
import type { CompactionLineage, StoredSummary } from '../../../src/client/types.ts';
import { PLAIN_STYLE as style } from '../../../src/cli/render/text/style.ts';
import { EXAMPLE_EVENTS } from '../../support/example-events.ts';

const FIGURES = { tokensBefore: 637_089, operations: 8, targets: 8, proactive: true };
const PLAN = { ...EXAMPLE_EVENTS.compaction_started, ...FIGURES, messages: 52 };
const DONE = {
  ...EXAMPLE_EVENTS.compaction_committed,
  ...FIGURES,
  tokensAfter: 170_000,
  tokensSaved: 467_089,
  durationMilliseconds: 25_000,
};
const inPipe = { columns: null, style };

test('W35, W39 the card of a running pass tells messages and targets', () => {
  const lines = runningCompactionLines({ plan: PLAN, written: 0, since: 0 }, 1_000, 80, style).join('\n');
  expect(lines).toContain('52 messages');
  expect(lines).toContain('8 targets');
  expect(compactionBegunLines(PLAN, inPipe).join('\n')).toContain('52 messages, 8 targets');
});

test('W36 the card of a finished pass tells targets, tokens saved and how long it took', () => {
  const lines = compactionDoneLines(DONE, inPipe).join('\n');
  expect(lines).toContain('8 targets, 467,089 tokens saved');
  expect(lines).toMatch(/25(\.0)? ?s/);
});

test('C11 the pass is labelled proactive, or reactive when the view was past the window', () => {
  expect(compactionDoneLines(DONE, inPipe).join('\n')).toContain('(proactive)');
  expect(compactionDoneLines({ ...DONE, proactive: false }, inPipe).join('\n')).toContain('(reactive)');
});

test('W41 the card of a running pass tells both counts, so that a pass in a half-empty window explains itself', () => {
  const plan = { ...PLAN, estimatedTokens: 839_203, reportedTokens: 512_000 };
  const running = runningCompactionLines({ plan, written: 0, since: 0 }, 1_000, 80, style).join('\n');
  expect(running).toContain('estimated 839,203, reported 512,000');
  expect(compactionBegunLines(plan, inPipe).join('\n')).toContain('estimated 839,203, reported 512,000');
  expect(compactionBegunLines(PLAN, inPipe).join('\n')).not.toContain('reported');
});

const SUMMARY: StoredSummary = {
  compactionId: 'c2',
  generation: 2,
  trigger: 'threshold',
  preset: 'cowork',
  form: 'summary',
  branch: 0,
  inForce: true,
  updatesGeneration: 1,
  tokensBefore: 100,
  tokensAfter: 50,
  entriesCovered: 10,
  tries: 1,
  model: null,
  modelCalls: 0,
  cost: 0,
  inputTokens: 0,
  cacheReadTokens: 0,
  coveredThroughSequence: 30,
  firstKeptSequence: 31,
  operations: 2,
  text: 'whole text',
  sections: [
    { title: 'Primary Request and Intent', text: 'Read the logs.', open: true },
    { title: 'Errors and Fixes', text: 'first line\nsecond line', open: false },
  ],
  createdAt: '2026-07-01T00:00:00Z',
  durationMilliseconds: 5,
};
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
const list = { columns: null, style, full: false };

test('C11 each section is a line that unfolds, and those that the preset opens are open', () => {
  const lines = summaryListLines([SUMMARY], list).map((line) => line.trim());
  expect(lines).toContain('▾ Primary Request and Intent');
  expect(lines).toContain('Read the logs.');
  expect(lines).toContain('▸ Errors and Fixes (2 lines, --full)');
  expect(lines).not.toContain('second line');
  expect(summaryListLines([SUMMARY], { ...list, full: true }).join()).toContain('whole text');
});

test('W36 each shortened entry can be unfolded: tool, sizes before and after, share that is gone, method', () => {
  const lines = summaryListLines([SUMMARY], { ...list, full: true, lineage: LINEAGE }).map((line) => line.trim());
  expect(lines).toContain('entry 33 read_file: 40,000 → 9,000 characters (−78 %), head and tail kept');
  expect(lines).toContain('entry 35 message: 0 → 60 characters (−0 %), images taken out');
});

test('a summary is followed over its generations to the entries that it covers', () => {
  const shown = { ...list, lineage: LINEAGE, showLineage: true };
  const lines = summaryListLines([SUMMARY], shown).map((line) => line.trim());
  expect(lines).toContain('part 1 (history, handoff@1) read entries 16–20, 22–30');
  expect(lines).toContain('generation 1 read entries 1–15');
});
