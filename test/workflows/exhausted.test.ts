import { afterEach, expect, test } from 'vitest';
import { useWorkingHarness } from '../support/turn-harness.ts';
import { eventsOf } from './presets/scenario.ts';

/** About 50,000 tokens: no request fits the window of 32,768. */
const INSTRUCTIONS = 'Check each valve twice and write down what it says. '.repeat(5_000);

const harness = useWorkingHarness({
  agent: {
    instructions: INSTRUCTIONS,
    fallbacks: ['simulator/sim-16k', 'simulator-chat/sim-128k', 'simulator-responses/sim-128k'],
  },
});
afterEach(() => harness.clearFaults());

test('R1 a system prompt larger than the window ends the turn as context_exhausted, told once, with what fills the window', async () => {
  const turn = await harness.runTask('Say hello');
  expect(turn).toMatchObject({ outcome: 'context_exhausted', modelCalls: 0 });
  expect(turn.breakdown?.fixed).toBeGreaterThan(turn.breakdown?.inputBudget ?? Infinity);
  const told = (await eventsOf(harness, turn.conversationId)).filter(({ kind }) => kind === 'compaction_exhausted');
  expect(told).toHaveLength(1);
  expect(Number(told[0]?.data['fixed'])).toBe(turn.breakdown?.fixed);
  // A further message meets the same floor and is told so itself; nothing of the log is lost.
  const again = await harness.runTask('Say it again', { conversationId: turn.conversationId });
  expect(again.outcome).toBe('context_exhausted');
  const { items: entries } = await harness.client.log.entries({ conversationId: turn.conversationId, limit: 100 });
  expect(entries.filter(({ kind }) => kind === 'user')).toHaveLength(2);
});

test('R26 a fallback whose window cannot hold what no compaction makes smaller is passed over for the one after it', async () => {
  const model = 'simulator/sim-96k';
  await harness.fault({ kind: 'status', status: 404, times: null, match: { model: 'sim-96k' } });
  const turn = await harness.runTask('Say hello', { model });
  const { conversationId } = turn;
  expect(turn).toMatchObject({
    outcome: 'completed',
    model: 'simulator-chat/sim-128k',
    givenUp: [
      { model, callNumber: 1 },
      { model: 'simulator/sim-16k', reason: 'window_too_small' },
    ],
    compactions: 0,
  });
  const asked = await harness.database<{ model: string }[]>`
    select model from model_attempts where purpose = 'step' and conversation_id = ${conversationId} order by call_number, attempt`;
  expect(asked.map((call) => call.model)).toEqual([model, 'simulator-chat/sim-128k']);
  const told = (await eventsOf(harness, conversationId)).filter(({ kind }) => kind === 'model_fallback');
  expect(told.map(({ data }) => data)).toMatchObject([
    { from: model, to: 'simulator/sim-16k' },
    { from: 'simulator/sim-16k', to: 'simulator-chat/sim-128k', reason: 'window_too_small' },
  ]);
});
