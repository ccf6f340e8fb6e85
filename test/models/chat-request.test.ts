import { expect, test } from 'vitest';
import type { ContentPart } from '../../src/context/log/content.ts';
import type { ViewMessage } from '../../src/context/view/view.ts';
import { chatDialect } from '../../src/models/protocols/chat/dialect.ts';
import { chatRequest } from '../../src/models/protocols/chat/request.ts';
import { assistant, call, GROUP, PICTURE, requestOf, results, user, viewOf } from '../support/model-builders.ts';

const OPENAI = 'https://api.openai.com/v1';

function chat(messages: readonly ViewMessage[], baseUrl = OPENAI, provider = 'openai') {
  return chatRequest(requestOf(viewOf(messages)), { provider, dialect: chatDialect(baseUrl), thinking: true });
}

test('OpenRouter is told not to take the middle out of a prompt', () => {
  expect(chat(GROUP, 'https://openrouter.ai/api/v1')).toMatchObject({ transforms: [] });
  expect(chat(GROUP)).not.toHaveProperty('transforms');
});

test('every call is followed by its tool message', () => {
  const request = chat(GROUP);
  expect(request.messages).toEqual([
    { role: 'developer', content: 'You read files.' },
    { role: 'user', content: 'do it' },
    {
      role: 'assistant',
      content: 'reading',
      tool_calls: [
        { id: 'toolu_a', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
        { id: 'toolu_b', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'toolu_a', content: 'A' },
    { role: 'tool', tool_call_id: 'toolu_b', content: 'B' },
    { role: 'user', content: 'and now?' },
  ]);
  expect(request.prompt_cache_key).toBe('conversation-1');
  expect(request.max_completion_tokens).toBe(8_192);
});

test.each([
  ['o4-mini', OPENAI, 'developer'],
  ['gpt-6.1-sol', OPENAI, 'developer'],
  ['gpt-4o', OPENAI, 'system'],
  ['ft:gpt-4.1-mini:acme', OPENAI, 'system'],
  ['o4-mini', 'https://mine.openai.azure.com', 'system'],
  ['gpt-oss', 'http://localhost:8000/v1', 'system'],
])('the instructions of %s at %s are those of the %s', (model, baseUrl, role) => {
  const request = { ...requestOf(viewOf(GROUP)), model };
  const sent = chatRequest(request, { provider: 'p', dialect: chatDialect(baseUrl), thinking: true });
  expect(sent.messages.filter((message) => message.role === 'system' || message.role === 'developer')).toEqual([
    { role, content: 'You read files.' },
  ]);
});

test('a compatible server gets the fields that it knows', () => {
  const request = chat(GROUP, 'http://localhost:8000/v1');
  expect(request.max_tokens).toBe(8_192);
  expect(request).not.toHaveProperty('prompt_cache_key');
  expect(request).not.toHaveProperty('max_completion_tokens');
});

test('images of results follow in the user message after all of them', () => {
  const view = [
    user('look'),
    assistant(call('a', 0), call('b', 1)),
    results(['a', PICTURE], ['b', 'B']),
    user('well?'),
  ];
  const messages = chat(view).messages;
  expect(messages.map((message) => message.role)).toEqual(['developer', 'user', 'assistant', 'tool', 'tool', 'user']);
  expect(messages[5]?.content).toEqual([
    { type: 'text', text: 'From the result of read_file:' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
    { type: 'text', text: 'well?' },
  ]);
});

test('Mistral gets ids of nine characters, and no user message right after a tool message', () => {
  const { messages } = chat(GROUP, 'https://api.mistral.ai/v1', 'mistral');
  const ids = messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []));
  expect(ids).toHaveLength(2);
  for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(messages.map((message) => message.role).slice(-3)).toEqual(['tool', 'assistant', 'user']);
});

test('reasoning goes back in the field that it came in, proofs with their call', () => {
  const parts: ContentPart[] = [
    { type: 'thinking', text: 'hm', provider: 'deepseek', signature: 'reasoning_content' },
    { type: 'thinking', text: '', provider: 'deepseek', signature: 'reasoning_details', encrypted: '[{"a":1}]' },
    { type: 'thinking', text: '', provider: 'deepseek', signature: 'extra_content', encrypted: '{"google":1}' },
    call('a'),
  ];
  const messages = [user('x'), assistant(...parts), results(['a', 'A'])];
  expect(chat(messages, 'https://api.deepseek.com', 'deepseek').messages[2]).toMatchObject({
    reasoning_content: 'hm',
    reasoning_details: [{ a: 1 }],
    tool_calls: [{ id: 'a', extra_content: { google: 1 } }],
  });
  expect(JSON.stringify(chat(messages).messages)).not.toContain('reasoning');
});

test('a proof of another protocol under the same provider name is left out', () => {
  const parts: ContentPart[] = [
    { type: 'thinking', text: 'hm', provider: 'openai', signature: '{"id":"rs_1","summary":[]}' },
  ];
  expect(chat([user('x'), assistant(...parts, 'y')]).messages[2]).toEqual({ role: 'assistant', content: 'y' });
});

test('an answer with more calls than OpenAI takes of one message goes as several, each before its own results', () => {
  const ids = Array.from({ length: 300 }, (_, index) => `call_${index}`);
  const { messages } = chat([
    user('read them all'),
    assistant(...ids.map((id) => call(id))),
    results(...ids.map((id) => [id, `of ${id}`] as const)),
  ]);
  const groups: { calls: number; answered: boolean }[] = [];
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    const calls = (message.tool_calls ?? []).map(({ id }) => id);
    const place = messages.indexOf(message) + 1;
    const answers = messages.slice(place, place + calls.length);
    const answered = answers.every((each, at) => each.role === 'tool' && each.tool_call_id === calls[at]);
    groups.push({ calls: calls.length, answered });
  }
  expect(groups).toEqual([
    { calls: 128, answered: true },
    { calls: 128, answered: true },
    { calls: 44, answered: true },
  ]);
  expect(messages).toHaveLength(2 + 300 + 3);
});
