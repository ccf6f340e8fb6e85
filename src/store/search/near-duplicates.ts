import { isPreferred } from './candidate.ts';
import type { RankedCandidate } from './candidate.ts';

/**
 * Passages are near-duplicates when they share nine tenths of their shingles, four words in a row each: Manning, Raghavan,
 * Schütze, Introduction to Information Retrieval, § 19.6.
 */
const NEARLY_ALL = 0.9;
const SHINGLE_WORDS = 4;

const WORD = /[\p{L}\p{N}_]+/gu;
/** A number or a name: a passage that has another one says another thing, however much it is like the first. */
const TELLING = /[\p{N}\p{Lu}_]/u;

/**
 * Of passages of one conversation that say the same in nearly the same words the newest stays, of the active branch if one is,
 * at the place of the best: eight of them would hide all else. Those that the query tells apart stay all.
 * Only as many are compared as are wanted: shingles of all that were ranked would take longer than most of a search.
 * @param ranked best first
 * @param count passages that are wanted
 */
export function foldNearDuplicates<T extends RankedCandidate>(ranked: readonly T[], count: number): T[] {
  const kept: Shingled<T>[] = [];
  for (const candidate of ranked) {
    const each = new Shingled(candidate);
    const at = kept.findIndex((other) => areNearDuplicates(each, other));
    const before = kept[at]?.candidate;
    if (before === undefined) {
      if (kept.length >= count) break;
      kept.push(each);
    } else if (isPreferred(candidate, before))
      kept[at] = new Shingled({ ...candidate, score: before.score, match: before.match });
  }
  return kept.map(({ candidate }) => candidate);
}

/** A candidate with its shingles, made when they are first needed: for most the count of words says enough. */
class Shingled<T extends RankedCandidate> {
  readonly candidate: T;
  #words: readonly string[] | null = null;
  #shingles: ReadonlySet<string> | null = null;

  constructor(candidate: T) {
    this.candidate = candidate;
  }

  get words(): readonly string[] {
    this.#words ??= this.candidate.text.match(WORD) ?? [];
    return this.#words;
  }

  get shingles(): ReadonlySet<string> {
    if (this.#shingles !== null) return this.#shingles;
    const words = this.words.map((word) => word.toLowerCase());
    const count = Math.max(1, words.length - SHINGLE_WORDS + 1);
    this.#shingles = new Set(
      Array.from({ length: count }, (_, index) => words.slice(index, index + SHINGLE_WORDS).join(' ')),
    );
    return this.#shingles;
  }
}

function areNearDuplicates(one: Shingled<RankedCandidate>, other: Shingled<RankedCandidate>): boolean {
  const [a, b] = [one.candidate, other.candidate];
  if (a.conversationId !== b.conversationId || a.kind !== b.kind) return false;
  if (a.match !== b.match || a.matched.length !== b.matched.length) return false;
  if (!areClose(a.words, b.words) || !areClose(a.text.length, b.text.length)) return false;
  if (a.matched.some((term, index) => term !== b.matched[index])) return false;
  let common = 0;
  for (const shingle of one.shingles) if (other.shingles.has(shingle)) common += 1;
  if (common < NEARLY_ALL * (one.shingles.size + other.shingles.size - common)) return false;
  return !tells(one, other) && !tells(other, one);
}

/** What shares nine tenths of all is not much longer either; some room, for words that are repeated. */
function areClose(one: number, other: number): boolean {
  return Math.min(one, other) >= NEARLY_ALL * NEARLY_ALL * Math.max(one, other);
}

/** Whether one has a number or a name that the other has not. */
function tells(one: Shingled<RankedCandidate>, other: Shingled<RankedCandidate>): boolean {
  const known = new Set(other.words);
  return one.words.some((word) => TELLING.test(word) && !known.has(word));
}
