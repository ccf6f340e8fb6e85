import type { FidelityFigures } from '../fidelity/measure-fidelity.ts';

/** The counts of several sessions together, a line for each preset and number of compactions, in the order of the first session. */
export function sumFidelity(sessions: readonly (readonly FidelityFigures[])[]): FidelityFigures[] {
  const sums = new Map<string, FidelityFigures>();
  for (const figures of sessions.flat()) {
    const line = `${figures.preset} ${figures.passes}`;
    const before = sums.get(line);
    const { preset, passes } = figures;
    sums.set(line, before === undefined ? figures : { ...added(before, figures), preset, passes });
  }
  return [...sums.values()];
}

/** Of two objects of one shape, the numbers in them added up. */
function added<Counts extends object>(one: Counts, other: Counts): Counts {
  const entries = Object.entries(one).map(([name, value]: [string, unknown]) => {
    const second: unknown = Reflect.get(other, name);
    if (typeof value === 'number' && typeof second === 'number') return [name, value + second];
    if (isObject(value) && isObject(second)) return [name, added(value, second)];
    return [name, value];
  });
  return { ...one, ...Object.fromEntries(entries) };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
