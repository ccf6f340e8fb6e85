import { afterEach, describe, expect, test } from 'vitest';
import type { ContentPart } from '../../src/context/log/content.ts';
import { anthropicRequest } from '../../src/models/protocols/anthropic/request.ts';
import { responsesRequest } from '../../src/models/protocols/responses/request.ts';
import { createModelClient } from '../../src/models/model-clients.ts';
import type { ProtocolName } from '../../src/models/provider.ts';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { assistant, failureOf, listening, requestOf, user, viewOf } from '../support/model-builders.ts';

let server: HttpServer | undefined;
afterEach(async () => server?.close());

/** A client of a server that writes these bytes and then ends the answer, or leaves the connection open. */
async function clientOf(protocol: ProtocolName, text: string, isLeftOpen = false, type = 'text/event-stream') {
  server = await startHttpServer((_, response) => {
    response.writeHead(200, { 'content-type': type });
    if (isLeftOpen) response.write(text);
    else response.end(text);
  });
  const baseUrl = protocol === 'anthropic' ? server.url : `${server.url}/v1`;
  const limit = isLeftOpen && { idleTimeoutMilliseconds: 500 };
  return createModelClient({ name: 'odd', protocol, baseUrl, apiKey: 'key', ...limit });
}

const REQUEST = requestOf(viewOf([user('hi')]));

function events(list: readonly unknown[]): string {
  return list.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join('');
}

async function answerTo(protocol: ProtocolName, list: readonly unknown[], isLeftOpen = false) {
  const client = await clientOf(protocol, events(list), isLeftOpen);
  return client.answer(REQUEST, listening());
}

async function contentOf(protocol: ProtocolName, list: readonly unknown[]): Promise<readonly ContentPart[]> {
  return (await answerTo(protocol, list)).content;
}

function chunk(delta: unknown, finishReason: string | null = null) {
  return { choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

/** A piece of a tool call; `undefined`: not said. */
function piece(index?: unknown, id?: unknown, name?: string, written?: unknown) {
  return chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: written } }] });
}

const A = '{"path":"a.txt"}';
const B = '{"path":"b.txt"}';

function call(index: number, id: string, written: string, name = 'read_file'): ContentPart {
  return { type: 'tool_call', index, id, name, arguments: written };
}

const TEXT = 'The whole answer.';
const SAID: ContentPart = { type: 'text', text: TEXT };

describe('pieces of tool calls', () => {
  const TWO = [call(0, 'A', A), call(1, 'B', B)];
  test.each<[string, readonly unknown[], readonly ContentPart[]]>([
    [
      'one index for two calls, the piece behind them at another',
      [
        piece(0, 'A', 'read_file', ''),
        piece(0, undefined, undefined, A),
        piece(0, 'B', 'read_file', ''),
        piece(1, undefined, undefined, B),
      ],
      TWO,
    ],
    ['the arguments at the next index', [piece(0, 'A', 'read_file', ''), piece(1, null, '', A)], [call(0, 'A', A)]],
    [
      'no index',
      [
        piece(undefined, 'A', 'read_file', ''),
        piece(undefined, undefined, undefined, A),
        piece(undefined, 'B', 'read_file', B),
      ],
      TWO,
    ],
    [
      'an index as text',
      [
        piece('0', 'A', 'read_file', ''),
        piece('1', 'B', 'read_file', ''),
        piece('0', '', '', A),
        piece('1', '', '', B),
      ],
      TWO,
    ],
    [
      'id and name with each piece',
      [piece(0, 'A', 'read_file', '{"path":'), piece(0, 'A', 'read_file', '"a.txt"}')],
      [call(0, 'A', A)],
    ],
    [
      'another id with each piece',
      [piece(0, 'A', 'read_file', '{"path":'), piece(0, 'x', undefined, '"a.txt"}')],
      [call(0, 'A', A)],
    ],
    [
      'one id for all calls',
      [piece(0, 'A', 'read_file', A), piece(1, 'A', 'read_file', B)],
      [call(0, 'A', A), call(1, 'A', B)],
    ],
    [
      'no ids and one index',
      [piece(0, '', 'read_file', A), piece(0, '', 'read_file', B)],
      [call(0, 'call_0', A), call(1, 'call_1', B)],
    ],
    ['arguments as an object', [piece(0, 'A', 'read_file', { path: 'a.txt' })], [call(0, 'A', A)]],
    ['no name at all', [piece(0, 'A', undefined, A)], [call(0, 'A', A, 'unnamed')]],
  ])('%s', async (_, pieces, expected) => {
    expect(await contentOf('chat', [...pieces, chunk({}, 'tool_calls'), '[DONE]'])).toEqual(expected);
  });
});

describe('the end of an answer', () => {
  const MESSAGE = { type: 'message', id: 'm', content: [{ type: 'output_text', text: TEXT }] };
  const START = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: TEXT } };
  test.each<[string, ProtocolName, readonly unknown[]]>([
    ['[DONE]', 'chat', [chunk({ content: TEXT }), chunk({}, 'stop'), '[DONE]']],
    ['[DONE] without a reason', 'chat', [chunk({ content: TEXT }), '[DONE]']],
    ['a reason, and silence', 'chat', [chunk({ content: TEXT }), chunk({}, 'stop')]],
    [
      'response.completed',
      'responses',
      [{ type: 'response.completed', response: { status: 'completed', output: [MESSAGE] } }],
    ],
    ['message_stop', 'anthropic', [START, { type: 'message_stop' }]],
    ['a stop reason, and silence', 'anthropic', [START, { type: 'message_delta', delta: { stop_reason: 'end_turn' } }]],
  ])('%s ends it, although the connection stays open', async (_, protocol, list) => {
    const { content, stopReason } = await answerTo(protocol, list, true);
    expect(content).toEqual([SAID]);
    expect(stopReason).toBe('end');
    await server?.disconnected(0);
    expect(server?.requests).toHaveLength(1);
  });

  test('a call that is announced and does not come keeps its reason', async () => {
    const { content, stopReason } = await answerTo('chat', [
      chunk({ content: TEXT }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ]);
    expect([content, stopReason]).toEqual([[SAID], 'tool_calls']);
  });

  test('silence before the reason of the end is a broken answer', async () => {
    const client = await clientOf('chat', events([chunk({ content: TEXT })]), true);
    expect((await failureOf(client.answer(REQUEST, listening()))).verdict.kind).toBe('retryable');
  });

  test('the last event counts without a blank line, and lines may end in any way', async () => {
    const text = events([chunk({ content: TEXT }), chunk({}, 'stop')]).trimEnd();
    for (const end of ['\n', '\r\n', '\r']) {
      const client = await clientOf('chat', text.replaceAll('\n', end));
      expect((await client.answer(REQUEST, listening())).content).toEqual([SAID]);
      await server?.close();
    }
  });

  test.each<[ProtocolName, unknown]>([
    ['chat', { choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }] }],
    ['anthropic', { type: 'message', content: [{ type: 'text', text: TEXT }], stop_reason: 'end_turn' }],
    ['responses', { object: 'response', status: 'completed', error: null, output: [MESSAGE] }],
  ])('a whole answer of %s that did not stream is taken', async (protocol, body) => {
    const client = await clientOf(protocol, JSON.stringify(body), false, 'application/json');
    expect((await client.answer(REQUEST, listening())).content).toEqual([SAID]);
  });
});

describe('items of Responses', () => {
  const begun = (type: string, more: object = {}) => ({
    type,
    id: 'i',
    call_id: 'c',
    name: 'read_file',
    arguments: '',
    content: [],
    ...more,
  });
  const added = (index: number, item: object) => ({ type: 'response.output_item.added', output_index: index, item });
  const done = (index: number, item: object) => ({ type: 'response.output_item.done', output_index: index, item });
  const completed = (...output: object[]) => ({
    type: 'response.completed',
    response: { status: 'completed', output },
  });
  const written = { type: 'response.function_call_arguments.delta', output_index: 1, delta: A };
  const whole = begun('function_call', { arguments: A });
  const READ = call(0, 'c', A);

  test.each<[string, readonly unknown[], readonly ContentPart[]]>([
    [
      'text in pieces alone',
      [
        added(0, begun('message')),
        { type: 'response.output_text.delta', output_index: 0, delta: TEXT },
        done(0, begun('message')),
        completed(),
      ],
      [SAID],
    ],
    ['arguments in pieces alone', [added(1, begun('function_call')), written, completed()], [READ]],
    [
      'arguments in their last event alone',
      [
        added(1, begun('function_call')),
        { ...written, type: 'response.function_call_arguments.done', delta: undefined, arguments: A },
        completed(),
      ],
      [READ],
    ],
    ['an item that is done without arguments', [done(0, begun('function_call')), completed(whole)], [READ]],
    [
      'one item done, the other one only listed',
      [
        done(0, { type: 'message', id: 'm', content: [{ type: 'output_text', text: TEXT }] }),
        completed({ type: 'message', id: 'm', content: [] }, whole),
      ],
      [SAID, READ],
    ],
    [
      'arguments as an object',
      [done(0, begun('function_call', { arguments: { path: 'a.txt' } })), completed()],
      [READ],
    ],
    ['a stream that only says [DONE]', [added(1, begun('function_call')), written, '[DONE]'], [READ]],
  ])('%s', async (_, list, expected) => {
    expect(await contentOf('responses', list)).toEqual(expected);
  });
});

test("blocks of the vendor's own tools are kept and sent back as they came", async () => {
  const used = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
  const found = { type: 'web_search_tool_result', tool_use_id: 's', content: [{ url: 'https://a.example' }] };
  const { content, stopReason } = await answerTo('anthropic', [
    { type: 'content_block_start', index: 0, content_block: used },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"query":"a"}' } },
    { type: 'content_block_start', index: 1, content_block: found },
    { type: 'message_delta', delta: { stop_reason: 'pause_turn' } },
    { type: 'message_stop' },
  ]);
  expect(stopReason).toBe('paused');
  const view = viewOf([user('hi'), assistant(...content)]);
  const sent = anthropicRequest(requestOf(view), { provider: 'odd', thinking: true });
  expect(sent.messages.at(-1)).toEqual({ role: 'assistant', content: [{ ...used, input: { query: 'a' } }, found] });
  const elsewhere = anthropicRequest(requestOf(view), { provider: 'another', thinking: true });
  expect(JSON.stringify(elsewhere)).not.toContain('web_search');
});

test("items of OpenAI's own tools are kept and sent back as they came", async () => {
  const item = { type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'search', query: 'a' } };
  const content = await contentOf('responses', [{ type: 'response.completed', response: { output: [item] } }]);
  const view = viewOf([user('hi'), assistant(...content, 'Found.'), user('Go on.')]);
  const { input } = responsesRequest(requestOf(view), { provider: 'odd', thinking: true });
  expect(input).toContainEqual(item);
});

describe('fields that are missing', () => {
  const start = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block });
  const delta = (index: number, change: object) => ({ type: 'content_block_delta', index, delta: change });
  const said = delta(0, { type: 'text_delta', text: TEXT });
  const input = delta(0, { type: 'input_json_delta', partial_json: A });
  const tool = { type: 'tool_use', id: 't', name: 'read_file', input: {} };
  const end = { type: 'message_stop' };

  test.each<[string, readonly unknown[], readonly ContentPart[]]>([
    ['the text of a block', [start(0, { type: 'text' }), said, end], [SAID]],
    ['the beginning of a block', [said, end], [SAID]],
    [
      'the delta of a message',
      [start(0, { type: 'text' }), said, { type: 'message_delta', usage: { output_tokens: 1 } }, end],
      [SAID],
    ],
    [
      'thinking and signature',
      [start(0, { type: 'thinking' }), delta(0, { type: 'thinking_delta', thinking: 'hm' }), end],
      [{ type: 'thinking', text: 'hm', provider: 'odd' }],
    ],
    ['the id of a call', [start(0, { type: 'tool_use', name: 'read_file' }), input, end], [call(0, 'toolu_0', A)]],
    ['another index', [start(0, { type: 'text', text: TEXT }), start(0, tool), input, end], [SAID, call(0, 't', A)]],
    [
      'nothing, but an empty object comes first',
      [start(0, tool), delta(0, { type: 'input_json_delta', partial_json: '{}' }), input, end],
      [call(0, 't', A)],
    ],
  ])('%s', async (_, list, expected) => {
    expect(await contentOf('anthropic', list)).toEqual(expected);
  });
});
