import type { ModelLimits } from '../context/plan.ts';
import type { ModelPrices } from '../turn/agent-snapshot.ts';

interface BuiltInModel {
  readonly limits: ModelLimits;
  readonly prices: ModelPrices;
}

type Price = number | null;

/** Dollars per million tokens: input, output, cache read, cache write. */
type PriceRow = readonly [Price, Price, Price, Price];

/** Name; tokens: window, maximum input (0: the window), maximum output; prices; with a second tier its edge in tokens of input and its prices. */
type Row = readonly [string, number, number, number, PriceRow, (readonly [number, PriceRow])?];

/**
 * Copied on 2026-11-22 from the data of `@earendil-works/pi-ai` 1.5.2 (MIT, generated 2026-11-10)
 * for Anthropic and OpenAI; other models are named in configuration. From GPT-5.4 on the source
 * gives as window the edge of the first price tier, which is kept: a larger one is a choice for
 * configuration. GPT-5 refuses input above 272,000 (RooCodeInc/Roo-Code#6856). A cache price of 0
 * in the source means unknown, `null` here; before GPT-5.6 OpenAI writes its cache free of charge.
 */
const ROWS: readonly Row[] = [
  ['anthropic/claude-fable-5', 1_000_000, 0, 128_000, [10, 50, 1, 12.5]],
  ['anthropic/claude-fable-5-1', 1_000_000, 0, 128_000, [10, 50, 0.25, 12.5]],
  ['anthropic/claude-fable-5-2', 1_000_000, 0, 128_000, [8, 40, 0.2, 10]],
  ['anthropic/claude-haiku-4-5', 200_000, 0, 64_000, [1, 5, 0.1, 1.25]],
  ['anthropic/claude-haiku-4-5-20251001', 200_000, 0, 64_000, [1, 5, 0.1, 1.25]],
  ['anthropic/claude-haiku-5-5', 1_000_000, 0, 128_000, [0.1, 0.5, 0.01, 0.125], [100_000, [0.5, 2.5, 0.05, 0.625]]],
  ['anthropic/claude-opus-4-5', 200_000, 0, 64_000, [5, 25, 0.5, 6.25]],
  ['anthropic/claude-opus-4-5-20251101', 200_000, 0, 64_000, [5, 25, 0.5, 6.25]],
  ['anthropic/claude-opus-4-6', 1_000_000, 0, 128_000, [5, 25, 0.5, 6.25]],
  ['anthropic/claude-opus-4-7', 1_000_000, 0, 128_000, [5, 25, 0.5, 6.25]],
  ['anthropic/claude-opus-4-8', 1_000_000, 0, 128_000, [5, 25, 0.5, 6.25]],
  ['anthropic/claude-opus-5', 1_000_000, 0, 128_000, [5, 25, 0.5, 6.25]],
  ['anthropic/claude-opus-5-5', 1_000_000, 0, 128_000, [4, 20, 0.2, 5]],
  ['anthropic/claude-sonnet-4-5', 200_000, 0, 64_000, [3, 15, 0.3, 3.75]],
  ['anthropic/claude-sonnet-4-5-20250929', 200_000, 0, 64_000, [3, 15, 0.3, 3.75]],
  ['anthropic/claude-sonnet-4-6', 1_000_000, 0, 128_000, [3, 15, 0.3, 3.75]],
  ['anthropic/claude-sonnet-5', 1_000_000, 0, 128_000, [2, 10, 0.2, 2.5]],
  ['anthropic/claude-sonnet-5-5', 1_000_000, 0, 128_000, [2, 10, 0.1, 2.5]],
  ['openai/gpt-4.1', 1_047_576, 0, 32_768, [2, 8, 0.5, 0]],
  ['openai/gpt-4.1-mini', 1_047_576, 0, 32_768, [0.4, 1.6, 0.1, 0]],
  ['openai/gpt-4.1-nano', 1_047_576, 0, 32_768, [0.1, 0.4, 0.025, 0]],
  ['openai/gpt-4o', 128_000, 0, 16_384, [2.5, 10, 1.25, 0]],
  ['openai/gpt-4o-mini', 128_000, 0, 16_384, [0.15, 0.6, 0.075, 0]],
  ['openai/gpt-5', 400_000, 272_000, 128_000, [1.25, 10, 0.125, 0]],
  ['openai/gpt-5-mini', 400_000, 272_000, 128_000, [0.25, 2, 0.025, 0]],
  ['openai/gpt-5-nano', 400_000, 272_000, 128_000, [0.05, 0.4, 0.005, 0]],
  ['openai/gpt-5-pro', 400_000, 272_000, 128_000, [15, 120, null, 0]],
  ['openai/gpt-5.1', 400_000, 272_000, 128_000, [1.25, 10, 0.125, 0]],
  ['openai/gpt-5.2', 400_000, 272_000, 128_000, [1.75, 14, 0.175, 0]],
  ['openai/gpt-5.2-pro', 400_000, 272_000, 128_000, [21, 168, null, 0]],
  ['openai/gpt-5.3-codex', 400_000, 272_000, 128_000, [1.75, 14, 0.175, 0]],
  ['openai/gpt-5.3-codex-spark', 128_000, 0, 32_000, [1.75, 14, 0.175, 0]],
  ['openai/gpt-5.4', 272_000, 0, 128_000, [2.5, 15, 0.25, 0], [272_000, [5, 22.5, 0.5, 0]]],
  ['openai/gpt-5.4-mini', 400_000, 272_000, 128_000, [0.75, 4.5, 0.075, 0]],
  ['openai/gpt-5.4-nano', 400_000, 272_000, 128_000, [0.2, 1.25, 0.02, 0]],
  ['openai/gpt-5.4-pro', 1_050_000, 0, 128_000, [30, 180, null, 0], [272_000, [60, 270, null, 0]]],
  ['openai/gpt-5.5', 272_000, 0, 128_000, [5, 30, 0.5, 0], [272_000, [10, 45, 1, 0]]],
  ['openai/gpt-5.5-pro', 1_050_000, 0, 128_000, [30, 180, null, 0], [272_000, [60, 270, null, 0]]],
  ['openai/gpt-5.6-luna', 272_000, 0, 128_000, [0.2, 1.2, 0.02, 0.25], [272_000, [0.4, 1.8, 0.04, 0.5]]],
  ['openai/gpt-5.6-sol', 272_000, 0, 128_000, [4, 20, 0.4, 5], [272_000, [8, 30, 0.8, 10]]],
  ['openai/gpt-5.6-terra', 272_000, 0, 128_000, [2, 12, 0.2, 2.5], [272_000, [4, 18, 0.4, 5]]],
  ['openai/gpt-6-astra', 272_000, 0, 128_000, [10, 50, 1, 12.5], [272_000, [20, 75, 2, 25]]],
  ['openai/gpt-6-luna', 272_000, 0, 128_000, [0.1, 0.5, 0.01, 0.125], [272_000, [0.2, 0.75, 0.02, 0.25]]],
  ['openai/gpt-6-sol', 272_000, 0, 128_000, [2, 10, 0.2, 2.5], [272_000, [4, 15, 0.4, 5]]],
  ['openai/gpt-6.1-sol', 272_000, 0, 128_000, [2, 10, 0.1, 2.5], [272_000, [4, 15, 0.2, 5]]],
  ['openai/gpt-6.1-terra', 272_000, 0, 128_000, [1, 5, 0.05, 1.25], [272_000, [2, 7.5, 0.1, 2.5]]],
  ['openai/o4-mini', 200_000, 0, 100_000, [1.1, 4.4, 0.275, 0]],
];

/** Built-in facts by `provider/model`. */
export const BUILT_IN_MODELS: ReadonlyMap<string, BuiltInModel> = new Map(
  ROWS.map(([name, window, maximumInput, maximumOutput, prices, longInput]) => [
    name,
    {
      limits: { window, maximumOutput, ...(maximumInput === 0 ? {} : { maximumInput }) },
      prices: {
        ...named(prices),
        ...(longInput === undefined ? {} : { longInput: { aboveTokens: longInput[0], ...named(longInput[1]) } }),
      },
    },
  ]),
);

function named([input, output, cacheRead, cacheWrite]: PriceRow) {
  return { input, output, cacheRead, cacheWrite };
}
