import { expect, test } from 'vitest';
import { createModelClient } from '../../src/models/model-clients.ts';
import { createTransport } from '../../src/models/protocols/transport.ts';
import { beginStream, startHttpServer, stream } from '../support/http-server.ts';
import { failureOf, listening, requestOf, user, viewOf } from '../support/model-builders.ts';
import { START, HELLO, useAnthropicServer } from '../support/anthropic-server.ts';

const { running, clientOf } = useAnthropicServer();

const REQUEST = requestOf(viewOf([user('hi')]));

test('a large request arrives whole and with its length', async () => {
  const client = await clientOf((_, response) => stream(response, HELLO));
  const text = 'größe 😀 '.repeat(150_000);
  await client.answer(requestOf(viewOf([user(text)])), listening());
  const [request] = running.server?.requests ?? [];
  expect(request?.headers['content-length']).toBe(String(Buffer.byteLength(request?.text ?? '')));
  expect(request?.text).toContain(text);
});

test('aborting while it streams rejects at once with AbortError and closes the socket', async () => {
  const client = await clientOf((_, response) => beginStream(response, HELLO.slice(0, 4)));
  const abort = new AbortController();
  const options = { signal: abort.signal, onDelta: () => abort.abort() };
  await expect(client.answer(REQUEST, options)).rejects.toMatchObject({ name: 'AbortError' });
  await running.server?.disconnected(0);
});

test('aborting between two reads of a body that came whole rejects at once', async () => {
  let finishAnswer = (): void => undefined;
  running.server = await startHttpServer((_, response) => {
    response.flushHeaders();
    finishAnswer = () => response.end('whole');
  });
  const transport = createTransport({ idleMilliseconds: 60_000, totalMilliseconds: 60_000 });
  const abort = new AbortController();
  const { body } = await transport(running.server.url, { signal: abort.signal });
  const reader = body?.getReader();
  const first = reader?.read();
  finishAnswer();
  expect(Buffer.from((await first)?.value ?? []).toString()).toBe('whole');
  abort.abort();
  await expect(reader?.read()).rejects.toMatchObject({ name: 'AbortError' });
});

test('aborting before the first byte rejects with AbortError and closes the socket', async () => {
  const abort = new AbortController();
  const client = await clientOf(() => abort.abort());
  await expect(client.answer(REQUEST, listening(abort.signal))).rejects.toMatchObject({ name: 'AbortError' });
  await running.server?.disconnected(0);
});

test('a signal that is aborted already sends nothing', async () => {
  const client = await clientOf((_, response) => stream(response, HELLO));
  await expect(client.answer(REQUEST, listening(AbortSignal.abort()))).rejects.toMatchObject({ name: 'AbortError' });
  expect(running.server?.requests).toHaveLength(0);
});

test.each([
  ['before the first byte', []],
  ['in the middle of the answer', HELLO.slice(0, 3)],
])('silence %s ends the call as a lost connection and closes the socket', async (_, events) => {
  const client = await clientOf(
    (_request, response) => {
      if (events.length > 0) beginStream(response, events);
    },
    { idleTimeoutMilliseconds: 100 },
  );
  const failure = await failureOf(client.answer(REQUEST, listening()));
  expect(failure.verdict).toEqual({
    kind: 'retryable',
    cause: 'connection',
    repair: 'wait',
    evidence: 'the server sent no byte for 100 ms',
  });
  await running.server?.disconnected(0);
});

test('an answer over the total time limit ends although bytes keep coming', async () => {
  running.server = await startHttpServer((_, response) => {
    beginStream(response, HELLO.slice(0, 2));
    const pings = setInterval(() => response.write('event: ping\ndata: {"type":"ping"}\n\n'), 20);
    response.on('close', () => clearInterval(pings));
  });
  const client = createModelClient({
    name: 'anthropic',
    protocol: 'anthropic',
    baseUrl: running.server.url,
    apiKey: 'key',
    totalTimeoutMilliseconds: 200,
  });
  const failure = await failureOf(client.answer(REQUEST, listening()));
  expect(failure.verdict).toMatchObject({ kind: 'retryable', evidence: 'the answer took longer than 200 ms' });
  await running.server.disconnected(0);
});

test.each([
  ['ends without a stop reason', (response: Parameters<typeof stream>[0]) => stream(response, HELLO.slice(0, 4))],
  [
    'is cut with the connection',
    (response: Parameters<typeof stream>[0]) => {
      beginStream(response, HELLO.slice(0, 4));
      response.socket?.resetAndDestroy();
    },
  ],
  [
    'holds a damaged event',
    (response: Parameters<typeof stream>[0]) => {
      beginStream(response, [START]);
      response.end('event: content_block_delta\ndata: {"type":"content_block_delta","secret words\n\n');
    },
  ],
])('a stream that %s is retryable and quotes nothing', async (_, answer) => {
  const client = await clientOf((_request, response) => answer(response));
  const failure = await failureOf(client.answer(REQUEST, listening()));
  expect(failure.verdict).toMatchObject({ kind: 'retryable', cause: 'connection' });
  expect(failure.message).not.toContain('secret');
});

test('a refused connection is retryable', async () => {
  const client = await clientOf(() => {});
  await running.server?.close();
  const failure = await failureOf(client.answer(REQUEST, listening()));
  expect(failure.verdict).toMatchObject({
    kind: 'retryable',
    cause: 'connection',
    evidence: 'connection error ECONNREFUSED',
  });
});

test('an error body without end is read only as far as it may explain something', async () => {
  const client = await clientOf((_, response) => {
    response.writeHead(400, { 'content-type': 'text/plain' });
    response.write('the prompt is too long for the context window. ');
    const page = 'x'.repeat(65_536);
    const more = () => {
      while (response.write(page));
    };
    response.on('drain', more);
    more();
  });
  expect((await failureOf(client.answer(REQUEST, listening()))).verdict.kind).toBe('overflow');
  await running.server?.disconnected(0);
});
