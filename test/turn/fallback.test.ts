import { expect, test } from 'vitest';
import { defineAgent } from '../../src/config/define-agent.ts';
import { knownOptions } from '../../src/config/check/check-request-options.ts';
import { nextFallback, withModelInForce } from '../../src/turn/agent-snapshot.ts';
import type { AgentSnapshot } from '../../src/turn/agent-snapshot.ts';

const { policy } = defineAgent({ name: 'a', model: 'x/first' });

function model(name: string, window: number) {
  const modelLimits = { window, maximumOutput: 1_000 };
  const prices = { input: window, output: null, cacheRead: null, cacheWrite: null };
  return { model: name, modelLimits, prices, policy, summarizer: { model: name, limits: modelLimits, prices } };
}

const SNAPSHOT: AgentSnapshot = {
  agent: 'a',
  instructions: 'Work.',
  rules: [],
  tools: [],
  ...model('x/first', 3_000),
  request: { temperature: 1 },
  fallbacks: [model('y/second', 2_000), { ...model('z/third', 1_000), request: { reasoningEffort: 'low' } }],
  limits: { steps: 5 },
  workspace: '/',
  allowCommands: false,
};

test('R26 models take over in their order, each with its own window, prices, summarizer and wishes', () => {
  const order = [0, 1, 2].map((givenUp) => {
    const { model: name, modelLimits, prices, summarizer, request } = withModelInForce(SNAPSHOT, givenUp);
    return [name, modelLimits.window, prices.input, summarizer.model, request];
  });
  expect(order).toEqual([
    ['x/first', 3_000, 3_000, 'x/first', { temperature: 1 }],
    ['y/second', 2_000, 2_000, 'y/second', undefined],
    ['z/third', 1_000, 1_000, 'z/third', { reasoningEffort: 'low' }],
  ]);
  expect([0, 1, 2].map((givenUp) => nextFallback(SNAPSHOT, givenUp)?.model)).toEqual([
    'y/second',
    'z/third',
    undefined,
  ]);
});

test('of what an agent asks of its vendor, a fallback keeps what its protocol knows', () => {
  const request = { thinkingBudget: 2_000, temperature: 0.5, stopSequences: ['END'], serviceTier: 'auto' } as const;
  expect(knownOptions({ ...request, citations: true }, 'responses')).toEqual({ serviceTier: 'auto' });
  expect(knownOptions({ temperature: 0.5, stopSequences: ['END'], citations: true }, 'chat')).toEqual({
    temperature: 0.5,
    stopSequences: ['END'],
  });
});
