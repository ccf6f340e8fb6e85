import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ToolCallPart } from '../../src/context/log/content.ts';
import type { ViewMessage } from '../../src/context/view/view.ts';
import { createModelClients } from '../../src/models/model-clients.ts';
import type { ModelAnswer } from '../../src/models/model-client.ts';
import { startSimulator, type Simulator } from '../../packages/simulator/src/index.ts';
import { failureOf, listening, requestOf, user, viewOf } from '../support/model-builders.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(async () => simulator.close());

const PROTOCOLS = ['anthropic', 'chat', 'responses'] as const;
type Protocol = (typeof PROTOCOLS)[number];

function clientOf(protocol: Protocol, limits: { readonly idleTimeoutMilliseconds?: number } = {}) {
  const baseUrl = protocol === 'anthropic' ? simulator.url : `${simulator.url}/v1`;
  const provider = { name: protocol, protocol, baseUrl, apiKey: 'any', ...limits };
  return createModelClients([provider])(protocol);
}

async function ask(protocol: Protocol, messages: readonly ViewMessage[], model = 'sim-200k') {
  return clientOf(protocol).answer(requestOf(viewOf(messages), { model, maximumOutput: 1_024 }), listening());
}

async function arm(fault: Record<string, unknown>): Promise<void> {
  const response = await fetch(`${simulator.url}/control/faults`, {
    method: 'POST',
    body: JSON.stringify(fault),
    headers: { 'content-type': 'application/json' },
  });
  expect(response.status).toBe(201);
}

/** An answer as it is seen again, with the results of its calls. */
function step(answer: ModelAnswer): ViewMessage[] {
  const calls = answer.content.filter((part): part is ToolCallPart => part.type === 'tool_call');
  return [
    { role: 'assistant', content: answer.content, callNumber: 1, turnId: 'turn' },
    {
      role: 'tool_results',
      results: calls.map((call) => ({
        id: call.id,
        name: call.name,
        isError: false,
        content: [{ type: 'text', text: `content of ${call.arguments}` }],
      })),
    },
  ];
}

const TASK = user(
  'Call read_file with {"path": "a"} and read_file with {"path": "b"}\nCall read_file with {"path": "c"}',
);

describe.each(PROTOCOLS)('%s', (protocol) => {
  test('a turn with parallel calls goes to its end, with text, usage and stop reasons', async () => {
    const first = await ask(protocol, [TASK]);
    expect(first.stopReason).toBe('tool_calls');
    expect(first.content.filter((part) => part.type === 'tool_call')).toMatchObject([
      { index: 0, name: 'read_file', arguments: expect.stringContaining('"a"') },
      { index: 1, name: 'read_file', arguments: expect.stringContaining('"b"') },
    ]);
    const second = await ask(protocol, [TASK, ...step(first)]);
    const last = await ask(protocol, [TASK, ...step(first), ...step(second)]);
    expect(last.stopReason).toBe('end');
    expect(last.content).toMatchObject([{ type: 'text', text: expect.stringContaining('3 tool results') }]);
    expect(last.usage?.input).toBeGreaterThan(second.usage?.input ?? Infinity);
  });

  test('the next step reads what the step before wrote from the cache', async () => {
    const long = user(
      `${'The file is long and holds many words. '.repeat(600)}\nfor ${protocol}\nCall read_file with {"path": "a"}`,
    );
    const first = await ask(protocol, [long]);
    const second = await ask(protocol, [long, ...step(first)]);
    expect(second.usage?.cacheRead).toBeGreaterThan((second.usage?.input ?? Infinity) * 0.9);
  });

  test('an input over the window is an overflow', async () => {
    const failure = await failureOf(ask(protocol, [user('word '.repeat(9_000))], 'sim-8k'));
    expect(failure.verdict).toMatchObject({ kind: 'overflow', repair: 'compact' });
    expect(failure.vendorMessage).not.toBe('');
    expect(failure.message).not.toContain('word word');
  });

  test.each([
    ['rate_limit', { retryAfterSeconds: 3 }, { kind: 'retryable', cause: 'rate_limit', delayMilliseconds: 3_000 }],
    ['server_error', { status: 529 }, { kind: 'retryable', cause: 'outage' }],
    ['server_error', { status: 503 }, { kind: 'retryable', cause: 'outage' }],
    ['connection_reset', {}, { kind: 'retryable', cause: 'connection' }],
    ['cut_stream', {}, { kind: 'retryable', cause: 'connection' }],
    ['stream_error', { status: 529 }, { kind: 'retryable', cause: 'outage' }],
    ['stream_error', { status: 429 }, { kind: 'retryable', cause: 'rate_limit' }],
  ])('fault %s %j is understood', async (kind, options, verdict) => {
    await arm({ kind, ...options, match: { protocol } });
    expect((await failureOf(ask(protocol, [user('Write 300 words')]))).verdict).toMatchObject(verdict);
  });

  test.each(['hang', 'stall_stream'])('fault %s ends as a lost connection', async (kind) => {
    await arm({ kind, match: { protocol } });
    const client = clientOf(protocol, { idleTimeoutMilliseconds: 500 });
    const call = client.answer(requestOf(viewOf([user('Write 300 words')]), { model: 'sim-200k' }), listening());
    expect((await failureOf(call)).verdict).toMatchObject({ kind: 'retryable', cause: 'connection' });
  });

  test.each([
    ['empty_answer', 'end'],
    ['refusal', 'refusal'],
    ['content_filter', 'content_filter'],
    ['cut_answer', 'maximum_output'],
  ])('fault %s is an answer with stop reason %s', async (kind, stopReason) => {
    await arm({ kind, match: { protocol } });
    const answer = await ask(protocol, [user('Write 40 words')]);
    // Anthropic knows refusals only.
    const expected = protocol === 'anthropic' && stopReason === 'content_filter' ? 'refusal' : stopReason;
    expect(answer.stopReason).toBe(expected);
  });

  test.each(['malformed_arguments', 'cut_arguments'])(
    'fault %s leaves the arguments as text, and the conversation goes on',
    async (kind) => {
      await arm({ kind, match: { protocol } });
      const answer = await ask(protocol, [user('Call read_file with {"path": "some/long/path/to/a/file"}')]);
      const call = answer.content.find((part) => part.type === 'tool_call');
      expect(() => JSON.parse(call?.type === 'tool_call' ? call.arguments : '{}') as unknown).toThrow(SyntaxError);
      const next = await ask(protocol, [user('Call read_file with {"path": "a"}'), ...step(answer)]);
      expect(next.stopReason).not.toBe('other');
    },
  );
});
