import { describe, expect, test } from 'vitest';
import { changePolicy, policyChanges, policyProblems } from '../../src/context/policy/change-policy.ts';
import { budgetFor } from '../../src/context/policy/budget.ts';
import type { PolicyChanges } from '../../src/context/policy/change-policy.ts';
import type { CompactionPolicy } from '../../src/context/policy/policy.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { BUILT_IN_PRESETS } from '../../src/context/policy/presets/index.ts';

const policy = (change: Partial<CompactionPolicy>): CompactionPolicy => ({ ...DEFAULT_POLICY, ...change });

describe('budgetFor', () => {
  test('reserves the least of maximum output, 16,384 and a fifth of the window', () => {
    expect(budgetFor(DEFAULT_POLICY, { window: 200_000, maximumOutput: 64_000 }).outputReserve).toBe(16_384);
    expect(budgetFor(DEFAULT_POLICY, { window: 200_000, maximumOutput: 4_096 }).outputReserve).toBe(4_096);
    expect(budgetFor(DEFAULT_POLICY, { window: 32_768, maximumOutput: 32_000 }).outputReserve).toBe(6_553);
  });

  test('gives the numbers of the default policy at 200,000 tokens', () => {
    expect(budgetFor(DEFAULT_POLICY, { window: 200_000, maximumOutput: 64_000 })).toEqual({
      window: 200_000,
      outputReserve: 16_384,
      inputBudget: 183_616,
      trigger: 168_926,
      target: 91_808,
      tail: 18_361,
      turnPrefixOutput: 0,
      userMessages: 20_000,
      summaryOutput: 13_600,
    });
  });

  test("R26 a vendor's own cap on the input counts, and an absolute cap that the user sets below it", () => {
    const limits = { window: 400_000, maximumInput: 272_000, maximumOutput: 128_000 };
    expect(budgetFor(DEFAULT_POLICY, limits).inputBudget).toBe(263_840);
    const capped = (options: object) => budgetFor(changePolicy(DEFAULT_POLICY, policyChanges.parse(options)), limits);
    expect(capped({ window: 120_000 })).toMatchObject({ window: 120_000, inputBudget: 103_616, trigger: 95_326 });
    expect(capped({ trigger: { tokens: 100_000 } })).toMatchObject({ inputBudget: 263_840, trigger: 100_000 });
  });

  test("a preset's absolute tokens shrink in proportion below 100,000, those of a user do not (D10)", () => {
    const keep = (exact: boolean) => ({ ...DEFAULT_POLICY.keep, tail: { tokens: 10_000, exact } });
    const limits = { window: 50_000, maximumOutput: 8_000 };
    expect(budgetFor(policy({ keep: keep(false) }), limits).tail).toBe(5_000);
    expect(budgetFor(policy({ keep: keep(true) }), limits).tail).toBe(10_000);
    expect(budgetFor(policy({ outputReserve: { tokens: 16_384 } }), limits).outputReserve).toBe(8_192);
    expect(budgetFor(policy({ outputReserve: { tokens: 0 } }), limits).inputBudget).toBe(50_000);
  });

  test('fractions count from the base that they name', () => {
    const limits = { window: 100_000, maximumOutput: 10_000 };
    expect(budgetFor(policy({ trigger: { fraction: 0.9, of: 'window' } }), limits).trigger).toBe(90_000);
    expect(budgetFor(policy({ trigger: { fraction: 0.9, of: 'input_budget' } }), limits).trigger).toBe(81_000);
    expect(budgetFor(policy({ trigger: { fraction: 1, of: 'window' } }), limits).trigger).toBe(90_000);
  });

  test('a cap of the vendor on the input leaves a margin, so that no estimate a little too low makes a refused call', () => {
    const capped = { window: 200_000, maximumInput: 100_000, maximumOutput: 8_000 };
    expect(budgetFor(policy({}), capped).inputBudget).toBe(97_000);
  });

  test('without a target the trigger is the target', () => {
    const budget = budgetFor(policy({ target: null }), { window: 100_000, maximumOutput: 10_000 });
    expect(budget.target).toBe(budget.trigger);
  });
});

describe('policyProblems', () => {
  const limits = { window: 100_000, maximumOutput: 8_000 };
  const options = (changed: CompactionPolicy) => policyProblems(changed, limits).map((problem) => problem.options);

  test.each([8_192, 32_768, 128_000, 200_000, 1_000_000])('the default policy has none at a window of %i', (window) => {
    expect(policyProblems(DEFAULT_POLICY, { window, maximumOutput: Math.floor(window / 4) })).toEqual([]);
  });

  test('names both numbers of each contradiction', () => {
    const target = policy({ target: { fraction: 0.95, of: 'input_budget' } });
    expect(policyProblems(target, limits)).toMatchObject([{ options: ['target', 'trigger', 'minimumGain'] }]);
    expect(policyProblems(target, limits)[0]?.message).toMatch(/87400 .*84640/);
    const tail = policy({ keep: { ...DEFAULT_POLICY.keep, tail: { tokens: 60_000, exact: true } } });
    expect(policyProblems(tail, limits)).toMatchObject([{ options: ['keep.tail', 'keep.userMessages', 'target'] }]);
    const both = { ...DEFAULT_POLICY.keep, tail: { tokens: 30_000 }, userMessages: { tokens: 30_000 } };
    expect(policyProblems(policy({ keep: both }), limits)[0]?.options).toContain('keep.userMessages');
  });

  test('a trigger above what a request may hold, and a gain that no pass can reach, are contradictions', () => {
    const late = policy({ trigger: { tokens: 200_000 } });
    expect(policyProblems(late, limits)).toMatchObject([{ options: ['trigger', 'outputReserve'] }]);
    expect(policyProblems(late, limits)[0]?.message).toMatch(/200000 .*92000/);
    expect(policyProblems(policy({ trigger: { tokens: 92_000 } }), limits)).toEqual([]);
    expect(policyProblems(policy({ minimumGain: 0.5 }), limits)).toMatchObject([
      { options: ['target', 'trigger', 'minimumGain'] },
    ]);
  });

  test.each<[PolicyChanges, string, PolicyChanges]>([
    [
      { trigger: { fraction: 0.55 } },
      'Set target to { fraction: 0.42 } or less, or trigger to { fraction: 0.63 } or more.',
      { target: { fraction: 0.42 } },
    ],
    [{ trigger: { fraction: 0.55 } }, 'trigger to { fraction: 0.63 } or more.', { trigger: { fraction: 0.63 } }],
    [
      { minimumGain: 0.5 },
      'Change target and trigger.',
      { target: { fraction: 0.29 }, keep: { userMessages: { tokens: 0 } } },
    ],
    [{ minimumGain: 0.9 }, 'Change target and trigger.', { minimumGain: 0.1 }],
    [
      { target: { fraction: 0.3 } },
      'Set keep.userMessages to { fraction: 0.09 } or less, or target to { fraction: 0.36 } or more.',
      { keep: { userMessages: { fraction: 0.09 } } },
    ],
    [
      { keep: { tail: { tokens: 60_000 } } },
      'Set keep.tail to { fraction: 0.14 } or less.',
      { keep: { tail: { fraction: 0.14 } } },
    ],
    [
      { keep: { tail: { fraction: 0.3 } } },
      'Set keep.tail to { fraction: 0.14 } or less, or keep.userMessages to { fraction: 0.09 } or less, or target to { fraction: 0.56 } or more.',
      { keep: { userMessages: { fraction: 0.09 } } },
    ],
    [
      { summary: { maximumOutput: { fraction: 0.8 } } },
      'Set summary.maximumOutput to { fraction: 0.15 } or less.',
      { summary: { maximumOutput: { fraction: 0.15 } } },
    ],
    [
      { outputReserve: { tokens: 100_000 } },
      'Lower outputReserve, for example to { tokens: 20000 }.',
      { outputReserve: { tokens: 20_000 } },
    ],
    [{ trigger: { tokens: 100_000 } }, 'Set trigger to { tokens: 80000 } or less.', { trigger: { tokens: 80_000 } }],
  ])('the contradiction of %j is named alone, with what would do: %s', (changes, advice, mended) => {
    const roomy = { window: 100_000, maximumOutput: 90_000 };
    const wrong = changePolicy(changePolicy(DEFAULT_POLICY, { outputReserve: { tokens: 20_000 } }), changes);
    expect(policyProblems(wrong, roomy)).toMatchObject([{ message: expect.stringContaining(advice) }]);
    expect(policyProblems(changePolicy(wrong, mended), roomy)).toEqual([]);
  });

  const fractions = Array.from({ length: 20 }, (_, index) => ({ fraction: (index + 1) / 20 }));
  const wrongChanges: readonly PolicyChanges[] = [
    ...Array.from({ length: 25 }, (_, index) => ({ window: 1 + index * 100 })),
    ...fractions.flatMap((amount) => [
      { target: amount },
      { trigger: amount },
      { keep: { tail: amount } },
      { keep: { userMessages: amount } },
      { summary: { maximumOutput: amount } },
    ]),
  ];

  test.each(BUILT_IN_PRESETS.map((preset) => [preset.name, preset] as const))(
    'under %s each value that is advised against a single contradiction would do',
    (_, preset) => {
      let advised = 0;
      for (const limits of [32_768, 200_000].map((window) => ({ window, maximumOutput: 16_384 }))) {
        for (const changes of wrongChanges) {
          const wrong = changePolicy(preset, changes);
          const [problem, ...others] = policyProblems(wrong, limits);
          if (problem === undefined || others.length > 0) continue;
          if (changes.window !== undefined)
            expect([changes, problem.message]).toEqual([changes, expect.stringMatching(/Set \w/u)]);
          for (const [, option = '', value] of problem.message.matchAll(
            /([\w.]+) to (?:\{ fraction: )?([\d.]+)(?: \})? or/gu,
          )) {
            const amount: unknown = option === 'window' ? Number(value) : { fraction: Number(value) };
            const advice = option.split('.').reduceRight((below, name) => ({ [name]: below }), amount);
            const mended = changePolicy(wrong, policyChanges.parse(advice));
            expect([changes, option, policyProblems(mended, limits)]).toEqual([changes, option, []]);
            advised += 1;
          }
        }
      }
      expect(advised).toBeGreaterThan(10);
    },
  );

  test.each(BUILT_IN_PRESETS.map((preset) => [preset.name, preset] as const))(
    'the preset %s contradicts itself with no model',
    (_, preset) => {
      for (const window of [8_192, 16_384, 32_768, 128_000, 200_000, 400_000, 1_000_000]) {
        for (const maximumOutput of [1_024, 4_096, 16_384, 64_000, 128_000].filter((each) => each <= window / 2)) {
          const found = policyProblems(preset, { window, maximumOutput });
          expect({ window, maximumOutput, found }).toEqual({ window, maximumOutput, found: [] });
        }
      }
    },
  );

  test('finds what cannot work at all', () => {
    expect(options(policy({ outputReserve: { tokens: 100_000, exact: true } }))).toContainEqual([
      'outputReserve',
      'window',
    ]);
    const never = { ...DEFAULT_POLICY.summary, when: 'never' } as const;
    expect(options(policy({ summary: never, reduce: [] }))).toContainEqual(['summary.when', 'reduce']);
    expect(options(policy({ summary: never }))).toEqual([]);
    const large = { ...DEFAULT_POLICY.summary, maximumOutput: { tokens: 60_000, exact: true } };
    expect(policyProblems(policy({ summary: large }), { window: 100_000, maximumOutput: 90_000 })).toMatchObject([
      { options: ['summary.maximumOutput', 'target'] },
    ]);
  });
});
