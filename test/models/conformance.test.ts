import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUILT_IN_PROVIDERS } from '../../src/config/built-in-providers.ts';
import { CAPABILITIES } from '../../src/models/conformance/capability.ts';
import type { Capability, ConformanceReport, ConformanceStatus } from '../../src/models/conformance/capability.ts';
import { checkServer } from '../../src/models/conformance/check-server.ts';
import type { ConformanceOptions } from '../../src/models/conformance/check-server.ts';
import { startSimulator, type Simulator } from '../../packages/simulator/src/index.ts';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';

let simulator: Simulator;
let chat: HttpServer;
/** What the server of a test answers with. */
let answerWith: (request: { readonly body: unknown; readonly text: string }) => ChatAnswer;

interface ChatAnswer {
  readonly status?: number;
  readonly json?: unknown;
  readonly chunks?: readonly unknown[];
}

beforeAll(async () => {
  simulator = await startSimulator();
  chat = await startHttpServer((request, response) => {
    if (!request.path.endsWith('/chat/completions')) {
      response.writeHead(404).end('{}');
      return;
    }
    const { status = 200, json, chunks = [] } = answerWith(request);
    if (json !== undefined) {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + 'data: [DONE]\n\n');
  });
});
afterAll(async () => {
  await simulator.close();
  await chat.close();
});

const provider = (name: 'anthropic' | 'chat' | 'responses', url: string): ConformanceOptions['provider'] => ({
  name: 'server',
  protocol: name,
  baseUrl: name === 'anthropic' ? url : `${url}/v1`,
  apiKey: 'any',
});

function statusOf(report: ConformanceReport, name: Capability): ConformanceStatus | undefined {
  return report.findings.find(({ capability }) => capability === name)?.status;
}

describe('against the simulator', () => {
  test.each(['anthropic', 'chat', 'responses'] as const)('everything that %s has works', async (protocol) => {
    const report = await checkServer({ provider: provider(protocol, simulator.url), model: 'sim-8k-thinking' });
    expect(report.findings.map(({ capability, status }) => [capability, status])).toEqual(
      CAPABILITIES.map((name) => [name, 'works']),
    );
    expect(report).toMatchObject({ fits: true, reachable: true });
    // OpenAI names no numbers in this protocol.
    const figures = protocol === 'responses' ? 'names no numbers' : 'counted \\d+, limit 8192';
    const overflow = report.findings.find(({ capability }) => capability === 'overflow_shape');
    expect(overflow?.detail).toMatch(new RegExp(`^HTTP 400, ${figures}$`));
  });

  test('a model without thinking misses it, and nothing else', async () => {
    const report = await checkServer({ provider: provider('responses', simulator.url), model: 'sim-8k' });
    expect(report.findings.flatMap(({ capability, status }) => (status === 'works' ? [] : [capability]))).toEqual([
      'thinking',
    ]);
    expect(report.fits).toBe(true);
  });

  test('a wrong key fails at once, with the words of the vendor, and nothing else is tried', async () => {
    const wrong = { ...provider('anthropic', simulator.url), apiKey: 'invalid-key' };
    const report = await checkServer({ provider: wrong, model: 'sim-8k' });
    expect(report.findings[0]).toMatchObject({ status: 'fails', detail: 'HTTP 401: invalid x-api-key' });
    expect(new Set(report.findings.slice(1).map(({ status }) => status))).toEqual(new Set(['not_checked']));
    expect(report).toMatchObject({ fits: false, reachable: true });
  });

  test('the request over a large window is sent only when it is asked for', async () => {
    const options = {
      provider: provider('anthropic', simulator.url),
      model: 'sim-1000k',
      only: ['overflow_shape'],
    } as const;
    const report = await checkServer(options);
    expect(report.findings.at(-1)).toMatchObject({
      status: 'not_checked',
      detail: expect.stringContaining('--window'),
    });
  });
});

describe('in front of the simulator, as strict as the servers that people use', () => {
  const KNOWN = new Set(
    'model stream stream_options messages tools tool_choice max_tokens temperature stop'.split(' '),
  );
  const Body = z.looseObject({
    messages: z.array(z.looseObject({ role: z.string(), tool_call_id: z.string().optional() })),
    transforms: z.unknown().optional(),
  });

  /** What a server refuses of a request, as its vendor documents it. */
  function refusal(server: string, text: string): string | undefined {
    const { messages, transforms, ...body } = Body.parse(JSON.parse(text));
    const unknown = Object.keys(body).find((field) => !KNOWN.has(field));
    if (unknown !== undefined) return `unknown field ${unknown}`;
    if (messages.some(({ role }) => role === 'developer')) return 'unknown role developer';
    if (server === 'openrouter' && JSON.stringify(transforms) !== '[]') return 'middle-out is on';
    if (server !== 'openrouter' && transforms !== undefined) return 'unknown field transforms';
    if (server === 'google' && text.includes('"$schema"')) return 'unknown name "$schema"';
    if (server !== 'mistral') return undefined;
    if (messages.some(({ tool_call_id: id }) => id !== undefined && !/^[a-zA-Z0-9]{9}$/.test(id)))
      return 'tool call id';
    const after = messages.find((_, at) => messages[at - 1]?.role === 'tool' && messages[at]?.role === 'user');
    return after === undefined ? undefined : 'unexpected role user after role tool';
  }

  const servers = Object.entries(BUILT_IN_PROVIDERS).filter(
    ([, { protocol, path }]) => protocol === 'chat' && path === '',
  );
  test.each(servers)('the built-in entry %s has all that works', async (server) => {
    const strict = await startHttpServer((request, response) => {
      const refused = request.text === '' ? undefined : refusal(server, request.text);
      if (refused !== undefined) {
        response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify({ message: refused }));
        return;
      }
      void fetch(`${simulator.url}${request.path}`, {
        headers: { 'content-type': 'application/json', authorization: 'Bearer key' },
        ...(request.text === '' ? {} : { method: 'POST', body: request.text }),
      }).then(async (answer) => {
        response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
        for await (const piece of answer.body ?? []) response.write(piece);
        response.end();
      });
    });
    const options = { provider: { ...provider('chat', strict.url), name: server }, model: 'sim-8k-thinking' };
    const report = await checkServer(options);
    await strict.close();
    expect(report.findings.flatMap(({ capability, status }) => (status === 'works' ? [] : [capability]))).toEqual([]);
  });
});

describe('against servers that lack something', () => {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'x',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const usage = (prompt: number) => ({
    id: 'x',
    object: 'chat.completion.chunk',
    choices: [],
    usage: { prompt_tokens: prompt, completion_tokens: 2, total_tokens: prompt + 2 },
  });
  const check = async (only: readonly Capability[], more: Partial<ConformanceOptions> = {}) =>
    checkServer({ provider: provider('chat', chat.url), model: 'some', only, cacheTokens: 16, ...more });

  test('no usage and calls that are made of text fail; one piece and one call an answer are limits', async () => {
    answerWith = ({ text }) => ({
      chunks: [
        text.includes('Oslo')
          ? chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }] })
          : chunk({ content: '<tool_call>{"city": "Paris"}</tool_call>' }),
        chunk({}, 'stop'),
      ],
    });
    const report = await check(['usage', 'tool_calls', 'parallel_calls', 'cut_answer', 'images']);
    expect(report.fits).toBe(false);
    expect(Object.fromEntries(report.findings.map(({ capability, status }) => [capability, status]))).toEqual({
      streaming: 'limited',
      usage: 'fails',
      cut_answer: 'limited',
      tool_calls: 'fails',
      parallel_calls: 'limited',
      images: 'missing',
    });
  });

  test('an input that is cut without an error is noticed, and a refusal in unknown words fails', async () => {
    answerWith = () => ({ chunks: [chunk({ content: 'yes' }), chunk({ content: '.' }, 'stop'), usage(2_000)] });
    const silent = await check(['overflow_shape', 'cache_usage'], { window: 8_000 });
    expect(statusOf(silent, 'overflow_shape')).toBe('limited');
    expect(statusOf(silent, 'cache_usage')).toBe('limited');
    let calls = 0;
    answerWith = () => {
      calls += 1;
      return calls === 1
        ? { chunks: [chunk({ content: 'yes' }, 'stop'), usage(9)] }
        : { status: 400, json: { error: { message: 'The moon is full.' } } };
    };
    const unknown = await check(['overflow_shape'], { window: 8_000 });
    expect(unknown.findings.at(-1)).toMatchObject({
      status: 'fails',
      detail: expect.stringContaining('HTTP 400: The moon is full.'),
    });
  });

  test('a limit on the rate says nothing about a capability', async () => {
    let calls = 0;
    answerWith = () => {
      calls += 1;
      return calls === 1
        ? { chunks: [chunk({ content: 'yes' }, 'stop'), usage(9)] }
        : { status: 429, json: { error: { message: 'Rate limit reached.' } } };
    };
    const report = await check(['tool_calls', 'overflow_shape'], { window: 8_000 });
    expect(report.findings.slice(1).map(({ status }) => status)).toEqual(['not_checked', 'not_checked']);
    expect(report.fits).toBe(true);
  });
});
