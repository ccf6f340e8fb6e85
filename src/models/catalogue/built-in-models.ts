import { readFileSync } from 'node:fs';
import type { ModelLimits } from '../../context/plan/plan.ts';
import type { ModelPrices } from '../../turn/agent-snapshot.ts';

interface BuiltInModel {
  readonly limits: ModelLimits;
  readonly prices: ModelPrices;
}

type Price = number | null;

/** Dollars per million tokens: input, output, cache read, cache write; `null` for unknown. */
type PriceRow = readonly [Price, Price, Price, Price];

/** Tokens: window, maximum input (0: the window), maximum output; prices; with a second tier its edge in tokens of input and its prices. */
type Row = readonly [number, number, number, PriceRow, (readonly [number, PriceRow])?];

/** `data/models.json`, which `npm run update-models` writes. */
interface Snapshot {
  /** Package and version. */
  readonly source: string;
  /** Day on which the package was published. */
  readonly date: string;
  /** By `provider/model`. */
  readonly models: Readonly<Record<string, Row>>;
}

// Written by our own script and covered by a test: nothing to validate at every start.
const snapshot: Snapshot = JSON.parse(readFileSync(new URL('../../../data/models.json', import.meta.url), 'utf8'));

/** Where the built-in facts come from, with their day. */
export const BUILT_IN_SOURCE = `${snapshot.source}, ${snapshot.date}`;

/**
 * Built-in facts by `provider/model`. From GPT-5.4 on the source gives as window the edge of the
 * first price tier, which is kept: a larger one is a choice for configuration.
 */
export const BUILT_IN_MODELS: ReadonlyMap<string, BuiltInModel> = new Map(
  Object.entries(snapshot.models).map(([name, [window, maximumInput, maximumOutput, prices, longInput]]) => [
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
