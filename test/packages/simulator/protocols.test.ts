import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { rejection, simulator } from './support/simulator.ts';

const echo = {
  name: 'echo',
  description: 'Says it again.',
  input_schema: { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] },
};
const chatEcho = {
  type: 'function' as const,
  function: { name: 'echo', description: 'Says it again.', parameters: echo.input_schema },
};
const responsesEcho = {
  type: 'function' as const,
  name: 'echo',
  description: 'Says it again.',
  parameters: echo.input_schema,
  strict: false,
};
const instruction = 'Call echo with {"text": "a \\"quoted\\" word, a brace } and an emoji 🦊"}';
const asked = { text: 'a "quoted" word, a brace } and an emoji 🦊' };

describe('Anthropic Messages', () => {
  test('an answer that is not streamed', async () => {
    const { anthropic } = await simulator();
    const message = await anthropic.messages.create({
      model: 'sim-32k',
      max_tokens: 500,
      messages: [{ role: 'user', content: 'Hello there' }],
    });
    expect(message.stop_reason).toBe('end_turn');
    expect(message.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('Hello there') });
    expect(message.usage.input_tokens).toBeGreaterThan(2);
    expect(message.usage.output_tokens).toBeGreaterThan(2);
  });

  test('a streamed tool call arrives in several pieces and as valid arguments', async () => {
    const { anthropic } = await simulator();
    const stream = anthropic.messages.stream({
      model: 'sim-32k',
      max_tokens: 500,
      tools: [echo],
      messages: [{ role: 'user', content: instruction }],
    });
    const pieces: string[] = [];
    stream.on('inputJson', (piece) => pieces.push(piece));
    const message = await stream.finalMessage();
    expect(message.stop_reason).toBe('tool_use');
    const call = message.content.find((block) => block.type === 'tool_use');
    expect(call).toMatchObject({ name: 'echo', input: asked });
    expect(pieces.length).toBeGreaterThan(2);
  });

  test('counts tokens as the answer reports them', async () => {
    const { anthropic } = await simulator();
    const body = {
      model: 'sim-32k',
      system: 'Be brief.',
      tools: [echo],
      messages: [{ role: 'user' as const, content: 'Hello there' }],
    };
    const counted = await anthropic.messages.countTokens(body);
    const message = await anthropic.messages.create({ ...body, max_tokens: 100 });
    expect(message.usage.input_tokens).toBe(counted.input_tokens);
  });

  test.each<[string, Anthropic.MessageParam[], RegExp]>([
    [
      'a call without its result',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'echo', input: {} }] },
        { role: 'user', content: 'b' },
      ],
      /tool_use.*without.*tool_result/,
    ],
    [
      'a result without its call',
      [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'b' }] }],
      /unexpected `tool_use_id`/,
    ],
    ['an empty text block', [{ role: 'user', content: [{ type: 'text', text: '' }] }], /must be non-empty/],
  ])('refuses %s', async (_, messages, expected) => {
    const { anthropic } = await simulator();
    const error = await rejection(anthropic.messages.create({ model: 'sim-32k', max_tokens: 10, messages }));
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error' });
    expect(error.message).toMatch(expected);
  });

  test('refuses an unknown model, too large an answer and a wrong key as the vendor does', async () => {
    const { anthropic } = await simulator();
    const messages = [{ role: 'user' as const, content: 'a' }];
    expect(await rejection(anthropic.messages.create({ model: 'opus', max_tokens: 10, messages }))).toMatchObject({
      status: 404,
      type: 'not_found_error',
    });
    expect(
      (await rejection(anthropic.messages.create({ model: 'sim-8k', max_tokens: 2049, messages }))).message,
    ).toContain('max_tokens: 2049 > 2048');
    expect(
      await rejection(
        anthropic.withOptions({ apiKey: 'invalid' }).messages.create({ model: 'sim-8k', max_tokens: 9, messages }),
      ),
    ).toMatchObject({ status: 401 });
  });

  test('cuts an answer at max_tokens', async () => {
    const { anthropic } = await simulator();
    const message = await anthropic.messages.create({
      model: 'sim-32k',
      max_tokens: 20,
      messages: [{ role: 'user', content: 'Write 500 words' }],
    });
    expect(message.stop_reason).toBe('max_tokens');
    expect(message.usage.output_tokens).toBeLessThanOrEqual(20);
  });
});

describe('Chat Completions', () => {
  test('a streamed tool call with usage', async () => {
    const { openai } = await simulator();
    const stream = openai.chat.completions.stream({
      model: 'sim-32k',
      stream_options: { include_usage: true },
      tools: [chatEcho],
      messages: [{ role: 'user', content: instruction }],
    });
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'tool_calls' });
    const call = completion.choices[0]?.message.tool_calls?.[0];
    expect(call?.type === 'function' ? JSON.parse(call.function.arguments) : undefined).toEqual(asked);
    expect(completion.usage?.prompt_tokens).toBeGreaterThan(20);
    expect(completion.usage?.total_tokens).toBe(
      (completion.usage?.prompt_tokens ?? 0) + (completion.usage?.completion_tokens ?? 0),
    );
  });

  test('a stream without usage when none is asked for', async () => {
    const { openai } = await simulator();
    const stream = await openai.chat.completions.create({
      model: 'sim-32k',
      stream: true,
      messages: [{ role: 'user', content: 'Hello there' }],
    });
    let text = '';
    for await (const chunk of stream) {
      expect(chunk.usage).toBeUndefined();
      text += chunk.choices[0]?.delta.content ?? '';
    }
    expect(text).toContain('Hello there');
  });

  test('several calls in one answer, each with its own id and the number of its repetition', async () => {
    const { openai } = await simulator();
    const completion = await openai.chat.completions.create({
      model: 'sim-200k',
      tools: [chatEcho],
      messages: [{ role: 'user', content: 'Call echo with {"text": "$index of many"} 120 times' }],
    });
    const calls = completion.choices[0]?.message.tool_calls ?? [];
    expect(new Set(calls.map((call) => call.id)).size).toBe(120);
    expect(
      calls.map((call) => (call.type === 'function' ? JSON.parse(call.function.arguments) : undefined))[119],
    ).toEqual({ text: '120 of many' });
  });

  test('refuses a call that was not answered', async () => {
    const { openai } = await simulator();
    const call = { id: 'call_1', type: 'function' as const, function: { name: 'echo', arguments: '{}' } };
    const error = await rejection(
      openai.chat.completions.create({
        model: 'sim-32k',
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', tool_calls: [call] },
          { role: 'user', content: 'b' },
        ],
      }),
    );
    expect(error).toMatchObject({ status: 400 });
    expect(error.message).toContain('call_1');
  });
});

describe('Responses', () => {
  test('a streamed tool call', async () => {
    const { openai } = await simulator();
    const stream = openai.responses.stream({ model: 'sim-32k', tools: [responsesEcho], input: instruction });
    let pieces = 0;
    stream.on('response.function_call_arguments.delta', () => (pieces += 1));
    const response = await stream.finalResponse();
    expect(pieces).toBeGreaterThan(2);
    const call = response.output.find((item) => item.type === 'function_call');
    expect(JSON.parse(call?.arguments ?? '')).toEqual(asked);
    expect(response).toMatchObject({ status: 'completed', usage: { input_tokens_details: { cached_tokens: 0 } } });
  });

  test('is incomplete when the answer reaches max_output_tokens', async () => {
    const { openai } = await simulator();
    const response = await openai.responses.create({
      model: 'sim-32k',
      max_output_tokens: 16,
      input: 'Write 300 words',
    });
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
  });

  test('knows no previous response and wants calls and outputs in pairs', async () => {
    const { openai } = await simulator();
    expect(
      await rejection(openai.responses.create({ model: 'sim-32k', input: 'a', previous_response_id: 'resp_1' })),
    ).toMatchObject({ status: 400, code: 'previous_response_not_found' });
    const stray = await rejection(
      openai.responses.create({
        model: 'sim-32k',
        input: [{ type: 'function_call_output', call_id: 'call_9', output: 'b' }],
      }),
    );
    expect(stray.message).toContain('call_9');
  });
});

describe('models', () => {
  test('lists some and knows every sim-<N>k', async () => {
    const { anthropic, openai } = await simulator();
    expect((await anthropic.models.list()).data.map((model) => model.id)).toContain('sim-32k');
    expect((await openai.models.list()).data.map((model) => model.id)).toContain('sim-200k');
    expect(await anthropic.models.retrieve('sim-57k')).toMatchObject({ max_input_tokens: 57 * 1024, max_tokens: 8192 });
    expect(await openai.models.retrieve('sim-8k')).toMatchObject({
      id: 'sim-8k',
      context_window: 8192,
      max_output_tokens: 2048,
    });
    expect(await rejection(openai.models.retrieve('gpt'))).toMatchObject({ status: 404 });
  });
});

describe('tool choice', () => {
  test('none keeps the model from calling, any makes it call', async () => {
    const { anthropic } = await simulator();
    const create = (choice: Anthropic.ToolChoice, content: string) =>
      anthropic.messages.create({
        model: 'sim-32k',
        max_tokens: 100,
        tools: [echo],
        tool_choice: choice,
        messages: [{ role: 'user', content }],
      });
    expect((await create({ type: 'none' }, instruction)).stop_reason).toBe('end_turn');
    expect((await create({ type: 'any' }, 'Hello')).content[0]).toMatchObject({
      type: 'tool_use',
      input: { text: 'example' },
    });
  });
});
