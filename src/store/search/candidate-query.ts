import { quoteTerm } from './passage-terms.ts';
import type { SearchedScope } from './scope.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/** Passages that one search may look at: what bounds its time, whatever the size of the conversation. */
const MOST_CANDIDATES = 1_200;
/** Words that belong together stand together more often than chance has it. */
const COMPANY = 8;

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
  const [rarest, ...others] = byRarity.filter((term) => !take({ terms: [term], passages: term.passages }));
  if (rarest === undefined) return chosen;
  // All with the rarest, so that the index is read along one list only.
  for (const other of others) take(together([rarest, other], total));
  if (chosen.length > 0) return chosen;
  // Always something: as many words together as bring it down, in the end all.
  for (let count = 3; count < byRarity.length; count += 1) {
    if (take(together(byRarity.slice(0, count), total))) return chosen;
  }
  return [together(byRarity, total)];
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
