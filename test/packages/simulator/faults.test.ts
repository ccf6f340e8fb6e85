import { describe, expect, test } from 'vitest';
import { OVERFLOW_VENDORS } from '../../../packages/simulator/src/faults/overflow-bodies.ts';
import { headerOf, rejection, simulator, type TestSimulator } from './support/simulator.ts';
import { SUMMARIZER, summaryOrder } from './support/summary-prompt.ts';

const hello = { model: 'sim-32k', max_tokens: 500, messages: [{ role: 'user' as const, content: 'Hello there' }] };
const echo = { name: 'echo', input_schema: { type: 'object' as const } };
const calling = {
  ...hello,
  tools: [echo],
  messages: [{ role: 'user' as const, content: 'Call echo with {"text": "a rather long text"}' }],
};
const chatHello = { model: 'sim-32k', messages: hello.messages };

function withFault(fault: string | object): { headers: Record<string, string> } {
  return { headers: { 'x-simulator-fault': typeof fault === 'string' ? fault : JSON.stringify(fault) } };
}

async function summaryWith({ anthropic }: TestSimulator, kind: string) {
  const content = summaryOrder({ messages: hello.messages });
  return anthropic.messages.create(
    { ...hello, system: SUMMARIZER, messages: [{ role: 'user', content }] },
    withFault(kind),
  );
}

describe('refusals', () => {
  test.each(OVERFLOW_VENDORS)('overflow in the words of %s', async (vendor) => {
    const { url } = await simulator();
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(chatHello),
      ...withFault({ kind: 'overflow', vendor, actual: 40_000 }),
    });
    expect([200, 400, 413, 422, 500]).toContain(response.status);
    expect(JSON.stringify(await response.json())).toMatch(
      /context|window|too long|too large|tokens|longer|prompt|1261/i,
    );
  });

  test('overflow without a vendor speaks the protocol, with an input over the limit', async () => {
    const { anthropic, openai } = await simulator();
    expect((await rejection(anthropic.messages.create(hello, withFault('overflow')))).message).toContain(
      'prompt is too long: 32769 tokens > 32768 maximum',
    );
    expect(await rejection(openai.chat.completions.create(chatHello, withFault('overflow')))).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
    });
  });

  test('a rate limit names its Retry-After, or none', async () => {
    const { anthropic, openai } = await simulator();
    const limited = await rejection(
      anthropic.messages.create(hello, withFault({ kind: 'rate_limit', retryAfterSeconds: 7 })),
    );
    expect(limited).toMatchObject({ status: 429, type: 'rate_limit_error' });
    expect(headerOf(limited, 'retry-after')).toBe('7');
    const silent = await rejection(
      openai.responses.create(
        { model: 'sim-32k', input: 'a' },
        withFault({ kind: 'rate_limit', retryAfterSeconds: null }),
      ),
    );
    expect(silent).toMatchObject({ status: 429 });
    expect(headerOf(silent, 'retry-after')).toBeNull();
  });

  test.each([500, 503, 529])('server error %i', async (status) => {
    const { anthropic } = await simulator();
    expect(
      await rejection(anthropic.messages.create(hello, withFault({ kind: 'server_error', status }))),
    ).toMatchObject({ status });
  });

  test('any status, body and headers', async () => {
    const { openai } = await simulator();
    const fault = {
      kind: 'status',
      status: 402,
      body: { error: { message: 'no credit' } },
      headers: { 'x-extra': 'yes' },
    };
    const error = await rejection(openai.chat.completions.create(chatHello, withFault(fault)));
    expect(error).toMatchObject({ status: 402 });
    expect(headerOf(error, 'x-extra')).toBe('yes');
  });

  test('a fault that nobody knows is refused and says what is known', async () => {
    const { anthropic, control } = await simulator();
    expect((await rejection(anthropic.messages.create(hello, withFault('bad_luck')))).message).toContain(
      'x-simulator-fault',
    );
    expect(await control('POST', '/faults', { kind: 'bad_luck' })).toMatchObject({ status: 400 });
    expect((await control('POST', '/faults', { kind: 'hang', times: 0 })).status).toBe(400);
  });
});

describe('connections', () => {
  test('a reset before any byte', async () => {
    const { anthropic } = await simulator();
    expect((await rejection(anthropic.messages.create(hello, withFault('connection_reset')))).message).toMatch(
      /connection/i,
    );
  });

  test('a hang lasts until the client gives up, or the simulator closes', async () => {
    const sim = await simulator();
    const error = await rejection(sim.anthropic.messages.create(hello, { ...withFault('hang'), timeout: 200 }));
    expect(error.constructor.name).toBe('APIConnectionTimeoutError');
    const hanging = rejection(sim.anthropic.messages.create(hello, withFault('hang')));
    await expect.poll(async () => (await sim.control('GET', '/requests')).body['total']).toBe(2);
    await sim.close();
    expect((await hanging).message).toMatch(/connection/i);
  });

  test.each([0, 100, 700])('a stream cut after %i bytes', async (afterBytes) => {
    const { url } = await simulator();
    const body = JSON.stringify({ ...chatHello, stream: true });
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      body,
      ...withFault({ kind: 'cut_stream', afterBytes }),
    });
    let bytes = 0;
    const read = async () => {
      const reader = response.body?.getReader();
      for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
        bytes += next.value.byteLength;
    };
    await rejection(read());
    expect(bytes).toBe(afterBytes);
  });

  test('a stream that falls silent keeps its connection', async () => {
    const { anthropic } = await simulator();
    const stream = anthropic.messages.stream(hello, withFault({ kind: 'stall_stream', afterBytes: 900 }));
    await expect.poll(() => stream.currentMessage?.id).toMatch(/^msg_/);
    stream.abort();
    expect((await rejection(stream.finalMessage())).constructor.name).toBe('APIUserAbortError');
  });

  test('an error in a stream that began well, in each protocol', async () => {
    const { anthropic, openai } = await simulator();
    const fault = withFault({ kind: 'stream_error', afterBytes: 900 });
    expect(await rejection(anthropic.messages.stream(hello, fault).finalMessage())).toMatchObject({
      type: 'overloaded_error',
    });
    const chat = async () => {
      for await (const _ of await openai.chat.completions.create({ ...chatHello, stream: true }, fault));
    };
    expect((await rejection(chat())).message).toContain('Overloaded');
    const types: string[] = [];
    for await (const event of await openai.responses
      .create({ model: 'sim-32k', input: 'Hello', stream: true }, fault)
      .catch(() => []))
      types.push(event.type);
    expect(types).not.toContain('response.completed');
  });

  test('a delay of the first token', async () => {
    const { anthropic } = await simulator();
    const { headers } = withFault({ kind: 'delay', milliseconds: 3_600_000 });
    expect(await rejection(anthropic.messages.create(hello, { headers, timeout: 150 }))).toMatchObject({
      name: 'APIConnectionTimeoutError',
    });
  });
});

describe('answers', () => {
  test('malformed and cut-off tool arguments', async () => {
    const { openai } = await simulator();
    const tools = [{ type: 'function' as const, function: { name: 'echo', parameters: {} } }];
    for (const [kind, finish] of [
      ['malformed_arguments', 'tool_calls'],
      ['cut_arguments', 'length'],
    ] as const) {
      const completion = await openai.chat.completions.create(
        { ...chatHello, tools, messages: calling.messages },
        withFault(kind),
      );
      const call = completion.choices[0]?.message.tool_calls?.[0];
      expect(completion.choices[0]?.finish_reason).toBe(finish);
      expect(() => JSON.parse(call?.type === 'function' ? call.function.arguments : '{}') as unknown).toThrow();
    }
  });

  test('a call of a tool that was never offered', async () => {
    const { anthropic } = await simulator();
    expect((await anthropic.messages.create(calling, withFault('unknown_tool'))).content[0]).toMatchObject({
      type: 'tool_use',
      name: 'tool_that_nobody_offered',
    });
  });

  test.each([
    ['empty_answer', 'end_turn', 0],
    ['refusal', 'refusal', 1],
    ['content_filter', 'refusal', 0],
    ['cut_answer', 'max_tokens', 1],
    ['window_full', 'model_context_window_exceeded', 1],
  ])('%s ends with %s', async (kind, stop, blocks) => {
    const { anthropic } = await simulator();
    const message = await anthropic.messages.create(hello, withFault(kind));
    expect(message.stop_reason).toBe(stop);
    expect(message.content).toHaveLength(blocks);
    const streamed = await anthropic.messages.stream(hello, withFault(kind)).finalMessage();
    expect(streamed.stop_reason).toBe(stop);
  });

  test('refusal and filter in the words of OpenAI', async () => {
    const { openai } = await simulator();
    const refused = await openai.chat.completions.create(chatHello, withFault('refusal'));
    expect(refused.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: null, refusal: expect.stringContaining("can't") },
    });
    expect(
      (await openai.chat.completions.create(chatHello, withFault('content_filter'))).choices[0]?.finish_reason,
    ).toBe('content_filter');
    const response = await openai.responses.create({ model: 'sim-32k', input: 'a' }, withFault('content_filter'));
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } });
    const words = await openai.responses.create({ model: 'sim-32k', input: 'a' }, withFault('refusal'));
    expect(words.output[0]).toMatchObject({ content: [{ type: 'refusal' }] });
  });
});

describe('summaries', () => {
  test('empty, cut off, too long, a tool call, without sections', async () => {
    const sim = await simulator();
    expect((await summaryWith(sim, 'summary_empty')).content).toEqual([]);
    expect((await summaryWith(sim, 'summary_cut_off')).stop_reason).toBe('max_tokens');
    expect((await summaryWith(sim, 'summary_too_long')).usage.output_tokens).toBeGreaterThan(450);
    expect((await summaryWith(sim, 'summary_tool_call')).stop_reason).toBe('tool_use');
    const flat = (await summaryWith(sim, 'summary_without_sections')).content[0];
    expect(flat?.type === 'text' ? flat.text : '##').not.toContain('##');
  });

  test('a fault of summaries passes other requests by', async () => {
    const sim = await simulator();
    await sim.control('POST', '/faults', { kind: 'summary_empty' });
    expect((await sim.anthropic.messages.create(hello)).content).toHaveLength(1);
    const content = summaryOrder({ messages: hello.messages });
    const order = { ...hello, system: SUMMARIZER, messages: [{ role: 'user' as const, content }] };
    expect((await sim.anthropic.messages.create(order)).content).toHaveLength(0);
    expect((await sim.anthropic.messages.create(order)).content).toHaveLength(1);
  });
});

describe('the control endpoint', () => {
  test('arms faults for some requests, after some, so many times', async () => {
    const { anthropic, control } = await simulator();
    const outcome = (model = 'sim-32k', content = 'Hello') =>
      anthropic.messages.create({ ...hello, model, messages: [{ role: 'user', content }] }).then(
        () => 'ok',
        () => 'failed',
      );
    await control('POST', '/faults', {
      kind: 'server_error',
      times: 2,
      skip: 1,
      match: { model: 'sim-8k', containing: 'a "secret"' },
    });
    expect(await outcome()).toBe('ok');
    expect(await outcome('sim-8k')).toBe('ok');
    const rounds = [];
    for (const _ of [1, 2, 3, 4]) rounds.push(await outcome('sim-8k', 'a "secret" word'));
    expect(rounds).toEqual(['ok', 'failed', 'failed', 'ok']);
    await control('POST', '/faults', { kind: 'server_error', times: null });
    expect(await outcome()).toBe('failed');
    expect((await control('GET', '/faults')).body['faults']).toHaveLength(1);
    expect((await control('DELETE', '/faults')).body).toEqual({ removed: 1 });
    expect(await outcome()).toBe('ok');
    expect((await control('DELETE', '/faults/fault-99')).status).toBe(404);
  });

  test('counts requests and shows what was sent', async () => {
    const { anthropic, openai, control } = await simulator();
    await anthropic.messages.create(hello);
    await rejection(openai.chat.completions.create(chatHello, withFault('overflow')));
    const { body } = await control('GET', '/requests?last=2');
    expect(body).toMatchObject({ total: 2, agent: 2, summary: 0, answered: 1, refused: 1, overflows: 1 });
    expect(body['requests']).toMatchObject([
      { protocol: 'anthropic', status: 200, body: { messages: hello.messages } },
      { protocol: 'chat', status: 400, fault: 'overflow', window: 32_768 },
    ]);
    await control('DELETE', '/requests');
    expect((await control('GET', '/requests')).body).toMatchObject({ total: 0, requests: [] });
    expect((await control('GET', '/requests?last=x')).status).toBe(400);
  });
});
