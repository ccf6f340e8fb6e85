import { describe, expect, it } from 'vitest';
import { budgetFor, choosingTerms } from '../../../src/store/search/choosing-terms.ts';
import { portionsOf } from '../../../src/store/search/read-postings.ts';
import type { SearchedScope } from '../../../src/store/search/scope.ts';
import type { WeightedTerm } from '../../../src/store/search/weigh-terms.ts';

const term = (passages: number, isStopWord = false) =>
  ({ passages, isStopWord, terms: ['x'] }) as Partial<WeightedTerm> as WeightedTerm;

describe('choosingTerms', () => {
  const budget = { postings: 100, rows: 100, blocks: 1 };

  it('reads rare words first, stop words last, within its bound, and always something', () => {
    expect(choosingTerms([term(50), term(5, true), term(10), term(90)], budget)).toEqual([2, 0, 1]);
    expect(choosingTerms([term(500), term(400)], budget)).toEqual([1]);
    expect(choosingTerms([], budget)).toEqual([]);
  });

  it('bounds the rows that they are read in, of which a word has one in each block', () => {
    const terms = [term(50), term(10), term(60)];
    expect(choosingTerms(terms, { postings: 1_000, rows: 70, blocks: 10_000 })).toEqual([1, 0]);
    expect(choosingTerms(terms, { postings: 1_000, rows: 70, blocks: 20 })).toEqual([1, 0, 2]);
    expect(choosingTerms([term(500), term(400)], { postings: 1_000, rows: 70, blocks: 10_000 })).toEqual([1]);
  });
});

describe('of an agent with twenty times as many blocks as are searched for any word', () => {
  const newest = Array.from({ length: 10_000 }, (_, index) => 190_000 + index);
  const scope = {
    conversationId: null,
    passages: 2_000_000,
    blocks: newest,
    allBlocks: 200_000,
    newestFrom: 190_000,
  } as Partial<SearchedScope> as SearchedScope;

  it('all of these are read for a word that is in every fifth passage, as it is in few of them', () => {
    expect(portionsOf(scope, { terms: [term(400_000)], chosen: [0], blocks: newest })).toEqual([newest]);
  });

  it('a word counts as often as it is in these, and of a conversation no rows count', () => {
    expect(budgetFor(scope, newest)).toMatchObject({ postings: 20 * 90_000, blocks: 10_000 });
    expect(budgetFor({ ...scope, conversationId: 'one' }, newest).rows).toBe(Number.POSITIVE_INFINITY);
  });
});
