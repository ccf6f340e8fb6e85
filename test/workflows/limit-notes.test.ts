import { z } from 'zod';
import { expect, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

const WORDS = Array.from({ length: 700 }, (_, index) => `word${index}`).join(' ');

const count = defineTool({
  name: 'count',
  description: 'Counts.',
  input: z.object({ n: z.number() }),
  effect: 'none',
  run: async ({ n }, { conversationId }) => {
    if (n === 4) await harness.client.conversation.compact({ conversationId });
    return { content: `counted ${n} ${WORDS}` };
  },
});

const limits = { steps: 10, noteAt: 0.15 };
const harness: TurnHarness = useWorkingHarness({ tools: [count], agent: { tools: ['count'], limits } });

test('of a limit that is near the model is told once, and again in the very request behind a compaction, which takes the note away', async () => {
  const turn = await harness.runTask('Call count with {"n": "$index"} 30 times, one by one');
  expect(turn).toMatchObject({ outcome: 'budget_exhausted', reason: 'step_limit', compactions: 1 });
  const { requests } = await harness.requests();
  const ofTurn = requests.filter(({ purpose }) => purpose === 'agent');
  const told = ofTurn.map(({ body }) => JSON.stringify(body).includes('[Limit]'));
  expect(told).toEqual([false, false, ...Array.from({ length: 8 }, () => true)]);
  const { conversationId } = turn;
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 500 });
  const texts = entries.map(({ content }) => textOf(content)).filter((text) => text.startsWith('[Limit]'));
  expect(texts).toEqual([
    expect.stringContaining('has used 2 of 10 steps'),
    expect.stringMatching(/has used [4-9] of 10 steps/u),
  ]);
});
