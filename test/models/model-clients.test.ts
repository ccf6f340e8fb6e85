import { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { toModelCallError } from '../../src/models/call-failure.ts';
import { vendorMessageOf } from '../../src/models/errors/signals.ts';
import { createModelClients } from '../../src/models/model-clients.ts';
import { respond, startHttpServer, stream, type HttpServer } from '../support/http-server.ts';
import { failureOf, listening, requestOf, user, viewOf } from '../support/model-builders.ts';

let server: HttpServer | undefined;
afterEach(async () => server?.close());

describe('clients by provider name', () => {
  test('a provider speaks its protocol, and all its calls share one client', async () => {
    server = await startHttpServer((_, response) => stream(response, []));
    const clients = createModelClients([
      { name: 'a', protocol: 'anthropic', baseUrl: server.url, apiKey: null },
      { name: 'b', protocol: 'chat', baseUrl: server.url, apiKey: null },
      { name: 'c', protocol: 'responses', baseUrl: server.url, apiKey: null },
    ]);
    for (const name of ['a', 'b', 'c']) {
      await clients(name)
        .answer(requestOf(viewOf([user('hi')])), listening())
        .catch(() => undefined);
    }
    expect(server.requests.map((request) => request.path)).toEqual(['/v1/messages', '/chat/completions', '/responses']);
    expect(clients('a')).toBe(clients('a'));
  });

  test('on Azure the deployment stands in the path, the version in the query, the key in a header of its own', async () => {
    server = await startHttpServer((_, response) => respond(response, 400, { message: 'Input is too long' }));
    const hosting = { cloud: 'azure', apiVersion: '2026-10-01' } as const;
    const clients = createModelClients([
      { name: 'chat', protocol: 'chat', baseUrl: `${server.url}/`, apiKey: 'key', hosting },
      { name: 'responses', protocol: 'responses', baseUrl: `${server.url}/openai`, apiKey: 'key', hosting },
    ]);
    for (const name of ['chat', 'responses']) {
      const failure = await failureOf(clients(name).answer(requestOf(viewOf([user('hi')])), listening()));
      // A body without `error` survives this SDK too.
      expect(failure.verdict).toMatchObject({ kind: 'overflow' });
    }
    expect(server.requests.map(({ path, headers }) => [path, headers['api-key'], headers.authorization])).toEqual([
      ['/openai/deployments/some-model/chat/completions?api-version=2026-10-01', 'key', undefined],
      ['/openai/responses?api-version=2026-10-01', 'key', undefined],
    ]);
  });

  test.each([
    ['bedrock', { cloud: 'bedrock', region: 'us-east-1' }],
    ['vertex', { cloud: 'vertex', region: 'us-east5', project: 'mine' }],
  ] as const)('without the package for %s the user is told to install it', async (name, hosting) => {
    const clients = createModelClients([{ name, protocol: 'anthropic', baseUrl: '', apiKey: null, hosting }]);
    const failure = await failureOf(clients(name).answer(requestOf(viewOf([user('hi')])), listening()));
    expect(failure.verdict).toMatchObject({ kind: 'permanent', repair: 'stop' });
    expect(failure.vendorMessage).toContain(`npm install @anthropic-ai/${name}-sdk`);
  });

  test('a cloud without credentials says so in the words of its SDK, and a page of a proxy is shown without its markup', () => {
    const lost = Object.assign(new Error('Could not load credentials from any providers'), {
      name: 'CredentialsProviderError',
    });
    const failure = toModelCallError(lost, 'bedrock');
    expect(failure.verdict).toEqual({
      kind: 'permanent',
      cause: 'authentication',
      repair: 'stop',
      evidence: 'no usable credentials of the cloud',
    });
    expect(failure.vendorMessage).toContain('Could not load credentials from any providers');
    const page =
      '<!DOCTYPE html><html><head><style>p {}</style></head><body><h1>501</h1><p>Not&nbsp;here</p></body></html>';
    expect(vendorMessageOf(page)).toBe('501 Not here');
    expect(vendorMessageOf({ message: 'use <b> in it' })).toBe('use <b> in it');
  });

  test('errors in a stream of Bedrock, whose SDK tells some of them as lost connections, are read as what they are', () => {
    const headers = new Headers();
    const throttled = toModelCallError(
      APIError.generate(undefined, undefined, 'ThrottlingException', headers),
      'bedrock',
    );
    expect(throttled.verdict).toMatchObject({ kind: 'retryable', cause: 'rate_limit' });
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const failed = toModelCallError(new APIError(undefined, overloaded, undefined, headers), 'bedrock');
    expect(failed).toMatchObject({ verdict: { cause: 'outage' }, vendorMessage: 'Overloaded' });
    const lost = toModelCallError(
      new APIConnectionError({ message: undefined, cause: new TypeError('terminated') }),
      'bedrock',
    );
    expect(lost.verdict).toMatchObject({ kind: 'retryable', cause: 'connection' });
  });

  test('an unknown provider is named with those that exist', () => {
    const clients = createModelClients([
      { name: 'local', protocol: 'chat', baseUrl: 'http://localhost', apiKey: null },
    ]);
    expect(() => clients('openai')).toThrow('No provider is named "openai". Configured providers: local.');
  });

  test('keys and addresses in the environment are left alone', async () => {
    server = await startHttpServer((_, response) => stream(response, []));
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const name of ['OPENAI_API_KEY', 'OPENAI_ORG_ID', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'])
      vi.stubEnv(name, 'leaked');
    for (const name of ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL']) vi.stubEnv(name, 'http://127.0.0.1:1');
    const clients = createModelClients([
      { name: 'a', protocol: 'anthropic', baseUrl: server.url, apiKey: null },
      { name: 'b', protocol: 'responses', baseUrl: server.url, apiKey: null },
    ]);
    for (const name of ['a', 'b']) {
      await clients(name)
        .answer(requestOf(viewOf([user('hi')])), listening())
        .catch(() => undefined);
    }
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests.map((request) => request.headers))).not.toContain('leaked');
  });
});
