import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ENDPOINTS } from '../../src/client/api/endpoints.ts';
import { exactly, whole } from '../../src/client/arguments.ts';
import { argumentReader, checked } from '../../src/server/arguments.ts';

test('the refusal of a field of the body lists the fields of the body, without those of the path', async () => {
  const path = '/v1/conversations/{conversationId}/messages';
  const shape = { conversationId: z.string(), content: z.string(), mode: z.string().optional() };
  const read = argumentReader({ method: 'post', path, arguments: shape });
  const server = new Hono()
    .post('/v1/conversations/:conversationId/messages', async (context) => context.json(await read(context)))
    .onError((error, context) => context.text(error.message, 400));
  const send = async (body: object): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await server.request('/v1/conversations/7/messages', {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return answer.text();
  };
  expect(JSON.parse(await send({ content: 'Go on.' }))).toEqual({ conversationId: '7', content: 'Go on.' });
  expect(await send({ content: 'Go on.', text: 'x' })).toBe(
    'The request is refused: text is not accepted: there are content, mode.',
  );
});

test('the refusal of a field says so where the body takes none', async () => {
  const path = '/v1/conversations/{conversationId}/stop';
  const read = argumentReader({ method: 'post', path, arguments: { conversationId: z.string() } });
  const server = new Hono()
    .post('/v1/conversations/:conversationId/stop', async (context) => context.json(await read(context)))
    .onError((error, context) => context.text(error.message, 400));
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ text: 'x' });
  const answer = await server.request('/v1/conversations/7/stop', { method: 'POST', headers, body });
  expect(await answer.text()).toBe('The request is refused: text is not accepted: there are none.');
});

const REQUIRED = { conversationId: '7', content: 'Go on.' };

test.each([
  ['conversation.send', { content: 'Go on.' }, 'conversationId is missing: it must be a text.'],
  [
    'conversation.send',
    { conversationId: '7', content: [{}] },
    'content.0.type is missing: it must be text, image or file.',
  ],
  ['conversation.send', { ...REQUIRED, mode: 'later' }, 'mode is "later": it must be one of steer, queue.'],
  [
    'conversation.send',
    { ...REQUIRED, mode: `a\n${'b'.repeat(99)}` },
    `mode is "a\\n${'b'.repeat(58)}…": it must be one of steer, queue.`,
  ],
  ['conversation.send', { ...REQUIRED, output: 5 }, 'output must be the JSON Schema of an object.'],
  ['conversation.list', { limit: -1 }, 'limit is -1: it must be a whole number of 1 or more.'],
  [
    'conversation.resume',
    { conversationId: '7', raise: { steps: 'ten' } },
    'raise.steps is "ten": it must be a number.',
  ],
  ['conversation.resume', { conversationId: '7', raise: 10 }, 'raise must be limits, such as {"steps": 10}.'],
  ['webhooks.create', { url: 'hooks.example/secret' }, 'url must be an address that begins with http:// or https://.'],
] as const)('%s with %j is refused in words of the API', (name, given, message) => {
  const check = () => checked(exactly(ENDPOINTS[name].arguments), given);
  expect(check).toThrow(`The request is refused: ${message}`);
  expect(check).not.toThrow('secret');
});

test('the refusal of a number in the query shows what was written there', async () => {
  const read = argumentReader({ method: 'get', path: '/v1/conversations', arguments: { limit: whole(1) } });
  const server = new Hono()
    .get('/v1/conversations', async (context) => context.json(await read(context)))
    .onError((error, context) => context.text(error.message, 400));
  const answer = await server.request('/v1/conversations?limit=many');
  expect(await answer.text()).toBe('The request is refused: limit is "many": it must be a whole number of 1 or more.');
});
