import { expect, test } from 'vitest';
import { PLAIN_STYLE as style } from '../../../../src/cli/render/text/style.ts';
import { viewLines } from '../../../../src/cli/render/lists/view-lines.ts';
import { summaryMessages } from '../../../../src/context/summary/summary-message.ts';
import type { ViewMessage } from '../../../../src/context/view/view.ts';

const answer: ViewMessage = {
  role: 'assistant',
  content: [{ type: 'text', text: 'Done.' }],
  callNumber: 1,
  turnId: 'turn',
};

test.each([
  ['one message', null, ['── user (summary)', '── assistant']],
  [
    'a question and its answer',
    'What did we do so far?',
    ['── user (summary)', '── assistant (summary)', '── assistant'],
  ],
])('R33 a summary that is shown as %s is named as one', (_, question, titles) => {
  const messages = [...summaryMessages('Read all.', question), answer];
  const lines = viewLines(
    {
      call: {
        turn: 1,
        callNumber: 1,
        attempt: 1,
        turnId: 'turn',
        state: 'answered',
        model: 'sim/sim-32k',
        headEntryId: 'head',
        reportedTokens: null,
        cacheReadTokens: null,
        cost: null,
        failure: null,
        fill: null,
        estimatedTokens: 100,
        startedAt: '2026-07-01T00:00:00Z',
      },
      view: { system: '', tools: [], messages },
      fingerprint: 'f',
      sentFingerprint: 'f',
      rendererVersion: 1,
      sentRendererVersion: 1,
    },
    { style },
  );
  expect(lines.filter((line) => line.startsWith('── ') && !line.startsWith('── tools'))).toEqual(titles);
});
