import { expect, test } from 'vitest';
import {
  compactionBegunLines,
  compactionDoneLines,
  runningCompactionLines,
} from '../../../src/cli/render/compaction-card.ts';
import type { CompactionFacts } from '../../../src/cli/render/read-event.ts';
import { PLAIN_STYLE as style } from '../../../src/cli/render/style.ts';

const FACTS: CompactionFacts = {
  compactionId: 'c',
  trigger: 'threshold',
  form: 'summary',
  tokensBefore: 637_089,
  tokensAfter: 170_000,
  parts: 1,
  operations: 8,
  fromSequence: null,
  toSequence: null,
  durationMilliseconds: 25_000,
  messages: 52,
  targets: 8,
  proactive: true,
};
const inPipe = { columns: null, style };

test('W35, W39 the card of a running pass tells messages and targets', () => {
  const lines = runningCompactionLines({ facts: FACTS, written: 0, since: 0 }, 1_000, 80, style).join('\n');
  expect(lines).toContain('52 messages');
  expect(lines).toContain('8 targets');
  expect(compactionBegunLines(FACTS, inPipe).join('\n')).toContain('52 messages, 8 targets');
});

test('W36 the card of a finished pass tells targets, tokens saved and how long it took', () => {
  const lines = compactionDoneLines(FACTS, 25_000, inPipe).join('\n');
  expect(lines).toContain('8 targets, 467,089 tokens saved');
  expect(lines).toMatch(/25(\.0)? ?s/);
});

test('C11 the pass is labelled proactive, or reactive when the view was past the window', () => {
  expect(compactionDoneLines(FACTS, 1, inPipe).join('\n')).toContain('(proactive)');
  expect(compactionDoneLines({ ...FACTS, proactive: false }, 1, inPipe).join('\n')).toContain('(reactive)');
});
