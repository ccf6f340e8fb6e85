/** Numbers that a seed decides. */
export interface Random {
  /** From 0 to under 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** One of the entries' names, by weight. */
  weighted<Name>(entries: readonly (readonly [name: Name, weight: number])[]): Name;
  chance(probability: number): boolean;
}

/** A seed for one purpose (FNV-1a), so that what several do at a time does not depend on who draws first. */
export function seedFor(seed: number, ...purpose: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const character of [seed, ...purpose].join(' ')) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return hash;
}

/** Mulberry32: 32 bits of state are enough to choose where to strike. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (items) => {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new RangeError('there is nothing to pick from');
      return item;
    },
    weighted: (entries) => {
      let rest = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      const found = entries.find(([, weight]) => (rest -= weight) < 0) ?? entries.at(-1);
      if (found === undefined) throw new RangeError('there is nothing to pick from');
      return found[0];
    },
    chance: (probability) => next() < probability,
  };
}
