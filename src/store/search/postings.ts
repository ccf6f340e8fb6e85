import type { PassageKind } from './found-passage.ts';

/** Passages of a block: as many as 12 bits count (migrations/000014_search_postings.sql). */
export const BLOCK_PASSAGES = 4_096;

/**
 * What a passage is, as far as choosing among many needs it. `call` is an answer that is nothing but tool calls: it
 * counts as `assistant`, but does not stand between a question and its answer.
 */
export type PostedKind = PassageKind | 'call';

/** Order is stored: append only, at most eight. */
const KINDS: readonly PostedKind[] = ['user', 'assistant', 'call', 'tool_result', 'note', 'branch_summary', 'summary'];

/** Three bits say how often a word stands in a passage; more often counts as this. */
const MOST_OFTEN = 8;
/** Five bits for the number of words, on a scale of quarters of a doubling. */
const LENGTH_STEPS = 32;
const STEPS_OF_A_DOUBLING = 4;

export interface Posting {
  /** In its block. */
  readonly place: number;
  readonly kind: PostedKind;
  /** Times that the passage has the term. */
  readonly count: number;
  /** Of the passage. */
  readonly words: number;
  /** The term stands in a question: what is said next may be the answer. */
  readonly asks: boolean;
}

/** A posting as it is appended to those of its term, in hexadecimal: postgres.js has no arrays of bytes. */
export function encodePosting({ place, kind, count, words, asks }: Posting): string {
  const often = Math.min(Math.max(count, 1), MOST_OFTEN) - 1;
  const step = Math.min(LENGTH_STEPS - 1, Math.round(STEPS_OF_A_DOUBLING * Math.log2(words + 1)));
  const bits = place | (KINDS.indexOf(kind) << 12) | (often << 15) | (step << 18) | (Number(asks) << 23);
  return bits.toString(16).padStart(2 * POSTING_BYTES, '0');
}

/** Bytes of one posting. */
export const POSTING_BYTES = 3;

/** The bits of a posting as a number; the functions below take them apart, without an object for each of tens of thousands. */
export function bitsAt(postings: Uint8Array, at: number): number {
  return ((postings[at] ?? 0) << 16) | ((postings[at + 1] ?? 0) << 8) | (postings[at + 2] ?? 0);
}

export function placeOf(bits: number): number {
  return bits & 0xf_ff;
}

export function kindNumberOf(bits: number): number {
  return (bits >> 12) & 7;
}

/** How often and how long together: an index of `tableOfValues`. */
export function valueIndexOf(bits: number): number {
  return (bits >> 15) & 0xff;
}

export function isAsking(bits: number): boolean {
  return bits >> 23 === 1;
}

/** For each combination of how often a term stands in a passage and how long that is: what `valueOf` makes of it. */
export function tableOfValues(valueOf: (count: number, words: number) => number): Float64Array {
  return Float64Array.from({ length: LENGTH_STEPS * MOST_OFTEN }, (_, index) =>
    valueOf((index % MOST_OFTEN) + 1, 2 ** (Math.floor(index / MOST_OFTEN) / STEPS_OF_A_DOUBLING) - 1),
  );
}

/** What user and agent said to each other: next to each other in a block of their own. */
export function isSpoken(kind: PostedKind): boolean {
  return kind === 'user' || kind === 'assistant';
}

export function isSpokenNumber(kindNumber: number): boolean {
  return kindNumber < 2;
}

/** Numbers of the kinds that a filter lets through. */
export function numbersOfKinds(kinds: readonly PassageKind[]): ReadonlySet<number> {
  const posted: readonly PostedKind[] = kinds.includes('assistant') ? [...kinds, 'call'] : kinds;
  return new Set(posted.map((kind) => KINDS.indexOf(kind)));
}
