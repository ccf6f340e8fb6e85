import { afterEach, expect, test } from 'vitest';
import { createModelClient } from '../../src/models/model-clients.ts';
import { startHttpServer, stream, type HttpServer } from '../support/http-server.ts';
import { failureOf, listening, requestOf, user, viewOf } from '../support/model-builders.ts';

let server: HttpServer | undefined;
afterEach(async () => server?.close());

const REQUEST = requestOf(viewOf([user('hi')]), { model: 'gpt-6-sol' });

const USAGE = {
  input_tokens: 120,
  input_tokens_details: { cached_tokens: 100, cache_write_tokens: 8 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 129,
};

async function clientOf(events: readonly unknown[]) {
  server = await startHttpServer((_, response) => stream(response, events));
  return createModelClient({ name: 'openai', protocol: 'responses', baseUrl: `${server.url}/v1/`, apiKey: 'key' });
}

function done(index: number, item: unknown) {
  return { type: 'response.output_item.done', output_index: index, item };
}

function completed(response: object = {}) {
  return {
    type: 'response.completed',
    response: { id: 'resp_1', status: 'completed', output: [], usage: USAGE, ...response },
  };
}

const MESSAGE = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  phase: 'commentary',
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
};
const REASONING = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [
    { type: 'summary_text', text: 'one' },
    { type: 'summary_text', text: 'two' },
  ],
  encrypted_content: 'enc',
};
const CALL = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'read_file',
  arguments: '{"path":"a"}',
  status: 'completed',
};

test('reasoning, text with its phase and tool calls are collected, deltas streamed, usage counted', async () => {
  const client = await clientOf([
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'one' },
    done(0, REASONING),
    { type: 'response.output_text.delta', output_index: 1, delta: 'Hello' },
    done(1, MESSAGE),
    { type: 'response.output_item.added', output_index: 2, item: { ...CALL, arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"path":"a"}' },
    done(2, CALL),
    completed(),
  ]);
  const options = listening();
  const answer = await client.answer(REQUEST, options);
  expect(answer).toEqual({
    content: [
      {
        type: 'thinking',
        text: 'one\n\ntwo',
        provider: 'openai',
        signature: '{"id":"rs_1","summary":["one","two"]}',
        encrypted: 'enc',
      },
      { type: 'thinking', text: '', provider: 'openai', signature: '{"phase":"commentary"}' },
      { type: 'text', text: 'Hello' },
      { type: 'tool_call', index: 0, id: 'call_1', name: 'read_file', arguments: '{"path":"a"}' },
    ],
    stopReason: 'tool_calls',
    usage: { input: 120, cacheRead: 100, cacheWrite: 8, output: 9 },
    responseId: 'resp_1',
  });
  expect(options.deltas).toEqual([
    { kind: 'thinking', text: 'one' },
    { kind: 'text', text: 'Hello' },
    { kind: 'tool_call', index: 0, name: 'read_file', argumentsText: '' },
    { kind: 'tool_call', index: 0, argumentsText: '{"path":"a"}' },
  ]);
  expect(server?.requests[0]).toMatchObject({
    path: '/v1/responses',
    body: { store: false, include: ['reasoning.encrypted_content'] },
  });
});

test('reasoning that came in pieces only goes back as the summary that it was', async () => {
  const client = await clientOf([
    { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'on' },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'e' },
    done(0, { ...REASONING, summary: [] }),
    done(1, MESSAGE),
    completed(),
  ]);
  expect((await client.answer(REQUEST, listening())).content[0]).toMatchObject({
    text: 'one',
    signature: '{"id":"rs_1","summary":["one"]}',
  });
});

test('a server that gives its output in the last event only is read too', async () => {
  const client = await clientOf([completed({ output: [MESSAGE] })]);
  expect((await client.answer(REQUEST, listening())).content).toContainEqual({ type: 'text', text: 'Hello' });
});

test.each([
  ['max_output_tokens', 'maximum_output'],
  ['content_filter', 'content_filter'],
  ['invented', 'other'],
])('an answer that is incomplete for %s means %s', async (reason, expected) => {
  const client = await clientOf([
    done(0, CALL),
    {
      type: 'response.incomplete',
      response: { id: 'resp_1', status: 'incomplete', incomplete_details: { reason }, output: [] },
    },
  ]);
  expect((await client.answer(REQUEST, listening())).stopReason).toBe(expected);
});

test('a refusal is text with a stop reason of its own', async () => {
  const client = await clientOf([
    done(0, { ...MESSAGE, phase: null, content: [{ type: 'refusal', refusal: 'No.' }] }),
    completed(),
  ]);
  expect(await client.answer(REQUEST, listening())).toMatchObject({
    stopReason: 'refusal',
    content: [{ type: 'text', text: 'No.' }],
  });
});

test.each([
  [
    'response.failed',
    {
      type: 'response.failed',
      response: { error: { code: 'context_length_exceeded', message: 'Your input is large.' } },
    },
    'overflow',
  ],
  [
    'a flat error event',
    { type: 'error', code: 'context_length_exceeded', message: 'Your input is large.', param: null },
    'overflow',
  ],
  [
    'a failed rate limit',
    {
      type: 'response.failed',
      response: { error: { code: 'rate_limit_exceeded', message: 'Please try again in 1.5s.' } },
    },
    'retryable',
  ],
  [
    'a failed server',
    { type: 'response.failed', response: { error: { code: 'server_error', message: 'Oh.' } } },
    'retryable',
  ],
  [
    'a refused prompt',
    { type: 'error', error: { type: 'invalid_request_error', code: 'invalid_prompt', message: 'No.' } },
    'permanent',
  ],
])('%s, which the SDK hands out as an event, fails the call', async (_, event, kind) => {
  const client = await clientOf([{ type: 'response.created', response: { id: 'resp_1' } }, event]);
  expect((await failureOf(client.answer(REQUEST, listening()))).verdict.kind).toBe(kind);
});

test('a stream that ends before the response is complete was cut', async () => {
  const client = await clientOf([done(0, MESSAGE)]);
  expect((await failureOf(client.answer(REQUEST, listening()))).verdict).toMatchObject({
    kind: 'retryable',
    cause: 'connection',
  });
});

test('aborting while it streams rejects with AbortError', async () => {
  const client = await clientOf([{ type: 'response.output_text.delta', output_index: 0, delta: 'x' }, completed()]);
  const abort = new AbortController();
  const options = { signal: abort.signal, onDelta: () => abort.abort() };
  await expect(client.answer(REQUEST, options)).rejects.toMatchObject({ name: 'AbortError' });
});
