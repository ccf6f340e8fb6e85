import type { ModelPrices } from '../../turn/agent-snapshot.ts';
import type { ReportedUsage } from '../model-client.ts';

/** Usage of a call of which nobody told any: the input that was estimated, none of it from a cache. */
export function estimatedUsage(tokens: number): ReportedUsage {
  return { input: Math.round(tokens), cacheRead: 0, cacheWrite: 0, output: 0 };
}

/** Anthropic's price of keeping what it cached for an hour, in prices of input (prompt caching pages). */
const HOUR_WRITE_FACTOR = 2;

/**
 * Dollars that one call cost. `null` when a price that the call needs is unknown: an unknown cost
 * shown as 0 would be believed. A price for tokens that were not used is not needed.
 */
export function costOf(usage: ReportedUsage, prices: ModelPrices): number | null {
  const forAnHour = usage.cacheWriteForAnHour ?? 0;
  const uncached = Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite);
  const tier = prices.longInput !== undefined && usage.input > prices.longInput.aboveTokens ? prices.longInput : prices;
  const items: readonly (readonly [tokens: number, price: number | null])[] = [
    [uncached, tier.input],
    [usage.cacheRead, tier.cacheRead],
    [usage.cacheWrite - forAnHour, tier.cacheWrite],
    [forAnHour, tier.input === null ? null : tier.input * HOUR_WRITE_FACTOR],
    [usage.output, tier.output],
  ];
  let dollars = 0;
  for (const [tokens, price] of items) {
    if (tokens === 0) continue;
    if (price === null) return null;
    dollars += (tokens * price) / 1_000_000;
  }
  return dollars;
}
