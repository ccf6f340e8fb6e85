import { afterEach } from 'vitest';
import { createModelClient } from '../../src/models/model-clients.ts';
import { startHttpServer, type HttpServer } from './http-server.ts';

/** Events of Anthropic's Messages API. */
export const START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    usage: { input_tokens: 10, cache_read_input_tokens: 200, cache_creation_input_tokens: 30, output_tokens: 1 },
  },
};

export function finish(stopReason: string, outputTokens = 7) {
  return [
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: outputTokens },
    },
    { type: 'message_stop' },
  ];
}

export const HELLO = [
  START,
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
  { type: 'content_block_stop', index: 0 },
  ...finish('end_turn'),
];

/** For all tests of a file: the server of the running one. */
export function useAnthropicServer() {
  const running: { server?: HttpServer } = {};
  afterEach(async () => running.server?.close());
  /** A client of a server that answers as told. */
  const clientOf = async (
    answer: Parameters<typeof startHttpServer>[0],
    limits: { idleTimeoutMilliseconds?: number } = {},
  ) => {
    const server = await startHttpServer(answer);
    running.server = server;
    const provider = { name: 'anthropic', protocol: 'anthropic', baseUrl: `${server.url}/v1/`, apiKey: 'key' } as const;
    return createModelClient({ ...provider, ...limits });
  };
  return { running, clientOf };
}
