import { expect, test } from 'vitest';
import { requireFallbacks } from '../../src/config/check/check-fallbacks.ts';
import { selectAgent } from '../../src/config/configuration.ts';
import { load, problemsOf } from './support/written-configuration.ts';

test.each<[string, string, readonly string[]]>([
  [
    'a fallback of an unknown provider, before itself, named twice, or of a window that nobody knows',
    'agents:\n  a:\n    model: openai/gpt-6\n    fallbacks: [opnai/gpt-6, openai/gpt-6, simulator/sim-8k, simulator/sim-8k, anthropic/claude-opus-99]\n',
    [
      expect.stringContaining(
        '4:17 agents.a.fallbacks[0] is "opnai/gpt-6": there is no provider opnai; did you mean openai?',
      ),
      '4:30 agents.a.fallbacks[1] is "openai/gpt-6", which is the agent\'s own model: leave it out',
      '4:62 agents.a.fallbacks[3] is "simulator/sim-8k", which is named before: leave it out',
      '4:80 agents.a.fallbacks[4] is "anthropic/claude-opus-99", a model that is not known here, and neither is its window; if it exists, give models.anthropic/claude-opus-99.window',
    ],
  ],
  [
    'numbers that the window of a fallback contradicts',
    'agents:\n  a:\n    model: simulator/sim-64k\n    fallbacks: [simulator/sim-8k]\n    policy: { trigger: { tokens: 30000 }, target: { tokens: 20000 } }\n',
    [expect.stringContaining('with the model simulator/sim-8k (window 8192 tokens)')],
  ],
])('mistakes: %s', async (_, text, expected) => {
  expect((await problemsOf(text)).slice(0, expected.length)).toEqual(expected);
});

test('a fallback whose key is missing is told at start, with agent, model and variable', async () => {
  const text = `
models: { anthropic/claude-opus-5-5: { policy: { minimumGain: 0.2 } } }
agents:
  reader: { model: simulator/sim-64k, fallbacks: [anthropic/claude-opus-5-5], policy: { overflowRecoveries: 2 } }`;
  const without = await load(text, { environment: { HOLDFAST_SIMULATOR_URL: 'http://simulator' } });
  expect(() => requireFallbacks(without)).toThrow(
    'Agent reader cannot fall back to anthropic/claude-opus-5-5. The provider anthropic has no key: set ANTHROPIC_API_KEY.',
  );
  const environment = { ANTHROPIC_API_KEY: 'a-key', HOLDFAST_SIMULATOR_URL: 'http://simulator' };
  const configuration = await load(text, { environment });
  expect(() => requireFallbacks(configuration)).not.toThrow();
  const [fallback] = selectAgent(configuration, 'reader').fallbacks ?? [];
  expect(fallback?.policy).toMatchObject({ name: 'default', minimumGain: 0.2, overflowRecoveries: 2 });
});
