import { createServer } from 'node:http';

import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { pipeline, Readable } from 'node:stream';
import { McpServer as SdkServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { callFailure, openMcpConnection } from '../../src/tools/mcp/connection.ts';
import { listMcpTools } from '../../src/tools/mcp/mcp-tools.ts';
import { call } from './support/tool-context.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Serves on a free port until the test is over. */
async function serve(answer: Answer): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/mcp`, close };
}

/** A session per server, as the official SDK keeps it. */
async function adder(): Promise<Answer> {
  const sdk = new SdkServer({ name: 'adder', version: '1' });
  sdk.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, async ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }));
  sdk.registerTool('flood', {}, async () => ({ content: [{ type: 'text', text: 'x'.repeat(20_000_000) }] }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() });
  await sdk.connect(transport);
  return (request, response) => void transport.handleRequest(request, response);
}

async function open(url: string, more: { readonly privateAddress?: boolean } = {}) {
  const { mcpServers, secrets } = loadConfiguration({
    directory: '/',
    environment: { MCP_KEY: 'secret-of-the-server' },
    mcpServers: {
      http: { url, headers: { 'x-team': 'blue' }, apiKeyVariable: 'MCP_KEY', ...more },
    },
  });
  const [server] = mcpServers;
  if (server === undefined) throw new Error('no server');
  const connection = openMcpConnection(server);
  onTestFinished(async () => connection.close());
  return { secrets, tools: await listMcpTools(server, connection) };
}

test('an MCP server at an address gets its headers and key, and the key is masked', async () => {
  const seen: unknown[] = [];
  const answer = await adder();
  const { url } = await serve((request, response) => {
    seen.push([request.headers['x-team'], request.headers.authorization]);
    answer(request, response);
  });
  const { tools, secrets } = await open(url);
  const [add] = tools;
  if (add === undefined) throw new Error('no tool');
  expect((await call(add, { input: { a: 20, b: 22 } })).text).toBe('42');
  expect((await call(add, { input: { a: 'many' } })).text).toContain('Input validation error');
  expect(new Set(seen.map(String))).toEqual(new Set(['blue,Bearer secret-of-the-server']));
  expect(secrets).toContain('secret-of-the-server');
});

// 404 by the protocol; 400 by several widespread servers (python-sdk#1004).
test.each([404, 400])(
  'a server that forgot the session and says %i is greeted anew, and the call runs',
  async (status) => {
    let answer = await adder();
    const { url } = await serve((request, response) => answer(request, response));
    const [add] = (await open(url)).tools;
    if (add === undefined) throw new Error('no tool');
    answer = await adder();
    const forgets = answer;
    let isFirst = true;
    answer = (request, response) => {
      if (!isFirst) return forgets(request, response);
      isFirst = false;
      response.writeHead(status).end('no such session');
    };
    expect((await call(add, { input: { a: 1, b: 2 } })).text).toBe('3');
  },
);

test('a result of 20 MB cannot be read, a server that is gone was not reached', async () => {
  const { url, close } = await serve(await adder());
  const [add, flood] = (await open(url)).tools;
  if (add === undefined || flood === undefined) throw new Error('no tool');
  const flooded = await call(flood, {});
  expect(flooded.isError).toBe(true);
  expect(flooded.text).toContain('more than 10 MiB');
  await close();
  const gone = await call(add, { input: { a: 1, b: 2 } });
  expect(gone.text).toContain('could not be reached, so the call did not run');
});

test('an error that does not end is read no further than 10 MiB', async () => {
  let answer = await adder();
  const { url } = await serve((request, response) => answer(request, response));
  const [add] = (await open(url)).tools;
  if (add === undefined) throw new Error('no tool');
  let megabytes = 0;
  const left = new Promise((resolve) => {
    answer = (_, response) => {
      const pieces = Readable.from(
        (function* () {
          for (; megabytes < 200; megabytes += 1) yield Buffer.alloc(1_000_000, 'x');
        })(),
      );
      pipeline(pieces, response.writeHead(500), resolve);
    };
  });
  expect((await call(add, { input: { a: 1, b: 2 } })).isError).toBe(true);
  await left;
  expect(megabytes).toBeLessThan(50);
});

test.each([
  ['mcp_unavailable', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' }],
  ['mcp_unavailable', { code: 'EHOSTUNREACH', syscall: 'connect' }],
  ['mcp_unavailable', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }],
  // The network went while the server worked.
  ['outcome_unknown', { code: 'EHOSTUNREACH', syscall: 'read' }],
  ['outcome_unknown', { code: 'ECONNRESET', syscall: 'read' }],
])('a call fails as %s after %j', (code, error) => {
  const { signal } = new AbortController();
  const attempts = new AggregateError([Object.assign(new Error('no'), error)]);
  expect(callFailure('far', Object.assign(new Error('no'), error), signal).code).toBe(code);
  // Of a name with several addresses.
  expect(callFailure('far', Object.assign(attempts, { code: error.code }), signal).code).toBe(code);
});

test('a server that does not start is tried later and later', async () => {
  const times: number[] = [];
  const { url } = await serve((_, response) => {
    times.push(performance.now());
    response.writeHead(500).end();
  });
  const connection = openMcpConnection({
    name: 'ill',
    address: { url, mayBePrivate: true, headers: {}, key: null },
    effects: new Map(),
    timeoutMilliseconds: 1_000,
  });
  onTestFinished(async () => connection.close());
  const signal = AbortSignal.timeout(90_000);
  for (let tries = 0; tries < 3; tries += 1) {
    const asked = connection.request({ method: 'tools/list' }, z.object({}), { signal });
    await expect(asked).rejects.toMatchObject({ code: 'mcp_unavailable' });
  }
  const [first = 0, second = 0, third = 0] = times;
  expect(second - first).toBeGreaterThanOrEqual(200);
  expect(third - second).toBeGreaterThanOrEqual(400);
});

test('a name that leads to a private address is refused unless it may, and what is named by its address is called', async () => {
  expect((await open((await serve(await adder())).url)).tools).toHaveLength(2);
  const { url } = await serve(await adder());
  // This machine's own name.
  const named = url.replace('127.0.0.1', hostname());
  await expect(open(named)).rejects.toMatchObject({
    code: 'mcp_unavailable',
    message: expect.stringContaining('its name leads to a private address, which `privateAddress: true` allows'),
  });
  expect((await open(named, { privateAddress: true })).tools).toHaveLength(2);
});

test('a redirect to another server is an error, and gets no key', async () => {
  const seen: unknown[] = [];
  const other = await serve((request, response) => {
    seen.push(request.url);
    response.writeHead(500).end();
  });
  const { url } = await serve((_, response) => response.writeHead(307, { location: other.url }).end());
  await expect(open(url)).rejects.toMatchObject({ code: 'mcp_unavailable' });
  expect(seen).toEqual([]);
});
