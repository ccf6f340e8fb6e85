import { describe, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
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

  test('the same numbers fit a larger model', async () => {
    const policy = 'policy: { keep: { tail: { tokens: 30000 } } }';
    expect((await problemsOf(`agents: { a: { ${policy} } }`))[0]).toContain('agents.a.policy.keep.tail');
    expect((await load(`agents: { a: { model: anthropic/claude-opus-5-5, ${policy} } }`)).agents).toHaveLength(2);
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
