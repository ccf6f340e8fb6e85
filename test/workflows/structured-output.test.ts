import { expect, test } from 'vitest';
import { z } from 'zod';
import { useWorkingHarness } from '../support/turn-harness.ts';

const FORM = z.object({ answer: z.number() });

const harness = useWorkingHarness({ agent: { output: FORM } });

async function run(task: string) {
  const sent = await harness.client.start(task);
  return { ...(await sent.result({ output: FORM, timeoutMilliseconds: 60_000 })), conversation: sent.conversation };
}

test('the final answer comes back in the form of the agent', async () => {
  const turn = await run('Say {"answer": 42}');
  expect(turn).toMatchObject({ outcome: 'completed', reason: null, steps: 1 });
  expect(turn.output?.answer).toBe(42);
});

test('an answer of another form is asked for once more, with what is wrong', async () => {
  const turn = await run('Say {"answer": "many"}');
  expect(turn).toMatchObject({ outcome: 'completed', reason: 'output_invalid', steps: 2 });
  expect(turn).not.toHaveProperty('output');
  const { items } = await turn.conversation.entries();
  expect(JSON.stringify(items.find(({ kind }) => kind === 'note')?.content)).toMatch(/answer: .*number/);
});
