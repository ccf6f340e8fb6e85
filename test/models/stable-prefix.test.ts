import { expect, test } from 'vitest';
import type { ViewMessage } from '../../src/context/view/view.ts';
import { anthropicRequest } from '../../src/models/protocols/anthropic/request.ts';
import { chatDialect } from '../../src/models/protocols/chat/dialect.ts';
import { chatRequest } from '../../src/models/protocols/chat/request.ts';
import type { ModelRequest } from '../../src/models/model-client.ts';
import { responsesRequest } from '../../src/models/protocols/responses/request.ts';
import { assistant, call, PICTURE, requestOf, results, user, viewOf } from '../support/model-builders.ts';

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
