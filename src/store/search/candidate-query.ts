import { quoteTerm } from './passage-terms.ts';
import type { SearchedScope } from './scope.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/** Passages that one search may look at: what bounds its time, whatever the size of the conversation. */
const MOST_CANDIDATES = 2_000;
/** Words that belong together stand together more often than chance has it. */
const COMPANY = 3;

/** Passages that have all of these terms are candidates. */
interface Clause {
  readonly terms: readonly WeightedTerm[];
  readonly passages: number;
}

/**
 * The tsquery that selects the passages worth ranking. Each rare term selects by itself; common ones
 * only together with others, rarest company first, as far as the number of candidates allows. A
 * passage that is left out has nothing but common words, fewer of them than those that are taken.
 */
export function candidateQuery(scope: SearchedScope, terms: readonly WeightedTerm[]): string | null {
  const clauses = chooseClauses(terms, scope.passages);
  if (clauses.length === 0) return null;
  const any = clauses.map((clause) => clause.terms.map(anyOf).join(' & ')).join(' | ');
  return `(${any}) & ${quoteTerm(scope.term)}`;
}

function chooseClauses(terms: readonly WeightedTerm[], total: number): Clause[] {
  const telling = terms.filter(({ isStopWord }) => !isStopWord);
  const byRarity = (telling.length > 0 ? telling : terms).toSorted((one, other) => one.passages - other.passages);
  const chosen: Clause[] = [];
  let left = MOST_CANDIDATES;
  const take = (clause: Clause): boolean => {
    if (clause.passages > left) return false;
    left -= clause.passages;
    chosen.push(clause);
    return true;
  };
  const common = byRarity.filter((term) => !take({ terms: [term], passages: term.passages }));
  for (const clause of companies(common, total)) take(clause);
  // Always something: all words together, however many passages that may be.
  if (chosen.length === 0 && byRarity.length > 0) chosen.push(together(byRarity, total));
  return chosen;
}

/** Pairs and then triples of common terms, those of fewest passages first. */
function companies(terms: readonly WeightedTerm[], total: number): Clause[] {
  const pairs = terms.flatMap((one, index) => terms.slice(index + 1).map((other) => together([one, other], total)));
  const triples = terms.flatMap((one, index) =>
    terms
      .slice(index + 1)
      .flatMap((two, next) => terms.slice(index + next + 2).map((three) => together([one, two, three], total))),
  );
  const rarestFirst = (one: Clause, other: Clause): number => one.passages - other.passages;
  return [...pairs.toSorted(rarestFirst).slice(0, 6), ...triples.toSorted(rarestFirst).slice(0, 4)];
}

function together(terms: readonly WeightedTerm[], total: number): Clause {
  const [first, ...others] = terms;
  const chance = others.reduce((share, { passages }) => share * Math.min(1, (COMPANY * passages) / total), 1);
  return { terms, passages: Math.ceil((first?.passages ?? 0) * chance) };
}

/** A tsquery of a term: any of its stems. */
export function anyOf({ terms }: Pick<WeightedTerm, 'terms'>): string {
  return `(${terms.map(quoteTerm).join(' | ')})`;
}
