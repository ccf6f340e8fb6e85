import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PassageKind } from '../../../src/store/search/found-passage.ts';
import { gather } from '../../../src/store/search/gather.ts';
import type { Gathering } from '../../../src/store/search/gather.ts';
import {
  BLOCK_PASSAGES,
  bitsAt,
  encodePosting,
  isAsking,
  kindNumberOf,
  numbersOfKinds,
  placeOf,
  tableOfValues,
  valueIndexOf,
} from '../../../src/store/search/postings.ts';
import type { PostedKind } from '../../../src/store/search/postings.ts';

function postingsOf(
  ...places: readonly (readonly [place: number, kind?: PostedKind, count?: number, words?: number, asks?: boolean])[]
) {
  const written = places.map(([place, kind = 'user', count = 1, words = 10, asks = false]) =>
    encodePosting({ place, kind, count, words, asks }),
  );
  return Buffer.from(written.join(''), 'hex');
}

const ALL: Gathering = { weights: [1, 1, 1], averageWords: 10, count: 10 };

function placesOf(found: ReturnType<typeof gather>, block = 1): number[] {
  return found.map(({ id }) => id - block * BLOCK_PASSAGES);
}

describe('a posting', () => {
  it('comes back from three bytes, length and repetition nearly', () => {
    const counts = tableOfValues((count) => count);
    const lengths = tableOfValues((_, words) => words);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: BLOCK_PASSAGES - 1 }),
        fc.constantFrom<PassageKind>('user', 'assistant', 'tool_result', 'note', 'branch_summary', 'summary'),
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 0, max: 200 }),
        fc.boolean(),
        (place, kind, count, words, asks) => {
          const postings = postingsOf([place, kind, count, words, asks]);
          expect(postings).toHaveLength(3);
          const bits = bitsAt(postings, 0);
          expect(placeOf(bits)).toBe(place);
          expect(isAsking(bits)).toBe(asks);
          expect(numbersOfKinds([kind])).toContain(kindNumberOf(bits));
          expect(counts[valueIndexOf(bits)]).toBe(Math.min(8, count));
          const length = lengths[valueIndexOf(bits)] ?? -1;
          expect(Math.abs(length - words)).toBeLessThanOrEqual(1 + words / 10);
        },
      ),
    );
  });
});

describe('gather', () => {
  it('adds up the terms of a passage and puts the best first, the newer of equals', () => {
    const read = [
      { term: 0, block: 1, postings: postingsOf([3, 'note'], [9, 'note'], [20, 'note']) },
      { term: 1, block: 1, postings: postingsOf([9, 'note']) },
    ];
    expect(placesOf(gather(read, ALL))).toEqual([9, 20, 3]);
    expect(placesOf(gather(read, { ...ALL, weights: [1, -1] }))).toEqual([20, 3]);
  });

  it('counts a word that is said more often or in fewer words for more', () => {
    const postings = postingsOf([1, 'note', 1, 60], [5, 'note', 1, 5], [9, 'note', 3, 5]);
    expect(placesOf(gather([{ term: 0, block: 1, postings }], ALL))).toEqual([9, 5, 1]);
  });

  it('lets the answer have part of what its question says, but not tool results, nor the other way as much', () => {
    const said = gather([{ term: 0, block: 1, postings: postingsOf([50, 'user']) }], ALL);
    expect(placesOf(said)).toEqual([50, 51, 49, 52, 48]);
    expect(placesOf(gather([{ term: 0, block: 1, postings: postingsOf([50, 'tool_result']) }], ALL))).toEqual([50]);
    // Two words, each next to it, are worth less than both in one passage, more than one.
    const between = [
      { term: 0, block: 1, postings: postingsOf([10, 'user'], [30, 'user'], [40, 'note']) },
      { term: 1, block: 1, postings: postingsOf([11, 'assistant'], [30, 'user']) },
    ];
    expect(placesOf(gather(between, ALL)).slice(0, 2)).toEqual([30, 11]);
  });

  it('gives what stands behind a question more than what stands behind a statement', () => {
    const postings = postingsOf([10, 'user', 1, 10, true], [20, 'user', 1, 10, false]);
    expect(placesOf(gather([{ term: 0, block: 1, postings }], ALL)).slice(0, 4)).toEqual([20, 10, 11, 21]);
  });

  it('takes a word that two stems stand for once', () => {
    const twice = { term: 0, block: 1, postings: postingsOf([7, 'note']) };
    const [once] = gather([twice], ALL);
    expect(gather([twice, twice], ALL)).toEqual([once]);
  });

  it('comes to the same, to the last digit, in whatever order the postings were read', () => {
    const postings = postingsOf([7, 'note'], [9, 'user'], [40, 'tool_result', 2, 31]);
    const weights = [0.1, 0.7, 1 / 3, 2.3, 5.9];
    const read = weights.map((_, term) => ({ term, block: 1, postings }));
    const inOrder = gather(read, { ...ALL, weights });
    fc.assert(
      fc.property(fc.shuffledSubarray(read, { minLength: read.length }), (shuffled) => {
        expect(gather(shuffled, { ...ALL, weights })).toEqual(inOrder);
      }),
    );
  });

  it('looks only at kinds and ids that are wanted', () => {
    const read = [{ term: 0, block: 2, postings: postingsOf([1, 'note'], [8, 'call'], [30, 'summary']) }];
    const kinds = (...wanted: Parameters<typeof numbersOfKinds>[0]) =>
      placesOf(gather(read, { ...ALL, kinds: numbersOfKinds(wanted) }), 2);
    expect(kinds('note')).toEqual([1]);
    expect(kinds('assistant')).toEqual([8]);
    expect(gather(read, { ...ALL, ids: new Set([2 * BLOCK_PASSAGES + 30]) })).toHaveLength(1);
  });

  it('gives the same best as sorting all, over many blocks', () => {
    const blocks = Array.from({ length: 3 }, (_, index) => index + 1);
    const read = blocks.map((block) => {
      const places = Array.from(
        { length: 1_500 },
        (_, index) => [index * 2, 'note', 1, (index * 7 + block) % 150] as const,
      );
      return { term: 0, block, postings: postingsOf(...places) };
    });
    const all = gather(read, { ...ALL, count: 1_000_000 });
    expect(all).toHaveLength(4_500);
    expect(gather(read, { ...ALL, count: 25 })).toEqual(all.slice(0, 25));
  });
});
