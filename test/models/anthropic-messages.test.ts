import { expect, test } from 'vitest';
import { createModelClient } from '../../src/models/model-clients.ts';
import { respond, startHttpServer, stream } from '../support/http-server.ts';
import { assistant, call, failureOf, listening, requestOf, results, user, viewOf } from '../support/model-builders.ts';
import { START, HELLO, finish, useAnthropicServer } from '../support/anthropic-server.ts';

const { running, clientOf } = useAnthropicServer();

const REQUEST = requestOf(viewOf([user('hi')]));

test('an answer is streamed, collected and counted with cached input', async () => {
  const client = await clientOf((_, response) => stream(response, HELLO));
  const options = listening();
  const answer = await client.answer(REQUEST, options);
  expect(answer).toEqual({
    content: [{ type: 'text', text: 'Hello' }],
    stopReason: 'end',
    usage: { input: 240, cacheRead: 200, cacheWrite: 30, output: 7 },
    responseId: 'msg_1',
  });
  expect(options.deltas).toEqual([
    { kind: 'text', text: 'Hel' },
    { kind: 'text', text: 'lo' },
  ]);
  expect(running.server?.requests[0]).toMatchObject({
    path: '/v1/messages',
    headers: { authorization: 'Bearer key' },
    body: { stream: true },
  });
});

test('thinking, redacted thinking and parallel tool calls come back whole, cut-off arguments as text', async () => {
  const client = await clientOf((_, response) =>
    stream(response, [
      START,
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'proof' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'secret' } },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: {} },
      },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"path":' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '"a"}' } },
      {
        type: 'content_block_start',
        index: 3,
        content_block: { type: 'tool_use', id: 'toolu_2', name: 'read_file', input: {} },
      },
      { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{"path":"b' } },
      ...finish('max_tokens'),
    ]),
  );
  const options = listening();
  const answer = await client.answer(REQUEST, options);
  expect(answer.stopReason).toBe('maximum_output');
  expect(answer.content).toEqual([
    { type: 'thinking', text: 'hm', provider: 'anthropic', signature: 'proof' },
    { type: 'thinking', text: '', provider: 'anthropic', encrypted: 'secret' },
    { type: 'tool_call', index: 0, id: 'toolu_1', name: 'read_file', arguments: '{"path":"a"}' },
    { type: 'tool_call', index: 1, id: 'toolu_2', name: 'read_file', arguments: '{"path":"b' },
  ]);
  expect(options.deltas).toContainEqual({ kind: 'tool_call', index: 1, argumentsText: '{"path":"b' });
});

test.each([
  ['stop_sequence', 'end'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'window_full'],
  ['pause_turn', 'paused'],
])('stop reason %s means %s', async (vendor, expected) => {
  const client = await clientOf((_, response) => stream(response, [START, ...finish(vendor)]));
  expect((await client.answer(REQUEST, listening())).stopReason).toBe(expected);
});

test('an error event in the stream is classified although HTTP said 200', async () => {
  const client = await clientOf((_, response) =>
    stream(response, [START, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]),
  );
  const failure = await failureOf(client.answer(REQUEST, listening()));
  expect(failure.verdict).toMatchObject({ kind: 'retryable', cause: 'outage' });
  expect(failure.status).toBeUndefined();
});

test('an overflow tells the figures, the vendor words stand apart from the message', async () => {
  const words = 'prompt is too long: 213462 tokens > 200000 maximum';
  const client = await clientOf((_, response) =>
    respond(response, 400, { type: 'error', error: { type: 'invalid_request_error', message: words } }),
  );
  const failure = await failureOf(client.answer(REQUEST, listening()));
  expect(failure.verdict).toMatchObject({ kind: 'overflow', repair: 'compact', actual: 213_462, limit: 200_000 });
  expect(failure.status).toBe(400);
  expect(failure.vendorMessage).toBe(words);
  expect(failure.message).not.toContain('too long:');
  expect(failure.cause).toBeUndefined();
});

test('a maximum output that does not fit beside the input is lowered once', async () => {
  const client = await clientOf((request, response) => {
    const asked = Reflect.get(Object(request.body), 'max_tokens');
    if (asked <= 6_000) stream(response, HELLO);
    else {
      const message = `input length and \`max_tokens\` exceed context limit: 26000 + ${asked} > 32000, decrease input length or \`max_tokens\` and try again`;
      respond(response, 400, { type: 'error', error: { type: 'invalid_request_error', message } });
    }
  });
  const answer = await client.answer(REQUEST, listening());
  expect(answer.stopReason).toBe('end');
  expect(running.server?.requests.map((request) => Reflect.get(Object(request.body), 'max_tokens'))).toEqual([
    8_192, 6_000,
  ]);
});

test('a maximum output that would become useless is not lowered: the view has to shrink', async () => {
  const message = 'input length and `max_tokens` exceed context limit: 31500 + 8192 > 32000';
  const client = await clientOf((_, response) => respond(response, 400, { error: { message } }));
  const failure = await failureOf(client.answer(REQUEST, listening()));
  expect(failure.verdict).toMatchObject({ kind: 'overflow', limit: 32_000 });
  expect(running.server?.requests).toHaveLength(1);
});

test('thinking that the provider refuses is left out, once', async () => {
  const client = await clientOf((request, response) => {
    if (request.text.includes('"signature"')) {
      respond(response, 400, {
        error: {
          type: 'invalid_request_error',
          message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
        },
      });
    } else stream(response, HELLO);
  });
  const thought = { type: 'thinking', text: 'hm', provider: 'anthropic', signature: 'old' } as const;
  const view = viewOf([user('hi'), assistant(thought, call('toolu_1')), results(['toolu_1', 'content'])]);
  await client.answer(requestOf(view), listening());
  expect(running.server?.requests).toHaveLength(2);
});

test('a body without a stream is classified by what it says', async () => {
  const client = await clientOf((_, response) =>
    respond(response, 200, { error: { message: 'Prompt too long for the context window' } }),
  );
  expect((await failureOf(client.answer(REQUEST, listening()))).verdict).toMatchObject({ kind: 'overflow' });
});

test('no call is repeated on its own, and Retry-After is handed on', async () => {
  const client = await clientOf((_, response) =>
    respond(response, 429, { error: { type: 'rate_limit_error', message: 'slow' } }, { 'retry-after': '7' }),
  );
  const failure = await failureOf(client.answer(REQUEST, listening()));
  expect(failure.verdict).toMatchObject({ kind: 'retryable', cause: 'rate_limit', delayMilliseconds: 7_000 });
  expect(running.server?.requests).toHaveLength(1);
});

test('a megabyte of text and 200 tool calls in one answer are collected', async () => {
  const piece = 'x'.repeat(1_000);
  const events = [
    START,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...Array.from({ length: 1_000 }, () => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: piece },
    })),
    ...Array.from({ length: 200 }, (_, index) => [
      {
        type: 'content_block_start',
        index: index + 1,
        content_block: { type: 'tool_use', id: `toolu_${index}`, name: 'read_file', input: {} },
      },
      {
        type: 'content_block_delta',
        index: index + 1,
        delta: { type: 'input_json_delta', partial_json: `{"path":"${index}"}` },
      },
    ]).flat(),
    ...finish('tool_use'),
  ];
  const client = await clientOf((_, response) => stream(response, events));
  const answer = await client.answer(REQUEST, listening());
  expect(answer.content).toHaveLength(201);
  expect(answer.content[0]).toEqual({ type: 'text', text: piece.repeat(1_000) });
  expect(answer.content[200]).toMatchObject({ index: 199, arguments: '{"path":"199"}' });
});

test('a server without keys gets none', async () => {
  running.server = await startHttpServer((_, response) => stream(response, HELLO));
  const client = createModelClient({ name: 'local', protocol: 'anthropic', baseUrl: running.server.url, apiKey: null });
  await client.answer(REQUEST, listening());
  expect(running.server.requests[0]?.headers['x-api-key']).toBeUndefined();
  expect(running.server.requests[0]?.headers.authorization).toBeUndefined();
});

test.each([
  ['max_tokens', ''],
  ['max_tokens', '{"path":"a'],
  ['tool_use', ''],
])('a call whose arguments end at %s with "%s" is never taken for one without arguments', async (reason, written) => {
  const client = await clientOf((_, response) =>
    stream(response, [
      START,
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't1', name: 'a', input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"x":1}' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 't2', name: 'b', input: {} } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: written } },
      ...finish(reason),
    ]),
  );
  const { content } = await client.answer(REQUEST, listening());
  const kept = content.map((part) => (part.type === 'tool_call' ? part.arguments : part.type));
  expect(kept).toEqual(reason === 'max_tokens' && written === '' ? ['{"x":1}'] : ['{"x":1}', written]);
});

test('a text that is broken up by citations is one text, each citation with its stretch and source', async () => {
  const page = {
    type: 'page_location',
    cited_text: 'The pump opens.',
    document_index: 0,
    start_page_number: 2,
    end_page_number: 3,
  };
  const client = await clientOf((_, response) =>
    stream(response, [
      START,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'As the manual says, ' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '', citations: [] } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'it opens' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation: page } },
      { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '.' } },
      ...finish('end_turn'),
    ]),
  );
  const file = { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', data: 'JVBE', pages: 3 } as const;
  const request = requestOf(viewOf([user('hi', file)]), { options: { citations: true } });
  const { content } = await client.answer(request, listening());
  expect(content).toEqual([
    { type: 'text', text: 'As the manual says, it opens.', citations: [{ from: 20, to: 28, source: page }] },
  ]);
  expect(JSON.stringify(running.server?.requests[0]?.body)).toContain('"citations":{"enabled":true}');
  // The documents may be gone by then: what is sent back is the text.
  await client.answer(requestOf(viewOf([user('hi'), assistant(...content), user('more')])), listening());
  expect(running.server?.requests[1]?.text).toContain('it opens.');
  expect(running.server?.requests[1]?.text).not.toContain('citation');
});

test('what was cached for an hour is told apart from the rest, also when only the beginning of the stream says so', async () => {
  const counted = { input_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 30, output_tokens: 1 };
  const usage = { ...counted, cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 } };
  const client = await clientOf((_, response) =>
    stream(response, [{ type: 'message_start', message: { id: 'm', usage } }, ...HELLO.slice(1)]),
  );
  const answer = await client.answer(REQUEST, listening());
  expect(answer.usage).toEqual({ input: 40, cacheRead: 0, cacheWrite: 30, cacheWriteForAnHour: 20, output: 7 });
});
