/** A seed for one purpose (FNV-1a), so that what several do at a time does not depend on who draws first. */
export function seedFor(seed: number, ...purpose: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const character of [seed, ...purpose].join(' ')) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return hash;
}

/** Numbers that are the same for the same seed everywhere (mulberry32). */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** 0 to 1, without 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** @throws RangeError when there are none */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new RangeError('there is nothing to pick from');
    return item;
  }

  /** One of the entries' names, by weight. @throws RangeError when there are none */
  weighted<Name>(entries: readonly (readonly [name: Name, weight: number])[]): Name {
    let rest = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    return (entries.find(([, weight]) => (rest -= weight) < 0) ?? this.pick(entries.slice(-1)))[0];
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** Lower-case hexadecimal digits. */
  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.between(0, 15).toString(16)).join('');
  }
}
