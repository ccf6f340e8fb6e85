import { describe, expect, test } from 'vitest';
import { BUILT_IN_MODELS } from '../../src/models/catalogue/built-in-models.ts';
import { modelFacts } from '../../src/models/catalogue/catalogue.ts';
import type { ModelPrices } from '../../src/turn/agent-snapshot.ts';
import { costOf } from '../../src/models/catalogue/cost.ts';
import { maximumOutputFor } from '../../src/models/catalogue/maximum-output.ts';
import { parseModelName } from '../../src/models/catalogue/model-name.ts';

describe('names', () => {
  test('a model is split at the first slash', () => {
    expect(parseModelName('openrouter/z-ai/glm-5')).toEqual({ provider: 'openrouter', model: 'z-ai/glm-5' });
  });

  test.each(['', 'gpt-6', '/gpt-6', 'openai/', ' / '])('"%s" is refused with an example', (name) => {
    expect(() => parseModelName(name)).toThrow(`"${name}" does not name a model. Write provider/model`);
  });
});

describe('facts', () => {
  test('models of the table have limits and prices', () => {
    expect(modelFacts('anthropic/claude-sonnet-5-5')).toEqual({
      limits: { window: 1_000_000, maximumOutput: 128_000 },
      prices: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
      known: true,
      source: expect.stringMatching(/^\S+ \d+\.\d+\.\d+, \d{4}-\d{2}-\d{2}$/),
    });
    expect(modelFacts('openai/gpt-5.1').limits).toEqual({
      window: 400_000,
      maximumInput: 272_000,
      maximumOutput: 128_000,
    });
  });

  test.each([
    ['simulator/sim-8k', 8_192, 2_048],
    ['simulator/sim-32k', 32_768, 8_192],
    ['simulator/sim-200k', 204_800, 8_192],
  ])('%s has the window that it names, and is free', (name, window, maximumOutput) => {
    const facts = modelFacts(name);
    expect(facts.limits).toEqual({ window, maximumOutput });
    expect(costOf({ input: 1_000, cacheRead: 10, cacheWrite: 10, output: 10 }, facts.prices)).toBe(0);
  });

  test.each(['simulator/sim-0k', 'simulator/gpt', 'openai/sim-8k', 'local/llama'])(
    'R26 %s is unknown: safe limits, no price, and it says so',
    (name) => {
      expect(modelFacts(name)).toEqual({
        limits: { window: 128_000, maximumOutput: 8_192 },
        prices: { input: null, output: null, cacheRead: null, cacheWrite: null },
        known: false,
        source: 'unknown model: safe default',
      });
    },
  );

  test.each([
    'bedrock/us.anthropic.claude-opus-4-6-v1',
    'bedrock/eu.anthropic.claude-opus-4-6-20260101-v1:0',
    'vertex/claude-opus-4-6@20260101',
    'openrouter/anthropic/claude-opus-4.6:beta',
  ])('%s is found under the name of its vendor', (name) => {
    expect(modelFacts(name).limits).toEqual(modelFacts('anthropic/claude-opus-4-6').limits);
    expect(modelFacts(name).known).toBe(true);
  });

  test('cached input costs what the configuration says input costs, unless it says otherwise', () => {
    const pricesWith = (prices: Partial<ModelPrices>) =>
      modelFacts('local/llama', { 'local/llama': { prices } }).prices;
    expect(pricesWith({ input: 3, output: 6 })).toMatchObject({ cacheRead: 3, cacheWrite: 3 });
    expect(pricesWith({ input: 3, cacheRead: null, cacheWrite: 4 })).toMatchObject({ cacheRead: null, cacheWrite: 4 });
    expect(pricesWith({ output: 6 })).toMatchObject({ input: null, cacheRead: null });
    const known = modelFacts('anthropic/claude-sonnet-5-5');
    const cheaper = { 'anthropic/claude-sonnet-5-5': { prices: { input: 1 } } };
    expect(modelFacts('anthropic/claude-sonnet-5-5', cheaper).prices.cacheRead).toBe(known.prices.cacheRead);
  });

  test('no model of the snapshot has a window without room for an answer, nor a price of 0 that means unknown', () => {
    expect(BUILT_IN_MODELS.size).toBeGreaterThan(1_000);
    const wrong = [...BUILT_IN_MODELS].filter(([, { limits, prices }]) => {
      const { window, maximumInput = window, maximumOutput } = limits;
      const fits = maximumInput <= window && maximumOutput > 0 && maximumOutput <= window;
      const tiers = [prices, ...(prices.longInput === undefined ? [] : [prices.longInput])];
      return !fits || tiers.some(({ input, output, cacheRead }) => (input === 0 && output === 0) || cacheRead === 0);
    });
    expect(wrong).toEqual([]);
  });

  test('configuration overrides field by field; a window makes a model known', () => {
    const overrides = {
      'local/llama': { window: 4_096 },
      'openai/gpt-5.1': { window: 1_000_000, prices: { input: 9 } },
      'local/priced': { prices: { input: 1, output: 2 } },
    };
    expect(modelFacts('local/llama', overrides)).toMatchObject({
      limits: { window: 4_096, maximumOutput: 4_096 },
      known: true,
    });
    expect(modelFacts('openai/gpt-5.1', overrides).limits).toEqual({ window: 1_000_000, maximumOutput: 128_000 });
    expect(modelFacts('openai/gpt-5.1', overrides).prices).toMatchObject({ input: 9, output: 10 });
    expect(modelFacts('local/priced', overrides)).toMatchObject({
      known: false,
      prices: { input: 1, cacheRead: 1 },
    });
  });
});

describe('cost', () => {
  const prices = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

  test('cached input is charged at its own price', () => {
    const usage = { input: 1_000_000, cacheRead: 600_000, cacheWrite: 100_000, output: 200_000 };
    expect(costOf(usage, prices)).toBeCloseTo(0.9 + 0.18 + 0.375 + 3, 10);
  });

  test('an unknown price makes the cost unknown, but only when it is needed', () => {
    const unknownCache = { ...prices, cacheRead: null };
    expect(costOf({ input: 10, cacheRead: 5, cacheWrite: 0, output: 1 }, unknownCache)).toBeNull();
    expect(costOf({ input: 10, cacheRead: 0, cacheWrite: 0, output: 1 }, unknownCache)).toBeCloseTo(0.000_045, 10);
  });

  test('what Anthropic caches for an hour costs twice the input, what it caches for five minutes its own price', () => {
    const claude = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
    const usage = { input: 1_000_000, cacheRead: 0, cacheWrite: 1_000_000, output: 0 };
    expect(costOf(usage, claude)).toBeCloseTo(2.5, 10);
    expect(costOf({ ...usage, cacheWriteForAnHour: 1_000_000 }, claude)).toBeCloseTo(4, 10);
    expect(costOf({ ...usage, cacheWriteForAnHour: 400_000 }, claude)).toBeCloseTo(1.5 + 1.6, 10);
  });

  test('every token of a call with a long input costs the second tier', () => {
    const { prices: tiered } = modelFacts('anthropic/claude-haiku-5-5');
    expect(costOf({ input: 100_000, cacheRead: 0, cacheWrite: 0, output: 0 }, tiered)).toBeCloseTo(0.01, 10);
    expect(costOf({ input: 200_000, cacheRead: 0, cacheWrite: 0, output: 0 }, tiered)).toBeCloseTo(0.1, 10);
  });
});

describe('maximum output', () => {
  const limits = { window: 32_768, maximumOutput: 8_192 };
  test.each([
    ['what the model can write', 1_000, 4_096, 8_192],
    ['less than is free, because the estimate may be low', 26_000, 4_096, 5_468],
    ['not less than the reserve while it is free', 28_000, 4_096, 4_096],
    ['never more than the window less the view', 30_000, 4_096, 2_768],
    ['at least one', 40_000, 4_096, 1],
    ['only limited by the window without a reserve', 28_000, 0, 3_368],
  ])('is %s', (_, viewTokens, reserve, expected) => {
    expect(maximumOutputFor({ limits, reserve, viewTokens })).toBe(expected);
  });
});
