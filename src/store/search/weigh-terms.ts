import type { Queries } from '../database.ts';
import { POSTING_BYTES } from './postings.ts';
import type { QueryTerm } from './query-terms.ts';
import type { SearchedScope } from './scope.ts';

/** A term of the query with what the index knows of it. */
export interface WeightedTerm extends QueryTerm {
  /** Passages in scope that have it, estimated. */
  readonly passages: number;
  readonly weight: number;
  /** It stands for a word of the query that the passage need not have. */
  readonly isSimilar: boolean;
}

/** Of what a rare word counts, a stop word counts this much: "who" is rare in a list of facts and tells nothing. */
const STOP_WORD_SHARE = 0.3;
/** Words that make a question, and stand in all of them: they say what is wanted, not what it is about. English. */
const QUESTION_WORDS = new Set(
  'who whom whose what which when where why how do does did is are was were am has have had can could will would should'.split(
    ' ',
  ),
);
const QUESTION_WORD_SHARE = 0.2;
/** A date is named more often than meant: below a word of the same rarity. */
const DATE_SHARE = 0.6;

/** BM25's weight of a term that n of N passages have. */
export function rarity(passages: number, total: number): number {
  return Math.log(1 + (Math.max(0, total - passages) + 0.5) / (passages + 0.5));
}

/** Weights by the stored statistics; terms that no passage has are left out. */
export async function weighTerms(
  sql: Queries,
  scope: SearchedScope,
  terms: readonly QueryTerm[],
): Promise<WeightedTerm[]> {
  const counts = await countPassages(
    sql,
    scope,
    terms.flatMap((term) => term.terms),
  );
  return terms.flatMap((term): WeightedTerm[] => {
    const passages = Math.min(
      scope.passages,
      term.terms.reduce((sum, each) => sum + (counts.get(each) ?? 0), 0),
    );
    if (passages === 0) return [];
    const share =
      ((term.isStopWord ? STOP_WORD_SHARE : 1) *
        (term.isStopWord && QUESTION_WORDS.has(term.word) ? QUESTION_WORD_SHARE : 1) *
        (term.isDate ? DATE_SHARE : 1) *
        term.share) /
      term.oneOf;
    return [{ ...term, passages, weight: share * rarity(passages, scope.passages), isSimilar: term.isRelated }];
  });
}

/** How many passages in scope have each term; of a scope of many conversations, from a part of them. */
export async function countPassages(
  sql: Queries,
  scope: SearchedScope,
  terms: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { numbers, passages, countedPassages } = scope;
  const rows = await sql<CountedTerm[]>`
    select s.term, sum(s.passages)::int as passages from search_statistics s
    where s.conversation_number = any(${[...numbers]}::int[]) and s.term = any(${[...terms]}::text[]) group by s.term`;
  const scale = countedPassages === 0 ? 1 : passages / countedPassages;
  const counts = new Map(rows.map((row) => [row.term, Math.ceil(row.passages * scale)]));
  if (!isCountedInPart(scope)) return counts;
  // What none of the counted conversations has may still stand in another: a rare word is what is searched for most.
  const missing = terms.filter((term) => !counts.has(term));
  for (const row of await countPostings(sql, scope, missing)) counts.set(row.term, row.passages);
  return counts;
}

/** Whether there are conversations in scope that the statistics say nothing of. */
export function isCountedInPart({ passages, countedPassages }: SearchedScope): boolean {
  return countedPassages < passages;
}

interface CountedTerm {
  readonly term: string;
  readonly passages: number;
}

/** Exact, by the length of the postings, which are not read for it. */
async function countPostings(
  sql: Queries,
  { agentNumber }: SearchedScope,
  terms: readonly string[],
): Promise<readonly CountedTerm[]> {
  if (terms.length === 0) return [];
  return sql<CountedTerm[]>`
    select term, (sum(octet_length(postings)) / ${POSTING_BYTES})::int as passages from search_postings
    where agent_number = ${agentNumber} and term = any(${[...terms]}::text[]) group by term`;
}
