import { createHash } from 'node:crypto';
import { NewestValues } from './newest-values.ts';

/** A source of choices that depends on its seed alone. */
export interface Random {
  /** A whole number from 0 to `limit` − 1. */
  below(limit: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
  /** Letters and digits. */
  identifier(length: number): string;
}

const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789';

/** Mulberry32 over the first 32 bits of the seed's SHA-256: small, quick, good enough for wording. */
export function createRandom(seed: string): Random {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit);
  };
  return {
    below,
    pick: (choices) => choices[below(choices.length)] ?? choices[0],
    identifier: (length) => Array.from({ length }, () => ALPHABET.charAt(below(ALPHABET.length))).join(''),
  };
}

/**
 * Counts how often each request was seen, so that the n-th answer to the same request always has the same
 * wording and ids for one seed, whatever else is asked in between.
 */
export class RequestOccurrences {
  readonly #counts = new NewestValues(10_000);

  /** 1 for the first time. */
  next(digest: string): number {
    const count = (this.#counts.get(digest) ?? 0) + 1;
    this.#counts.set(digest, count);
    return count;
  }
}
