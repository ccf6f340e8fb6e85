import { afterEach, expect, test } from 'vitest';
import { refreshModels } from '../../src/cli/models/refresh-models.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { modelFacts } from '../../src/models/catalogue/catalogue.ts';
import { readServedLimits } from '../../src/models/catalogue/served-limits.ts';
import { respond, startHttpServer, type HttpServer } from '../support/http-server.ts';

let server: HttpServer | undefined;
afterEach(async () => server?.close());

test.each([
  ['Anthropic', { max_input_tokens: 1_000_000, max_tokens: 128_000 }, { window: 1_000_000, maximumOutput: 128_000 }],
  ['vLLM', { max_model_len: 32_768 }, { window: 32_768 }],
  ['Groq', { context_window: 131_072, max_completion_tokens: 32_768 }, { window: 131_072, maximumOutput: 32_768 }],
  [
    'OpenRouter',
    { context_length: 200_000, top_provider: { context_length: 200_000, max_completion_tokens: 64_000 } },
    { window: 200_000, maximumOutput: 64_000 },
  ],
  ['llama.cpp', { meta: { n_ctx_train: 4_096 } }, { window: 4_096 }],
  ['the window given twice', { context_window: 8_192, max_tokens: 8_192 }, { window: 8_192 }],
  ['OpenAI, which lists no limits', { id: 'gpt-6', object: 'model' }, {}],
])('the list of %s is read', (_, listed, limits) => {
  expect(readServedLimits(listed)).toEqual(limits);
});

test('what a server lists counts more than the table and less than configuration', () => {
  const listed = { window: 50_000, maximumOutput: null, listedAt: '2026-11-22T00:00:00Z' };
  expect(modelFacts('mine/some', {}, listed)).toMatchObject({
    limits: { window: 50_000, maximumOutput: 8_192 },
    known: true,
    source: 'its server, 2026-11-22',
  });
  expect(modelFacts('mine/some', { 'mine/some': { window: 60_000 } }, listed).limits.window).toBe(60_000);
  const { limits, prices, source } = modelFacts('openai/gpt-5', {}, listed);
  expect(limits).toMatchObject({ window: 50_000, maximumInput: 50_000, maximumOutput: 50_000 });
  expect(prices.input).not.toBeNull();
  expect(source).toContain('over ');
});

test('servers are asked for their own models; one that gives no list is told, and the others still are', async () => {
  server = await startHttpServer((request, response) => {
    if (request.path === '/good/models/a')
      respond(response, 200, { id: 'a', context_window: 9_000, max_tokens: 1_000 });
    else respond(response, 404, { error: { message: 'no such route' } });
  });
  const providers = { GOOD: `${server.url}/good`, BAD: `${server.url}/bad` };
  const configuration = loadConfiguration({ directory: '/nonexistent', environment: {} });
  const named = Object.entries(providers).map(([name, baseUrl]) => ({
    name: name.toLowerCase(),
    protocol: 'chat' as const,
    baseUrl,
    apiKey: null,
  }));
  const stored: unknown[] = [];
  const remarks: string[] = [];
  await refreshModels(
    { models: { storeServed: async (served) => void stored.push(served) } },
    {
      configuration: { ...configuration, providers: named },
      names: ['bad/b', 'anthropic/c', 'good/a'],
      remark: (text) => remarks.push(text),
    },
  );
  expect(stored).toEqual([{ model: 'good/a', server: providers.GOOD, window: 9_000, maximumOutput: 1_000 }]);
  expect(remarks).toEqual([
    expect.stringContaining('bad/b: its server gave no list (no such route)'),
    expect.stringContaining('anthropic has no key'),
  ]);
});
