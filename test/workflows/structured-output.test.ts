import { expect, test } from 'vitest';
import { z } from 'zod';
import { useWorkingHarness } from '../support/turn-harness.ts';

const FORM = z.object({ answer: z.number() });

const harness = useWorkingHarness({ agent: { output: FORM } });

async function run(task: string) {
  const sent = await harness.client.start(task);
  return { ...(await sent.result({ output: FORM, timeoutMilliseconds: 240_000 })), conversation: sent.conversation };
}

test('the final answer comes back in the form of the agent', async () => {
  const turn = await run('Say {"answer": 42}');
  expect(turn).toMatchObject({ outcome: 'completed', reason: null, steps: 1 });
  expect(turn.output?.answer).toBe(42);
});

test('a task asks for a form of its own, which holds for its turn alone', async () => {
  const own = z.object({ word: z.string() });
  const task = await harness.client.start('Say {"word": "heron"}', { output: own });
  const { output } = await task.result({ timeoutMilliseconds: 240_000 });
  expect(output?.word).toBe('heron');
  const schema = { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] };
  const second = await task.conversation.send('Say {"count": 2}', { output: schema });
  expect(await second.result()).toMatchObject({ reason: null, output: { count: 2 } });
  const third = await task.conversation.send('Say {"count": 2}', { mode: 'queue' });
  expect(await third.result()).toMatchObject({ reason: 'output_invalid' });
  const steering = task.conversation.send('Say no', { mode: 'steer', output: own });
  await expect(steering).rejects.toMatchObject({ code: 'invalid_argument' });
  const unknown = harness.client.start('Say no', { output: { type: 'string' } });
  await expect(unknown).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('an answer of another form is asked for once more, with what is wrong', async () => {
  const turn = await run('Say {"answer": "many"}');
  expect(turn).toMatchObject({ outcome: 'completed', reason: 'output_invalid', steps: 2 });
  expect(turn).not.toHaveProperty('output');
  const { items } = await turn.conversation.entries();
  expect(JSON.stringify(items.find(({ kind }) => kind === 'note')?.content)).toMatch(/answer: .*number/);
});
