import type { QueryTerm } from './query-terms.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/** Words and dates of a query that are looked for: more are too much for one question. */
const MOST_TERMS = 40;

export interface AskedTerms {
  readonly sought: readonly QueryTerm[];
  /** Those of them that some passage has. */
  readonly known: readonly WeightedTerm[];
}

/**
 * Of what a long query asks for the most telling, wherever they stand in it: the rarest words that some passage has, then those that
 * none has, for they may be misspelt, and last the words that stand everywhere. Of a short one all.
 */
export function tellingTerms({ sought, known }: AskedTerms): AskedTerms {
  const asked = sought.filter(({ isRelated }) => !isRelated);
  if (asked.length <= MOST_TERMS) return { sought, known };
  // The list of its terms is what a term and its weighted copy share.
  const weights = new Map(known.map(({ terms, weight }) => [terms, weight]));
  const weightOf = ({ terms }: QueryTerm): number => weights.get(terms) ?? 0;
  const tellingFirst = asked.toSorted(
    (one, other) => Number(one.isStopWord) - Number(other.isStopWord) || weightOf(other) - weightOf(one),
  );
  const kept = new Set(tellingFirst.slice(0, MOST_TERMS).map(({ terms }) => terms));
  const isKept = ({ terms, isRelated }: QueryTerm): boolean => isRelated || kept.has(terms);
  return { sought: sought.filter(isKept), known: known.filter(isKept) };
}
