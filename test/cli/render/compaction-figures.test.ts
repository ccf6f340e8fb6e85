import { expect, test } from 'vitest';
import {
  compactionBegunLines,
  compactionDoneLines,
  runningCompactionLines,
} from '../../../src/cli/render/turn/compaction-card.ts';
import { PLAIN_STYLE as style } from '../../../src/cli/render/text/style.ts';
import { EXAMPLE_EVENTS } from '../../support/example-events.ts';

const FIGURES = { tokensBefore: 637_089, operations: 8, messagesChanged: 8, proactive: true };
const PLAN = { ...EXAMPLE_EVENTS.compaction_started, ...FIGURES, messages: 52 };
const DONE = {
  ...EXAMPLE_EVENTS.compaction_committed,
  ...FIGURES,
  tokensAfter: 170_000,
  tokensSaved: 467_089,
  durationMilliseconds: 25_000,
};
const inPipe = { columns: null, style };

test('W35, W39 the card of a running pass tells how many messages there are and how many it changes', () => {
  const lines = runningCompactionLines({ plan: PLAN, written: 0, since: 0 }, 1_000, 80, style).join('\n');
  expect(lines).toContain('52 messages');
  expect(lines).toContain('8 to change');
  expect(compactionBegunLines(PLAN, inPipe).join('\n')).toContain('52 messages, 8 to change');
});

test('W36 the card of a finished pass tells messages changed, tokens saved and how long it took', () => {
  const lines = compactionDoneLines(DONE, inPipe).join('\n');
  expect(lines).toContain('8 messages changed, 467,089 tokens saved');
  expect(lines).toMatch(/25(\.0)? ?s/);
});

test('C11 the pass is labelled proactive, or reactive when the view was past the window', () => {
  expect(compactionDoneLines(DONE, inPipe).join('\n')).toContain('(proactive)');
  expect(compactionDoneLines({ ...DONE, proactive: false }, inPipe).join('\n')).toContain('(reactive)');
  const asked = compactionBegunLines({ ...PLAN, reason: 'manual' }, inPipe).join('\n');
  expect(asked).toContain('you asked for it');
  expect(asked).not.toContain('proactive');
});

test('W41 the card of a running pass tells both counts, so that a pass in a half-empty window explains itself', () => {
  const plan = { ...PLAN, estimatedTokens: 839_203, reportedTokens: 512_000 };
  const running = runningCompactionLines({ plan, written: 0, since: 0 }, 1_000, 80, style).join('\n');
  expect(running).toContain('estimated 839,203, reported 512,000');
  expect(compactionBegunLines(plan, inPipe).join('\n')).toContain('estimated 839,203, reported 512,000');
  expect(compactionBegunLines(PLAN, inPipe).join('\n')).not.toContain('reported');
});
