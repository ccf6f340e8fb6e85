import type { Queries } from '../database.ts';
import { MOST_POSTINGS } from './choosing-terms.ts';
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

/** A word of so few of the counted conversations may be theirs alone, or in as many of all others: it is counted, as one that none has. */
const FEW_CONVERSATIONS = 5;
/** Rows of postings that are looked at for how many passages one has. */
const MEASURED_ROWS = 250;
/** Passages that are counted for one query, of all its words. */
const MOST_COUNTED = 60_000;

/** BM25's weight of a term that n of N passages have. */
export function rarity(passages: number, total: number): number {
  return Math.log(1 + (Math.max(0, total - passages) + 0.5) / (passages + 0.5));
}

/**
 * Weights by the stored statistics; terms that no passage has are left out.
 * @param mostOfWord passages that a word may have to be looked up wherever it is: whether it has more is not left to an estimate
 */
export async function weighTerms(
  sql: Queries,
  scope: SearchedScope,
  terms: readonly QueryTerm[],
  mostOfWord = MOST_POSTINGS,
): Promise<WeightedTerm[]> {
  const known = terms.flatMap((term) => term.terms);
  const estimated = new Set(terms.flatMap((term) => (term.isStopWord ? term.terms : [])));
  const counts = await countPassages(sql, scope, known, { mostOfWord, estimated });
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

interface Counting {
  readonly mostOfWord?: number;
  /** Terms that stand everywhere and choose nothing: of them an estimate is enough. */
  readonly estimated?: ReadonlySet<string>;
}

/** How many passages in scope have each term; of a scope of many conversations, from a part of them where that says enough. */
export async function countPassages(
  sql: Queries,
  scope: SearchedScope,
  terms: readonly string[],
  { mostOfWord = MOST_POSTINGS, estimated = new Set() }: Counting = {},
): Promise<ReadonlyMap<string, number>> {
  const { numbers, passages, countedPassages } = scope;
  const rows = await sql<EstimatedTerm[]>`
    select s.term, sum(s.passages)::int as passages, count(*)::int as conversations from search_statistics s
    where s.conversation_number = any(${[...numbers]}::int[]) and s.term = any(${[...terms]}::text[]) group by s.term`;
  const scale = countedPassages === 0 ? 1 : passages / countedPassages;
  const counts = new Map(rows.map((row) => [row.term, Math.ceil(row.passages * scale)]));
  if (!isCountedInPart(scope)) return counts;
  const known = new Map(rows.map((row) => [row.term, row]));
  // What none of the counted conversations has may still stand in another: a rare word is what is searched for most.
  const doubted = terms.filter((term) => {
    const row = known.get(term);
    if (row === undefined) return true;
    return !estimated.has(term) && (row.conversations <= FEW_CONVERSATIONS || (counts.get(term) ?? 0) > mostOfWord);
  });
  for (const row of await countPostings(sql, scope, rarestFirst(doubted, counts, mostOfWord), mostOfWord)) {
    // Where more were there than are counted, the estimate is all that is known.
    counts.set(row.term, row.isAll ? row.passages : Math.max(row.passages, counts.get(row.term) ?? 0));
  }
  return counts;
}

/** Whether there are conversations in scope that the statistics say nothing of. */
export function isCountedInPart({ passages, countedPassages }: SearchedScope): boolean {
  return countedPassages < passages;
}

/** As many terms as are counted at most for one query, the rarest: the longest has hundreds, and of the others none chooses. */
function rarestFirst(
  terms: readonly string[],
  counts: ReadonlyMap<string, number>,
  mostOfWord: number,
): readonly string[] {
  const countOf = (term: string): number => counts.get(term) ?? 0;
  let left = MOST_COUNTED;
  return [...new Set(terms)]
    .toSorted((one, other) => countOf(one) - countOf(other))
    .filter((term) => (left -= Math.min(mostOfWord, countOf(term))) >= 0);
}

interface EstimatedTerm {
  readonly term: string;
  readonly passages: number;
  /** Of those whose statistics are read. */
  readonly conversations: number;
}

interface CountedTerm {
  readonly term: string;
  readonly passages: number;
  /** None was left uncounted. */
  readonly isAll: boolean;
}

/**
 * Rows of postings are counted by their index alone, up to so many of each term; in how many passages they say the term is, the first of
 * them show by their length, and where there are no more all.
 */
async function countPostings(
  sql: Queries,
  { agentNumber }: SearchedScope,
  terms: readonly string[],
  most: number,
): Promise<readonly CountedTerm[]> {
  if (terms.length === 0) return [];
  // Each measured row by its key: of a word that Postgres takes for rarer than the limit it would read all that the index has, and then stop.
  const ofTerm = sql`from search_postings p where p.agent_number = ${agentNumber} and p.term = t.term`;
  return sql<CountedTerm[]>`
    select t.term, ceil(c.rows * f.bytes / ${POSTING_BYTES})::int as passages, c.rows <= ${most} as "isAll"
    from unnest(${[...terms]}::text[]) as t (term)
    cross join lateral (select count(*) as rows from (select ${ofTerm} limit ${most + 1}) p) c
    cross join lateral (
      select avg(m.bytes) as bytes from unnest(array(select p.block ${ofTerm} limit ${MEASURED_ROWS})) as b (block)
      cross join lateral (select octet_length(p.postings) as bytes ${ofTerm} and p.block = b.block limit 1) as m) f
    where c.rows > 0`;
}
