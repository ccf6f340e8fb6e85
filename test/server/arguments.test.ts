import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { argumentReader } from '../../src/server/arguments.ts';

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
