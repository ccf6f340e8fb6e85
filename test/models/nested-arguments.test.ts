import { expect, test } from 'vitest';
import { createModelClient } from '../../src/models/model-clients.ts';
import { startHttpServer } from '../support/http-server.ts';
import { listening, requestOf, user, viewOf } from '../support/model-builders.ts';
import { nestedJson } from '../support/nested.ts';

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
