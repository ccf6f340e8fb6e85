import { describe, expect, test } from 'vitest';
import type { ContentPart } from '../../src/context/log/content.ts';
import type { ViewMessage } from '../../src/context/view/view.ts';
import { AnthropicCollector } from '../../src/models/protocols/anthropic/answer.ts';
import { anthropicRequest } from '../../src/models/protocols/anthropic/request.ts';
import { ChatCollector } from '../../src/models/protocols/chat/answer.ts';
import { chatDialect } from '../../src/models/protocols/chat/dialect.ts';
import { chatRequest } from '../../src/models/protocols/chat/request.ts';
import { ResponsesCollector } from '../../src/models/protocols/responses/answer.ts';
import type { AnswerCollector } from '../../src/models/protocols/answer-collector.ts';
import { responsesRequest } from '../../src/models/protocols/responses/request.ts';
import { PICTURE, requestOf, user, viewOf } from '../support/model-builders.ts';
import { checkAnthropicPairing, checkChatPairing, checkResponsesPairing } from '../support/pairing-rules.ts';

/** What each protocol streams for the same step: thinking with its proof, words, two calls at once. */
const STREAMS = {
  anthropic: [
    { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'private anthropic' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'proof-anthropic==' } },
    { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'sealed-anthropic==' } },
    { type: 'content_block_start', index: 2, content_block: { type: 'text', text: 'said by anthropic' } },
    ...[0, 1].flatMap((call) => [
      {
        type: 'content_block_start',
        index: 3 + call,
        content_block: { type: 'tool_use', id: `toolu_${call}`, name: 'read_file', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 3 + call,
        delta: { type: 'input_json_delta', partial_json: `{"path":"anthropic-${call}"}` },
      },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
  ],
  chat: [
    { id: 'c', choices: [{ delta: { reasoning_content: 'private chat' } }] },
    { id: 'c', choices: [{ delta: { content: 'said by chat' } }] },
    ...[0, 1].map((call) => ({
      id: 'c',
      choices: [
        {
          delta: {
            tool_calls: [
              {
                index: call,
                id: `chatcmpl-tool.${call}:${'x'.repeat(60)}`,
                function: { name: 'read_file', arguments: `{"path":"chat-${call}"}` },
              },
            ],
          },
        },
      ],
    })),
    { id: 'c', choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
  ],
  responses: [
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'private responses' }],
        encrypted_content: 'sealed-responses==',
      },
    },
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: { type: 'message', content: [{ type: 'output_text', text: 'said by responses' }] },
    },
    ...[0, 1].map((call) => ({
      type: 'response.output_item.done',
      output_index: 2 + call,
      item: {
        type: 'function_call',
        id: `fc_${call}`,
        call_id: `call_${call}`,
        name: 'read_file',
        arguments: `{"path":"responses-${call}"}`,
      },
    })),
    { type: 'response.completed', response: { id: 'resp', status: 'completed', output: [] } },
  ],
} as const;
type Protocol = keyof typeof STREAMS;
const PROTOCOLS = ['anthropic', 'chat', 'responses'] as const;

const COLLECTORS: Record<Protocol, () => AnswerCollector> = {
  anthropic: () => new AnthropicCollector({ provider: 'anthropic', declaredName: (name) => name }),
  chat: () => new ChatCollector({ provider: 'chat', declaredName: (name) => name }),
  responses: () => new ResponsesCollector({ provider: 'responses', declaredName: (name) => name }),
};

/** The step as it is stored: what the provider streamed, and the results, one of them an image. */
function stepOf(protocol: Protocol): ViewMessage[] {
  const collector = COLLECTORS[protocol]();
  for (const event of STREAMS[protocol]) collector.take(event);
  const answer = collector.finish();
  const content: readonly ContentPart[] = answer.content;
  expect(answer.stopReason).toBe('tool_calls');
  const calls = content.filter((part) => part.type === 'tool_call');
  const image: ContentPart = { ...PICTURE, data: `aW1hZ2Ut${protocol}` } as ContentPart;
  return [
    { role: 'assistant', content, callNumber: 1, turnId: 'turn' },
    {
      role: 'tool_results',
      results: calls.map(({ id, name }, index) => ({
        id,
        name,
        isError: false,
        content: [{ type: 'text', text: `result ${index} of ${protocol}` }, ...(index === 1 ? [image] : [])],
      })),
    },
    user(`thanks ${protocol}`),
  ];
}

function send(protocol: Protocol, messages: readonly ViewMessage[]): unknown {
  const request = requestOf(viewOf(messages));
  switch (protocol) {
    case 'anthropic': {
      const sent = anthropicRequest(request, { provider: protocol, thinking: true });
      checkAnthropicPairing(sent.messages);
      return sent.messages;
    }
    case 'chat': {
      const dialect = chatDialect('https://api.mistral.ai/v1');
      const sent = chatRequest(request, { provider: protocol, dialect, thinking: true });
      checkChatPairing(sent.messages);
      return sent.messages;
    }
    case 'responses': {
      const sent = responsesRequest(request, { provider: protocol, thinking: true });
      checkResponsesPairing(sent.input);
      return sent.input;
    }
  }
}

const PROOFS: Record<Protocol, readonly unknown[]> = {
  anthropic: [
    { type: 'thinking', thinking: 'private anthropic', signature: 'proof-anthropic==' },
    { type: 'redacted_thinking', data: 'sealed-anthropic==' },
  ],
  chat: [{ reasoning_content: 'private chat' }],
  responses: [
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'private responses' }],
      encrypted_content: 'sealed-responses==',
    },
  ],
};

/** Each value of a request that holds all of a wanted object's fields, in order. */
function found(value: unknown, wanted: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const isIt = Object.entries(wanted as object).every(
    ([key, each]) => JSON.stringify(Reflect.get(value, key)) === JSON.stringify(each),
  );
  return [...(isIt ? [value] : []), ...Object.values(value).flatMap((each) => found(each, wanted))];
}

const pairs = PROTOCOLS.flatMap((from) => PROTOCOLS.map((to) => [from, to] as const));

describe.each(pairs)('a conversation that began with %s goes on with %s', (from, to) => {
  const sent = send(to, [user('begin', PICTURE), ...stepOf(from)]);
  const text = JSON.stringify(sent);

  test('words, calls, results and images are all there, once, in their order', () => {
    const order = [
      `said by ${from}`,
      `${from}-0`,
      `${from}-1`,
      `result 0 of ${from}`,
      `result 1 of ${from}`,
      `aW1hZ2Ut${from}`,
      `thanks ${from}`,
    ].map((words) => [text.indexOf(words), text.lastIndexOf(words)]);
    for (const [first, last] of order) expect([first === -1, first]).toEqual([false, last]);
    expect(order.map(([first]) => first)).toEqual(order.map(([first]) => first).sort((a = 0, b = 0) => a - b));
  });

  test('thinking goes back byte for byte to who thought it, and to nobody else', () => {
    if (from === to) {
      for (const proof of PROOFS[from]) expect(found(sent, proof)).toHaveLength(1);
    } else expect(text).not.toMatch(/private|proof-|sealed-/);
  });
});

test('a conversation that went through all three is understood by each', () => {
  const view = [user('begin'), ...PROTOCOLS.flatMap(stepOf), ...PROTOCOLS.toReversed().flatMap(stepOf)];
  for (const to of PROTOCOLS) {
    const text = JSON.stringify(send(to, view));
    for (const from of PROTOCOLS) {
      expect(text.split(`said by ${from}`)).toHaveLength(3);
      expect(text.split(`private ${from}`)).toHaveLength(from === to ? 3 : 1);
    }
  }
});

/** A megabyte of text and 200 calls, as each protocol streams them. */
const HUGE: Record<'chat' | 'responses', readonly unknown[]> = {
  chat: [
    ...Array.from({ length: 1_000 }, () => ({ id: 'c', choices: [{ delta: { content: 'x'.repeat(1_000) } }] })),
    ...Array.from({ length: 200 }, (_, index) => ({
      id: 'c',
      choices: [
        { delta: { tool_calls: [{ index, id: `call_${index}`, function: { name: 'read_file', arguments: '{}' } }] } },
      ],
    })),
    { id: 'c', choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
  ],
  responses: [
    ...Array.from({ length: 1_000 }, () => ({
      type: 'response.output_text.delta',
      output_index: 0,
      delta: 'x'.repeat(1_000),
    })),
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'message', content: [{ type: 'output_text', text: 'x'.repeat(1_000_000) }] },
    },
    ...Array.from({ length: 200 }, (_, index) => ({
      type: 'response.output_item.done',
      output_index: index + 1,
      item: { type: 'function_call', id: `fc_${index}`, call_id: `call_${index}`, name: 'read_file', arguments: '{}' },
    })),
    { type: 'response.completed', response: { id: 'resp', status: 'completed', output: [] } },
  ],
};

test.each(['chat', 'responses'] as const)(
  'an answer of %s of a megabyte and with 200 calls is whole, and each protocol takes it back',
  (from) => {
    const collector = COLLECTORS[from]();
    for (const event of HUGE[from]) collector.take(event);
    const content: readonly ContentPart[] = collector.finish().content;
    const calls = content.filter((part) => part.type === 'tool_call');
    expect(calls.map(({ index }) => index)).toEqual(Array.from({ length: 200 }, (_, index) => index));
    expect(content[0]).toEqual({ type: 'text', text: 'x'.repeat(1_000_000) });
    const results = calls.map(({ id, name }) => ({ id, name, isError: false, content: [] }));
    const step: ViewMessage[] = [
      { role: 'assistant', content, callNumber: 1, turnId: 'turn' },
      { role: 'tool_results', results },
    ];
    for (const to of PROTOCOLS)
      expect(found(send(to, [user('begin'), ...step]), { name: 'read_file' })).toHaveLength(200);
  },
);
