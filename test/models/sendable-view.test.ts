import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ContentPart } from '../../src/context/log/content.ts';
import type { ViewMessage } from '../../src/context/view/view.ts';
import { anthropicRequest } from '../../src/models/protocols/anthropic/request.ts';
import { chatDialect } from '../../src/models/protocols/chat/dialect.ts';
import { chatRequest } from '../../src/models/protocols/chat/request.ts';
import { isRecord } from '../../src/models/protocols/json.ts';
import { responsesRequest } from '../../src/models/protocols/responses/request.ts';
import {
  assistant,
  call,
  PICTURE,
  requestOf,
  results,
  text,
  user,
  viewOf,
  listening,
} from '../support/model-builders.ts';
import { nestedJson } from '../support/nested.ts';
import { checkAnthropicPairing, checkChatPairing, checkResponsesPairing } from '../support/pairing-rules.ts';
import { createModelClient } from '../../src/models/model-clients.ts';
import { startHttpServer } from '../support/http-server.ts';

function anthropic(messages: readonly ViewMessage[]) {
  return anthropicRequest(requestOf(viewOf(messages)), { provider: 'anthropic', thinking: true });
}

const OPENAI = 'https://api.openai.com/v1';

function chat(messages: readonly ViewMessage[], baseUrl = OPENAI, provider = 'openai') {
  return chatRequest(requestOf(viewOf(messages)), { provider, dialect: chatDialect(baseUrl), thinking: true });
}

function responses(messages: readonly ViewMessage[]) {
  return responsesRequest(requestOf(viewOf(messages)), { provider: 'openai', thinking: true });
}

const all = [
  ['anthropic', (messages: readonly ViewMessage[]) => anthropic(messages)] as const,
  ['chat', (messages: readonly ViewMessage[]) => chat(messages)] as const,
  ['responses', (messages: readonly ViewMessage[]) => responses(messages)] as const,
];

test.each(all)('%s: arguments that are no JSON object are sent as one', (_, make) => {
  const written = ['{"path": "a', 'null', '[1]', '"text"', '', '{"path":"\\ud800\\u0000"}', nestedJson(20_000)];
  const calls = written.map((words, index) => call(`c${index}`, index, 'read_file', words));
  const sent = JSON.stringify(make([user('x'), assistant(...calls)]));
  expect(sent).toContain('invalid_arguments');
  expect(sent).not.toMatch(/\\u(d[89a-f]|0000)/i);
  for (const found of argumentsIn(JSON.parse(sent))) expect(isRecord(found)).toBe(true);
});

test('valid arguments with escapes go as they were written, so that prompts stay cached', () => {
  const written = String.raw`{"path": "\ud83d\ude00 \\u0000"}`;
  const sent = chat([user('x'), assistant(call('c', 0, 'read_file', written))]);
  expect(sent.messages.flatMap((message) => ('tool_calls' in message ? message.tool_calls : []))).toMatchObject([
    { function: { arguments: written } },
  ]);
});

test.each(all)('%s: an open call gets an error result, a stray result becomes text', (_, make) => {
  const sent = JSON.stringify(
    make([results(['gone', 'lost words']), assistant(call('open')), results(['other', 'stray words'])]),
  );
  expect(sent).toContain('No result of this tool call is known');
  for (const words of ['lost words', 'stray words']) expect(sent).toContain(words);
});

test.each(all)('%s: NUL and lone surrogates are replaced everywhere', (_, make) => {
  const bad = 'a\u0000b\ud83dc\udc00d';
  const view = [user(bad), assistant(bad, call('c', 0, 'read_file', `{"path":"${bad}"}`)), results(['c', bad])];
  expect(JSON.stringify(make(view))).not.toMatch(/\\u(d[89a-f]|0000)/i);
});

test('names that vendors refuse are replaced, the same way in schema and history', () => {
  const name = `mcp.server/${'long'.repeat(20)}`;
  const view = viewOf([user('x'), assistant(call('c', 0, name)), results(['c', 'r'])], {
    tools: [{ name, description: 'd', inputSchema: { type: 'object' } }],
  });
  const sent = [
    anthropicRequest(requestOf(view), { provider: 'anthropic', thinking: true }),
    chatRequest(requestOf(view), { provider: 'openai', dialect: chatDialect(OPENAI), thinking: true }),
    responsesRequest(requestOf(view), { provider: 'openai', thinking: true }),
  ];
  for (const request of sent) {
    const names = JSON.stringify(request).match(/"name":"[^"]+"/g) ?? [];
    expect(new Set(names).size).toBe(1);
    expect(names[0]).toMatch(/^"name":"[a-zA-Z0-9_-]{1,64}"$/);
  }
});

test('any view becomes a request that keeps the pairing rules', () => {
  fc.assert(
    fc.property(fc.array(anyMessage, { maxLength: 12 }), (messages) => {
      checkAnthropicPairing(anthropic(messages).messages);
      checkChatPairing(chat(messages, 'https://api.mistral.ai/v1', 'mistral').messages);
      checkResponsesPairing(responses(messages).input);
    }),
    { numRuns: 100 },
  );
});

test('the conversion depends on the view alone', () => {
  fc.assert(
    fc.property(fc.array(anyMessage, { maxLength: 8 }), (messages) => {
      expect(JSON.stringify(chat(messages))).toBe(JSON.stringify(chat(structuredClone(messages))));
    }),
    { numRuns: 50 },
  );
});

function argumentsIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(argumentsIn);
  if (!isRecord(value)) return [];
  if (value['type'] === 'tool_use') return [value['input']];
  const own = typeof value['arguments'] === 'string' ? [JSON.parse(value['arguments']) as unknown] : [];
  return [...own, ...Object.values(value).flatMap(argumentsIn)];
}

const anyText = fc.oneof(fc.constantFrom('', ' ', 'words', '\u0000', '\ud800'), fc.string());
const anyId = fc.constantFrom('', 'a', 'b', 'functions.read:0', 'x'.repeat(80), 'toolu_1');

const anyPart: fc.Arbitrary<ContentPart> = fc.oneof(
  anyText.map(text),
  fc.constant(PICTURE),
  fc.record({
    type: fc.constant('thinking' as const),
    text: anyText,
    provider: fc.constantFrom('anthropic', 'openai', 'mistral'),
    signature: fc.constantFrom('s', '{"id":"rs","summary":[]}', 'reasoning_content'),
  }),
  fc.record({
    type: fc.constant('tool_call' as const),
    index: fc.nat(3),
    id: anyId,
    name: fc.constantFrom('read_file', '', 'a.b'),
    arguments: fc.constantFrom('{}', '{"a":1}', '{"a', ''),
  }),
);

const anyMessage: fc.Arbitrary<ViewMessage> = fc.oneof(
  fc.array(anyPart, { maxLength: 3 }).map((parts) => user(...parts)),
  fc.array(anyPart, { maxLength: 4 }).map((parts) => assistant(...parts)),
  fc.array(fc.tuple(anyId, anyText), { maxLength: 3 }).map((list) => results(...list)),
);

const START = { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 10, output_tokens: 1 } } };
const BLOCK = { type: 'tool_use', id: 'c', name: 'read_file', input: 'DEEP' };
const PIECE = { index: 0, id: 'c', function: { name: 'read_file', arguments: 'DEEP' } };

const ANSWERS = {
  anthropic: [
    START,
    { type: 'content_block_start', index: 0, content_block: BLOCK },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ],
  chat: [
    { id: 'x', choices: [{ index: 0, delta: { tool_calls: [PIECE] }, finish_reason: null }] },
    { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
  ],
};

test.each(['anthropic', 'chat'] as const)(
  '%s: arguments that come as a value nested too deep to be written do not fail the answer',
  async (protocol) => {
    const events = ANSWERS[protocol].map((event) => {
      const data = JSON.stringify(event).replace('"DEEP"', nestedJson(20_000));
      return `${'type' in event ? `event: ${event.type}\n` : ''}data: ${data}\n\n`;
    });
    const server = await startHttpServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${events.join('')}${protocol === 'chat' ? 'data: [DONE]\n\n' : ''}`);
    });
    try {
      const client = createModelClient({ name: 'server', protocol, baseUrl: `${server.url}/v1/`, apiKey: 'key' });
      const { content } = await client.answer(requestOf(viewOf([user('hi')])), listening());
      const call = { type: 'tool_call', name: 'read_file', arguments: expect.stringContaining('nested too deep') };
      expect(content).toEqual([expect.objectContaining(call)]);
    } finally {
      await server.close();
    }
  },
);
