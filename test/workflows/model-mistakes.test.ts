import { afterEach, expect, test } from 'vitest';
import { streamedAnswer } from '../support/cut-answer.ts';
import { textOf } from '../../src/context/log/content.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';

const harness = useWorkingHarness();

afterEach(() => harness.clearFaults());

async function kinds(conversationId: string): Promise<string[]> {
  const { items: entries } = await harness.client.log.entries({ conversationId });
  return entries.map((entry) => entry.kind);
}

async function results(conversationId: string): Promise<{ text: string; isError: boolean }[]> {
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 1_000 });
  return entries
    .filter((entry) => entry.kind === 'tool_result')
    .map((entry) => ({ text: JSON.stringify(entry.content), isError: entry.isError }));
}

/** Every outcome leaves a conversation that the next message continues. */
async function expectGoesOn(conversationId: string): Promise<void> {
  await harness.clearFaults();
  const next = await harness.runTask('Say it goes on', { conversationId });
  expect(next.outcome).toBe('completed');
}

test('a refusal ends the turn as refused, and the conversation goes on', async () => {
  await harness.fault({ kind: 'refusal', times: 1 });
  const turn = await harness.runTask('Say hello');
  expect(turn.outcome).toBe('refused');
  await expectGoesOn(turn.conversationId);
});

const streamed = (body: string) => ({
  kind: 'status',
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body,
});

test('thinking that fills the maximum output is not asked for again, and told as that', async () => {
  await harness.fault({ ...streamed(streamedAnswer('thinking', 'hm', 'max_tokens')), times: 1 });
  const turn = await harness.runTask('Say hello');
  expect(turn).toMatchObject({ outcome: 'model_failed', reason: 'thinking_filled_output', modelCalls: 1 });
  expect(turn.explanation).toMatch(/thought until its maximum output/);
  await expectGoesOn(turn.conversationId);
});

test('a tool call that is announced and does not come is asked for once more', async () => {
  await harness.fault({ ...streamed(streamedAnswer('text', 'I will read it.', 'tool_use')), times: 1 });
  const turn = await harness.runTask('Say hello');
  expect(turn).toMatchObject({ outcome: 'completed', reason: null, steps: 2 });
  expect(await kinds(turn.conversationId)).toEqual(['user', 'assistant', 'note', 'assistant']);
  await harness.fault({ ...streamed(streamedAnswer('text', 'I will read it.', 'tool_use')), times: null });
  expect(await harness.runTask('Say hello')).toMatchObject({ outcome: 'completed', reason: 'call_missing', steps: 2 });
});

test('an answer that the vendor pauses goes on in the next step', async () => {
  await harness.fault({ ...streamed(streamedAnswer('text', 'I search.', 'pause_turn')), times: 1 });
  const turn = await harness.runTask('Say hello');
  expect(turn).toMatchObject({ outcome: 'completed', reason: null, steps: 2 });
  expect(await kinds(turn.conversationId)).toEqual(['user', 'assistant', 'assistant']);
});

test('malformed arguments become a result that the model can read, and nothing runs', async () => {
  await harness.fault({ kind: 'malformed_arguments', times: 1 });
  const turn = await harness.runTask('Call write_file with {"path": "never.txt", "content": "text"}');
  expect(turn.outcome).toBe('completed');
  const [result] = await results(turn.conversationId);
  expect(result).toMatchObject({ isError: true, text: expect.stringMatching(/JSON|arguments/) });
});

test('an answer that is cut at the maximum output is continued by the next step', async () => {
  await harness.fault({ kind: 'cut_answer', times: 1 });
  const turn = await harness.runTask('Say hello to everybody who reads this sentence');
  expect(turn).toMatchObject({ outcome: 'completed', steps: 2 });
  expect(await kinds(turn.conversationId)).toEqual(['user', 'assistant', 'note', 'assistant']);
  const { items: entries } = await harness.client.log.entries({ conversationId: turn.conversationId });
  const pieces = entries.filter(({ kind }) => kind === 'assistant').map(({ content }) => textOf(content));
  expect(pieces).toHaveLength(2);
  expect(turn.text).toBe(pieces.join(''));
});

test('R6 answers that stay cut are continued three times, then the turn completes and says so', async () => {
  await harness.fault({ kind: 'cut_answer', times: null });
  const turn = await harness.runTask('Say hello to everybody who reads this sentence');
  expect(turn).toMatchObject({ outcome: 'completed', reason: 'answer_cut', steps: 4 });
  await harness.clearFaults();
  const resumed = await harness.client.conversation.resume({ conversationId: turn.conversationId });
  expect(await harness.client.conversation.outcome({ ...resumed, timeoutMilliseconds: 240_000 })).toMatchObject({
    outcome: 'completed',
    reason: null,
  });
});

// The guard that refuses large payloads is always on.
test('60 tool calls in one answer all run, within the payload limit, and the model sees their results in call order', async () => {
  const turn = await harness.runTask('Call list_files with {"path": "missing-$index"} 60 times');
  expect(turn).toMatchObject({ outcome: 'completed', steps: 2 });
  const { requests } = await harness.requests();
  const body = requests.at(-1)?.body as { messages: { role: string; content: { type: string; content: unknown }[] }[] };
  const shown = body.messages.flatMap((message) =>
    Array.isArray(message.content) ? message.content.filter((part) => part.type === 'tool_result') : [],
  );
  const numbers = shown.map((part) => Number(/missing-(\d+)/.exec(JSON.stringify(part.content))?.[1]));
  expect(numbers).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
});
