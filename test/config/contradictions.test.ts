import { describe, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { requirePolicies } from '../../src/config/check/check-policies.ts';
import { reducersWith } from '../../src/config/reducers.ts';
import { load, problemsOf } from './support/written-configuration.ts';

describe('numbers that contradict each other', () => {
  test('are refused with both, what would do, the model, and the place of an option that the file names', async () => {
    const trigger = 'policy: { trigger: { fraction: 0.6 } }';
    expect(await problemsOf(`agents:\n  a:\n    ${trigger}\n`)).toEqual([
      '3:15 agents.a.policy.trigger contradicts another number with the model simulator/sim-32k (window 32768 tokens): ' +
        'target is 13107 tokens and trigger 15729: target must be 3277 tokens (minimumGain: 0.1 of the window) or more below trigger. ' +
        'Set target to { fraction: 0.47 } or less, or trigger to { fraction: 0.63 } or more.',
    ]);
    const [ofModel] = await problemsOf(`models: { simulator/sim-32k: { ${trigger} } }\nagents: { a: {} }`);
    expect(ofModel).toMatch(/^1:42 models.simulator\/sim-32k.policy.trigger contradicts/u);
  });

  test('a window that is too small for a summary is named at its line, with one that is enough', async () => {
    expect(await problemsOf('agents:\n  a:\n    policy: { window: 100 }\n')).toEqual([
      '3:15 agents.a.policy.window contradicts another number with the model simulator/sim-32k (window 32768 tokens): ' +
        'keep.tail (8 tokens) and keep.userMessages (20) leave 12 tokens for a summary below target (40), and the smallest takes 200. ' +
        'Set window to 1700 or more.',
    ]);
  });

  test('the same numbers fit a larger model', async () => {
    const policy = 'policy: { keep: { tail: { tokens: 30000 } } }';
    expect((await problemsOf(`agents: { a: { ${policy} } }`))[0]).toContain('agents.a.policy.keep.tail');
    expect((await load(`agents: { a: { model: anthropic/claude-opus-5-5, ${policy} } }`)).agents).toHaveLength(2);
  });

  test('what a built-in preset needs besides is named at its place', async () => {
    const policy = 'policy: { summary: { turnPrefix: { prompt: { text: "{{sections}}" } } } }';
    expect((await problemsOf(`agents: { a: { ${policy} } }`))[0]).toContain(
      'agents.a.policy.summary.turnPrefix.sections is missing',
    );
  });

  test('G8 a window that the user sets for the model comes before the one of the registry', async () => {
    const file =
      'models: { simulator/sim-32k: { window: 200000 } }\nagents: { a: { policy: { keep: { tail: { tokens: 30000 } } } } }';
    expect((await load(file)).agents).toHaveLength(2);
  });

  test('the output reserve that a preset names for the model counts', async () => {
    const agent = (model: string) =>
      `models: { ${model}: { window: 400000 } }\nagents: { a: { preset: wolffish, model: ${model}, policy: { keep: { tail: { tokens: 170000 } } } } }`;
    // 400,000 less 65,536, and half of that, is below the tail; less 8,000 it is not.
    const [problem] = await problemsOf(agent('simulator/gpt-5'));
    expect(problem).toContain(
      'keep.tail (170000 tokens) and keep.userMessages (0) leave no room for a summary below target (167232)',
    );
    expect((await load(agent('simulator/sim-32k'))).agents).toHaveLength(2);
  });

  test('a reducer that the preset does not have is added, so what it needs is named', async () => {
    const presets = [{ ...DEFAULT_POLICY, name: 'bare', reduce: [] }];
    const file = 'agents: { a: { preset: bare, policy: { reduce: { clip: { headLimit: 5 } } } } }';
    expect(await problemsOf(file, { presets })).toContain(
      '1:50 agents.a.policy.reduce.clip.headFraction is missing: it must be a number',
    );
  });
});

describe('policies in code are refused when a worker starts', () => {
  test('a preset that only a conversation would choose, with a reducer that is none or lacks an option', async () => {
    const named = (use: string) => ({ ...DEFAULT_POLICY, name: `own-${use}`, reduce: [{ use, options: {} }] });
    const configuration = await load('', { presets: [named('dedup'), named('strip_images')] });
    const start = () => requirePolicies(configuration, reducersWith([]));
    expect(start).toThrow('preset own-dedup: reduce.dedup is no reducer');
    expect(start).toThrow('preset own-strip_images: reduce.strip_images.keepNewest is missing');
  });

  test('an agent with numbers that contradict each other', async () => {
    const configuration = await load('');
    const policy = { ...DEFAULT_POLICY, keep: { ...DEFAULT_POLICY.keep, tail: { fraction: 0.9 } } };
    const agents = configuration.agents.map((agent) => Object.assign({}, agent, { policy }));
    const start = () => requirePolicies({ ...configuration, agents }, reducersWith([]));
    expect(start).toThrow(/agent default: policy\.keep\.tail contradicts another number/u);
    expect(() => requirePolicies(configuration, reducersWith([]))).not.toThrow();
  });
});
