import { expect, test } from 'vitest';
import type { ContentPart } from '../../src/context/log/content.ts';
import type { ViewMessage } from '../../src/context/view/view.ts';
import { property } from '../../src/models/protocols/json.ts';
import { responsesRequest } from '../../src/models/protocols/responses/request.ts';
import { assistant, call, GROUP, PICTURE, requestOf, results, user, viewOf } from '../support/model-builders.ts';

function responses(messages: readonly ViewMessage[]) {
  return responsesRequest(requestOf(viewOf(messages)), { provider: 'openai', thinking: true });
}

test('calls and outputs are items; nothing is stored, nothing dropped silently', () => {
  const request = responses(GROUP);
  expect(request.input).toEqual([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'do it' }] },
    { type: 'message', role: 'assistant', content: 'reading' },
    { type: 'function_call', call_id: 'toolu_a', name: 'read_file', arguments: '{"path":"a"}' },
    { type: 'function_call', call_id: 'toolu_b', name: 'read_file', arguments: '{"path":"a"}' },
    { type: 'function_call_output', call_id: 'toolu_a', output: 'A' },
    { type: 'function_call_output', call_id: 'toolu_b', output: 'B' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'and now?' }] },
  ]);
  expect(request).toMatchObject({
    store: false,
    truncation: 'disabled',
    instructions: 'You read files.',
    prompt_cache_key: 'conversation-1',
    tools: [{ type: 'function', strict: true }],
  });
});

test('reasoning goes back with its id and encrypted form; without either it is left out', () => {
  const parts: ContentPart[] = [
    {
      type: 'thinking',
      text: 'one',
      provider: 'openai',
      signature: '{"id":"rs_1","summary":["one"]}',
      encrypted: 'enc',
    },
    { type: 'thinking', text: 'lost', provider: 'openai', signature: '{"id":"rs_2","summary":["lost"]}' },
    { type: 'thinking', text: '', provider: 'openai', signature: '{"phase":"final_answer"}' },
    { type: 'thinking', text: 'odd', provider: 'openai', signature: 'no json' },
  ];
  expect(responses([user('x'), assistant(...parts, 'y'), user('z')]).input).toMatchObject([
    {},
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'one' }], encrypted_content: 'enc' },
    { type: 'message', role: 'assistant', content: 'y', phase: 'final_answer' },
    {},
  ]);
});

test('a model without reasoning is not asked for its encrypted form', () => {
  const request = responsesRequest(requestOf(viewOf([user('x')]), { model: 'gpt-4.1', maximumOutput: 1 }), {
    provider: 'openai',
    thinking: true,
  });
  expect(request).not.toHaveProperty('include');
  expect(request.max_output_tokens).toBe(16);
});

test('images of results are sent in the output', () => {
  const { input } = responses([user('look'), assistant(call('a')), results(['a', 'see', PICTURE])]);
  expect(property(input, 2, 'output')).toEqual([
    { type: 'input_text', text: 'see' },
    { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,aGk=' },
  ]);
});
