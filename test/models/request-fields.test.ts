import { expect, test } from 'vitest';
import { anthropicRequest } from '../../src/models/protocols/anthropic/request.ts';
import { chatDialect } from '../../src/models/protocols/chat/dialect.ts';
import { chatRequest } from '../../src/models/protocols/chat/request.ts';
import { responsesRequest } from '../../src/models/protocols/responses/request.ts';
import { summaryRequestOptions } from '../../src/turn/agent-snapshot.ts';
import type { RequestOptions } from '../../src/turn/agent-snapshot.ts';
import { requestOf, user, viewOf, assistant, call, PICTURE, results } from '../support/model-builders.ts';
import type { ViewMessage } from '../../src/context/view/view.ts';
import type { ModelRequest } from '../../src/models/model-client.ts';

const VIEW = viewOf([user('x')]);

function sent(options: RequestOptions, maximumOutput = 8_192) {
  const request = requestOf(VIEW, { options, maximumOutput });
  return {
    anthropic: anthropicRequest(request, { provider: 'p', thinking: true }),
    chat: chatRequest(request, { provider: 'p', dialect: chatDialect('http://h'), thinking: true }),
    responses: responsesRequest(request, { provider: 'p', thinking: true }),
  };
}

test('without wishes nothing is sent that the vendor would decide itself', () => {
  const { anthropic, chat, responses } = sent({});
  for (const request of [anthropic, chat, responses]) {
    for (const field of [
      'thinking',
      'output_config',
      'temperature',
      'stop',
      'stop_sequences',
      'service_tier',
      'reasoning',
      'reasoning_effort',
    ])
      expect(request).not.toHaveProperty(field);
  }
  expect(JSON.stringify(anthropic)).not.toContain('ttl');
});

test('each protocol is asked in its own fields, and only for what it has', () => {
  const { anthropic, chat, responses } = sent({
    reasoningEffort: 'high',
    temperature: 0.2,
    stopSequences: ['END'],
    serviceTier: 'auto',
    cacheLifetime: '1h',
  });
  expect(anthropic).toMatchObject({
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    temperature: 0.2,
    stop_sequences: ['END'],
    service_tier: 'auto',
  });
  expect(JSON.stringify(anthropic).match(/"cache_control":\{"type":"ephemeral","ttl":"1h"\}/g)).toHaveLength(3);
  expect(chat).toMatchObject({ reasoning_effort: 'high', temperature: 0.2, stop: ['END'], service_tier: 'auto' });
  expect(responses).toMatchObject({
    reasoning: { effort: 'high', summary: 'auto' },
    temperature: 0.2,
    service_tier: 'auto',
  });
  expect(responses).not.toHaveProperty('stop');
  expect(sent({ serviceTier: 'flex' }).anthropic).not.toHaveProperty('service_tier');
  expect(sent({ serviceTier: 'standard_only' }).chat).not.toHaveProperty('service_tier');
});

test('a thinking budget leaves room for the answer, and is left out where none fits', () => {
  expect(sent({ thinkingBudget: 2_000 }).anthropic.thinking).toEqual({ type: 'enabled', budget_tokens: 2_000 });
  expect(sent({ thinkingBudget: 30_000 }).anthropic.thinking).toEqual({ type: 'enabled', budget_tokens: 7_168 });
  expect(sent({ thinkingBudget: 30_000 }, 2_000).anthropic.thinking).toBeUndefined();
  expect(sent({ reasoningEffort: 'none' }).anthropic.thinking).toEqual({ type: 'disabled' });
});

test('a summary is served and cached like the answers, but does not think or stop like them', () => {
  const options: RequestOptions = {
    reasoningEffort: 'max',
    stopSequences: ['#'],
    serviceTier: 'flex',
    cacheLifetime: '1h',
  };
  expect(summaryRequestOptions(options)).toEqual({ serviceTier: 'flex', cacheLifetime: '1h' });
});

/** Steps with thinking, parallel calls, images and a message in between. */
const STEPS: readonly (readonly ViewMessage[])[] = Array.from({ length: 12 }, (_, step) => [
  assistant(
    { type: 'thinking', text: `step ${step}`, provider: 'p', signature: step % 2 === 0 ? 'reasoning_content' : '{}' },
    `Now ${step}.`,
    call(`call_${step}_a`, 0),
    call(`call_${step}_b`, 1),
  ),
  results([`call_${step}_a`, `${'words '.repeat(100)}${step}`], [`call_${step}_b`, ...(step === 3 ? [PICTURE] : [])]),
  ...(step % 4 === 1 ? [user(`go on ${step}`)] : []),
]);

const MAKE: readonly (readonly [string, (request: ModelRequest) => unknown])[] = [
  ['anthropic', (request) => anthropicRequest(request, { provider: 'p', thinking: true })],
  [
    'chat of OpenAI',
    (request) =>
      chatRequest(request, { provider: 'p', dialect: chatDialect('https://api.openai.com/v1'), thinking: true }),
  ],
  [
    'chat of Mistral',
    (request) =>
      chatRequest(request, { provider: 'p', dialect: chatDialect('https://api.mistral.ai/v1'), thinking: true }),
  ],
  ['responses', (request) => responsesRequest(request, { provider: 'p', thinking: true })],
];

/** The mark that moves on with each request is no part of what is cached. */
function bytesOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value).replaceAll(/,?"cache_control":\{[^}]*\}/g, ''));
}

function commonPrefix(a: Buffer, b: Buffer): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

test.each(MAKE)('%s: at least 98 %% of a request are the beginning of the next one', (_, make) => {
  const options = { reasoningEffort: 'high', temperature: 1, cacheLifetime: '1h' } as const;
  const sent = STEPS.map((_step, index) => {
    const messages = [user('Read everything.', 'x '.repeat(2_000)), ...STEPS.slice(0, index + 1).flat()];
    // The maximum output shrinks as the view grows.
    return bytesOf(make(requestOf(viewOf(messages), { options, maximumOutput: 8_000 - index * 100 })));
  });
  for (const [index, next] of sent.entries()) {
    const previous = sent[index - 1];
    if (previous === undefined) continue;
    expect(commonPrefix(previous, next) / previous.length).toBeGreaterThanOrEqual(0.98);
  }
});
