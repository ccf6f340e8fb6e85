import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createModelClients } from '../../src/models/model-clients.ts';
import { createProviderKey } from '../../src/models/catalogue/provider-key.ts';
import type { ProtocolName } from '../../src/models/provider.ts';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { failureOf, listening, requestOf, user, viewOf } from '../support/model-builders.ts';

let directory: string;
let file: string;
let server: HttpServer;
/** The key that the server takes. */
let accepted: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-key-'));
  file = join(directory, 'key');
  server = await startHttpServer(({ headers }, response) => {
    const shown = headers['x-api-key'] ?? headers.authorization?.replace('Bearer ', '');
    const status = shown === accepted ? 400 : 401;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: status === 400 ? 'the key is good' : 'the key is wrong' } }));
  });
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

function keyFrom(source: Parameters<typeof createProviderKey>[0]['source'], refreshMilliseconds = 60_000) {
  const seen: string[] = [];
  const key = createProviderKey({ provider: 'p', source, refreshMilliseconds, onKey: (one) => seen.push(one) });
  return { key, seen };
}

describe.each(['anthropic', 'chat', 'responses'] as const)('with %s', (protocol: ProtocolName) => {
  test('a key that was changed in its file is read when the old one is refused, and the call is made again once', async () => {
    await writeFile(file, 'first-key\n');
    accepted = 'first-key';
    const { key, seen } = keyFrom({ kind: 'file', path: file });
    const client = createModelClients([{ name: 'p', protocol, baseUrl: server.url, apiKey: null, key }])('p');
    const ask = async () => failureOf(client.answer(requestOf(viewOf([user('hi')])), listening()));
    expect((await ask()).vendorMessage).toContain('the key is good');
    await writeFile(file, 'second-key');
    accepted = 'second-key';
    const before = server.requests.length;
    expect((await ask()).vendorMessage).toContain('the key is good');
    expect(server.requests.length - before).toBe(2);
    accepted = 'third-key';
    expect((await ask()).vendorMessage).toContain('the key is wrong');
    expect(server.requests.length - before).toBe(3);
    expect(seen).toEqual(['first-key', 'second-key', 'second-key']);
  });
});

test('a command is run again when its key is too old, once for all who wait', async () => {
  const { key, seen } = keyFrom(
    { kind: 'command', command: `echo x >> ${file}.runs; echo "key-$(wc -l < ${file}.runs)"` },
    0,
  );
  const read = async (): Promise<string> => (await key.current()).replace(' ', '');
  expect(await Promise.all([read(), read()])).toEqual(['key-1', 'key-1']);
  expect(await read()).toBe('key-2');
  expect(seen).toHaveLength(2);
});

test('a key that was changed in its file is known before a tool may print it, whatever its age', async () => {
  await writeFile(file, 'old-key');
  const { key, seen } = keyFrom({ kind: 'file', path: file });
  expect(await key.current()).toBe('old-key');
  await writeFile(file, 'new-key');
  expect(await key.current()).toBe('old-key');
  expect(await key.newest()).toBe('new-key');
  expect(await key.current()).toBe('new-key');
  expect(seen).toEqual(['old-key', 'new-key']);
});

test('a key that cannot be read ends the call for good and shows nothing that was printed; one that is known goes on', async () => {
  const failing = keyFrom({ kind: 'command', command: 'echo half-a-key; echo loud >&2; exit 3' });
  const client = createModelClients([
    { name: 'p', protocol: 'chat', baseUrl: server.url, apiKey: null, key: failing.key },
  ])('p');
  const failure = await failureOf(client.answer(requestOf(viewOf([user('hi')])), listening()));
  expect(failure.verdict).toMatchObject({ kind: 'permanent', evidence: expect.stringContaining('(3)') });
  expect(JSON.stringify([failure.message, failure.vendorMessage, failure.verdict])).not.toMatch(/half-a-key|loud/);
  await writeFile(file, 'good-key');
  const { key } = keyFrom({ kind: 'file', path: file }, 0);
  expect(await key.current()).toBe('good-key');
  await writeFile(file, '\n');
  expect(await key.current()).toBe('good-key');
});
