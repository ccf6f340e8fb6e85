/** The middle of several values with their spread; of few values the quartiles are close to least and largest. */
export interface Summary {
  readonly median: number;
  /** First quartile. */
  readonly low: number;
  /** Third quartile. */
  readonly high: number;
  readonly samples: number;
}

/** @throws RangeError without values */
export function summarize(values: readonly number[]): Summary {
  if (values.length === 0) throw new RangeError('nothing was measured');
  const sorted = values.toSorted((left, right) => left - right);
  return {
    median: quantile(sorted, 0.5),
    low: quantile(sorted, 0.25),
    high: quantile(sorted, 0.75),
    samples: sorted.length,
  };
}

export function median(values: readonly number[]): number {
  return summarize(values).median;
}

/** Of neighbours: what was measured in the same round. */
export function ratios(over: readonly number[], under: readonly number[]): Summary {
  return summarize(over.map((value, round) => value / (under[round] ?? value)));
}

/** A value that was counted, not sampled. */
export function exactly(value: number): Summary {
  return { median: value, low: value, high: value, samples: 1 };
}

/**
 * The end of a series over its beginning: medians of three. The first value is left out, since caches fill.
 * @throws RangeError for fewer than two values
 */
export function growthOf(series: readonly number[]): number {
  return median(series.slice(-3)) / median(series.slice(1, 4));
}

/** @throws RangeError without values */
export function quantileOf(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('nothing was measured');
  return quantile(
    values.toSorted((left, right) => left - right),
    share,
  );
}

/** Linear between neighbours, the default of most statistics programs. */
function quantile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? 0;
  const above = sorted[Math.ceil(position)] ?? below;
  return below + (above - below) * (position - Math.floor(position));
}

/** Measures each side once a round, in turn: A B, B A, …, so that what warms up or wears off on the way meets all. */
export async function alternate<Side extends string>(
  rounds: number,
  sides: Readonly<Record<Side, () => number | Promise<number>>>,
): Promise<(side: Side) => readonly number[]> {
  const values = new Map<string, number[]>(Object.keys(sides).map((side) => [side, []]));
  const runs = Object.entries<() => number | Promise<number>>(sides);
  for (let round = 0; round < rounds; round += 1) {
    for (const [side, measure] of round % 2 === 0 ? runs : runs.toReversed()) values.get(side)?.push(await measure());
  }
  return (side) => values.get(side) ?? [];
}
