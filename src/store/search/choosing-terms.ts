import type { SearchedScope } from './scope.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/**
 * Postings that one search reads: what bounds its time, whatever the size of the conversation. Three bytes each.
 * Rare words come first; what is left over are words that so many passages have that they choose none.
 */
export const MOST_POSTINGS = 14_000;

/** Passages of a scope up to which that many are enough: of more, words that are telling among them are in more than are read. */
const PASSAGES_OF_MOST_POSTINGS = 120_000;
/** Longest reading, for a million passages and more: 270 KB. */
const LARGEST_READING = 90_000;

/**
 * Rows that one search reads: a word has one in each block, and the blocks of small conversations have few passages. A row costs as much
 * as fifty postings of one.
 */
const MOST_ROWS = 8_000;

/** What the terms that choose passages may cost together. */
interface ReadingBudget {
  readonly postings: number;
  readonly rows: number;
  /** That are read: a term has at most a row in each. */
  readonly blocks: number;
}

/** Postings that a search of so many passages reads. Whatever the size, it is bounded. */
export function postingsFor({ passages }: Pick<SearchedScope, 'passages'>): number {
  const inProportion = Math.round((MOST_POSTINGS * passages) / PASSAGES_OF_MOST_POSTINGS);
  return Math.min(LARGEST_READING, Math.max(MOST_POSTINGS, inProportion));
}

/** Of the postings in all blocks so many are in these that terms may have so many in all to be chosen. */
export function budgetFor(scope: SearchedScope, blocks: readonly number[], rows = MOST_ROWS): ReadingBudget {
  const most = postingsFor(scope);
  const postings = blocks.length === 0 ? most : (most * Math.max(scope.allBlocks, blocks.length)) / blocks.length;
  // A conversation has few blocks, and they are full: what it costs is its postings.
  return { postings, rows: scope.conversationId === null ? rows : Number.POSITIVE_INFINITY, blocks: blocks.length };
}

/** The terms of a query by index that choose its passages, those that few have first. */
export function choosingTerms(terms: readonly WeightedTerm[], budget: ReadingBudget): number[] {
  const chosen: number[] = [];
  let { postings, rows } = budget;
  for (const index of tellingFirst(terms)) {
    const term = terms[index];
    if (term === undefined) continue;
    const rowsOfTerm = rowsOf(term, budget.blocks);
    // Always something: of a word that is everywhere the newest blocks are read.
    if ((term.passages > postings || rowsOfTerm > rows) && chosen.length > 0) continue;
    chosen.push(index);
    postings -= term.passages;
    rows -= rowsOfTerm;
  }
  return chosen;
}

/** With one more that was left out, where what the chosen ones find is not let through by a filter. */
export function withNextTerm(terms: readonly WeightedTerm[], chosen: readonly number[]): readonly number[] {
  const next = tellingFirst(terms).find((index) => !chosen.includes(index));
  return next === undefined ? chosen : [...chosen, next];
}

/** Rows of a term in so many blocks: about as many as have something where its passages are thrown into them. */
export function rowsOf({ passages, terms }: Pick<WeightedTerm, 'passages' | 'terms'>, blocks: number): number {
  const mostOfForms = blocks * Math.max(1, terms.length);
  return mostOfForms === 0 ? 0 : Math.min(passages, mostOfForms * (1 - Math.exp(-passages / mostOfForms)));
}

function tellingFirst(terms: readonly WeightedTerm[]): number[] {
  return [...terms.keys()].toSorted((one, other) => {
    const [a, b] = [terms[one], terms[other]];
    return Number(a?.isStopWord) - Number(b?.isStopWord) || (a?.passages ?? 0) - (b?.passages ?? 0) || one - other;
  });
}
