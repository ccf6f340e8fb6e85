import { afterEach, expect, test } from 'vitest';
import { createModelClient } from '../../src/models/model-clients.ts';
import { respond, startHttpServer, stream, type HttpServer } from '../support/http-server.ts';
import { failureOf, listening, requestOf, user, viewOf } from '../support/model-builders.ts';

let server: HttpServer | undefined;
afterEach(async () => server?.close());

async function clientOf(answer: Parameters<typeof startHttpServer>[0]) {
  server = await startHttpServer(answer);
  return createModelClient({ name: 'local', protocol: 'chat', baseUrl: `${server.url}/v1`, apiKey: 'key' });
}

const REQUEST = requestOf(viewOf([user('hi')]));

function chunk(delta: unknown, finishReason: string | null = null, extra: object = {}) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...extra,
  };
}

const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 5,
  total_tokens: 105,
  prompt_tokens_details: { cached_tokens: 64 },
};

async function answerTo(chunks: readonly unknown[]) {
  const client = await clientOf((_, response) => stream(response, chunks, true));
  const options = listening();
  return { answer: await client.answer(REQUEST, options), deltas: options.deltas };
}

test('an answer is streamed, collected and counted; usage may come in a chunk of its own', async () => {
  const { answer, deltas } = await answerTo([
    chunk({ role: 'assistant', content: 'Hel' }),
    chunk({ content: 'lo' }),
    chunk({}, 'stop'),
    { id: 'chatcmpl-1', choices: [], usage: USAGE },
  ]);
  expect(answer).toEqual({
    content: [{ type: 'text', text: 'Hello' }],
    stopReason: 'end',
    usage: { input: 100, cacheRead: 64, cacheWrite: 0, output: 5 },
    responseId: 'chatcmpl-1',
  });
  expect(deltas.map((delta) => (delta.kind === 'text' ? delta.text : ''))).toEqual(['Hel', 'lo']);
  expect(server?.requests[0]).toMatchObject({
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer key' },
    body: { stream: true, stream_options: { include_usage: true }, max_tokens: 8_192 },
  });
});

test('reasoning that a server leaves out of completion_tokens is counted from the total', async () => {
  const { answer } = await answerTo([
    chunk({ content: 'x' }, 'stop', { usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 50 } }),
  ]);
  expect(answer.usage?.output).toBe(40);
});

test('usage in the choice, as Moonshot sends it, is read', async () => {
  const choice = { index: 0, delta: { content: 'x' }, finish_reason: 'stop', usage: USAGE };
  expect((await answerTo([{ id: '1', choices: [choice] }])).answer.usage?.input).toBe(100);
});

test('parallel tool calls in pieces come back whole, malformed arguments as text', async () => {
  const { answer, deltas } = await answerTo([
    chunk({ tool_calls: [{ index: 0, id: 'call_a', function: { name: 'read_file', arguments: '' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] }),
    chunk({ tool_calls: [{ index: 1, id: 'call_b', function: { name: 'read_file', arguments: '{path: b' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '"a"}' } }] }),
    chunk({}, 'tool_calls'),
  ]);
  expect(answer.stopReason).toBe('tool_calls');
  expect(answer.content).toEqual([
    { type: 'tool_call', index: 0, id: 'call_a', name: 'read_file', arguments: '{"path":"a"}' },
    { type: 'tool_call', index: 1, id: 'call_b', name: 'read_file', arguments: '{path: b' },
  ]);
  expect(deltas[0]).toEqual({ kind: 'tool_call', index: 0, name: 'read_file', argumentsText: '' });
});

test('calls without a usable index or id are told apart, and `stop` with calls means tool calls', async () => {
  const { answer } = await answerTo([
    chunk({ tool_calls: [{ index: 0, id: 'x', function: { name: 'read_file', arguments: '{"path":"a"}' } }] }),
    chunk({ tool_calls: [{ index: 0, id: 'y', function: { name: 'read_file', arguments: { path: 'b' } } }] }),
    chunk({ tool_calls: [{ index: 1, function: { name: 'read_file', arguments: '{}' } }] }),
    chunk({}, 'stop'),
  ]);
  expect(answer.stopReason).toBe('tool_calls');
  expect(answer.content).toMatchObject([
    { id: 'x', arguments: '{"path":"a"}' },
    { id: 'y', arguments: '{"path":"b"}' },
    { id: 'call_2', arguments: '{}' },
  ]);
});

test('reasoning and what else a server wants back is kept with the field that it came in', async () => {
  const signed = { google: { thought_signature: 'abc' } };
  const { answer, deltas } = await answerTo([
    chunk({ reasoning_content: 'let me ' }),
    chunk({ reasoning_content: 'see', reasoning_details: [{ type: 'reasoning.encrypted', data: 'e' }] }),
    chunk({
      tool_calls: [{ index: 0, id: 'x', extra_content: signed, function: { name: 'read_file', arguments: '{}' } }],
    }),
    chunk({}, 'tool_calls'),
  ]);
  expect(deltas.slice(0, 2)).toEqual([
    { kind: 'thinking', text: 'let me ' },
    { kind: 'thinking', text: 'see' },
  ]);
  expect(answer.content).toEqual([
    { type: 'thinking', text: 'let me see', provider: 'local', signature: 'reasoning_content' },
    {
      type: 'thinking',
      text: '',
      provider: 'local',
      signature: 'reasoning_details',
      encrypted: '[{"type":"reasoning.encrypted","data":"e"}]',
    },
    { type: 'thinking', text: '', provider: 'local', signature: 'extra_content', encrypted: JSON.stringify(signed) },
    { type: 'tool_call', index: 0, id: 'x', name: 'read_file', arguments: '{}' },
  ]);
});

test('text that comes as a list of parts is read', async () => {
  const { answer } = await answerTo([chunk({ content: [{ type: 'text', text: 'parts' }] }, 'stop')]);
  expect(answer.content).toEqual([{ type: 'text', text: 'parts' }]);
});

test.each([
  ['length', 'maximum_output'],
  ['content_filter', 'content_filter'],
  ['model_context_window_exceeded', 'window_full'],
  ['EOS', 'end'],
  ['invented', 'other'],
])('finish reason %s means %s', async (vendor, expected) => {
  expect((await answerTo([chunk({ content: 'x' }, vendor)])).answer.stopReason).toBe(expected);
});

test('a refusal is text with a stop reason of its own', async () => {
  const { answer } = await answerTo([chunk({ refusal: 'I will not.' }), chunk({}, 'stop')]);
  expect(answer).toMatchObject({ stopReason: 'refusal', content: [{ type: 'text', text: 'I will not.' }] });
});

test.each([
  [
    'flat',
    {
      object: 'error',
      message: 'This model has a context window of 8,192 tokens; your prompt holds 9,310.',
      code: 400,
    },
  ],
  [
    'a list',
    [
      {
        error: {
          code: 400,
          message: 'The input token count (9310) exceeds the maximum number of tokens allowed (8192).',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
  ],
  ['under detail', { detail: 'Prompt of 9310 tokens does not fit into the context of 8192 tokens' }],
  ['a bare string', { error: 'The context length is 8192 tokens but 9310 tokens were sent' }],
  ['no JSON', 'Bad Request: prompt too long (9310 tokens, context window 8192)'],
])('an error body that is %s survives the SDK', async (_, body) => {
  const client = await clientOf((_request, response) => respond(response, 400, body));
  const failure = await failureOf(client.answer(REQUEST, listening()));
  expect(failure.verdict).toMatchObject({ kind: 'overflow', actual: 9_310, limit: 8_192 });
  expect(failure.vendorMessage).toContain('8');
  expect(failure.vendorMessage).toContain('9');
});

test.each([
  ['an error chunk', [chunk({ content: 'x' }), { error: { code: 'context_length_exceeded', message: 'too much' } }]],
  [
    'finish reason error',
    [
      chunk({ content: 'x' }),
      { choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { message: 'context length exceeded' } }] },
    ],
  ],
])('an overflow told in the stream by %s is one', async (_, chunks) => {
  const client = await clientOf((_request, response) => stream(response, chunks, true));
  const failure = await failureOf(client.answer(REQUEST, listening()));
  expect(failure.verdict.kind).toBe('overflow');
  expect(failure.status).toBeUndefined();
});

test('a stream without a finish reason or a last event was cut', async () => {
  const client = await clientOf((_, response) => stream(response, [chunk({ content: 'x' })]));
  expect((await failureOf(client.answer(REQUEST, listening()))).verdict).toMatchObject({
    kind: 'retryable',
    cause: 'connection',
  });
});

test('a maximum output over the model limit is lowered to it, once', async () => {
  const client = await clientOf((request, response) => {
    const asked = Reflect.get(Object(request.body), 'max_tokens');
    if (asked <= 4_096) stream(response, [chunk({ content: 'x' }, 'stop')], true);
    else
      respond(response, 400, {
        error: { message: `max_tokens is too large: ${asked}. This model supports at most 4096 completion tokens.` },
      });
  });
  expect((await client.answer(REQUEST, listening())).stopReason).toBe('end');
  expect(server?.requests).toHaveLength(2);
});

test('a base URL without /v1 is named as the cause of a 404, unless the server speaks of a model', async () => {
  const refusing = async (body: unknown) => {
    server = await startHttpServer((_, response) => respond(response, 404, body));
    const provider = { name: 'local', protocol: 'chat', baseUrl: server.url, apiKey: 'key' } as const;
    const failure = await failureOf(createModelClient(provider).answer(REQUEST, listening()));
    await server.close();
    return failure;
  };
  const { vendorMessage, verdict } = await refusing({ detail: 'Not Found' });
  expect(vendorMessage).toContain(`${server?.url}/v1 may be meant: set providers.local.baseUrl in holdfast.yaml`);
  expect(vendorMessage).toContain('The server says: Not Found');
  expect(verdict).toMatchObject({
    kind: 'permanent',
    evidence: expect.stringContaining(', at a base URL without /v1'),
  });
  expect((await refusing({ error: { message: 'The model x does not exist' } })).vendorMessage).not.toContain('/v1');
});
