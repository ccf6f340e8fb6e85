import type { Database } from '../database/database.ts';
import type { Phrases } from './phrases.ts';
import type { QueryTerm } from './query.ts';
import { anyOf, isWanted, likePart, MARKS } from './scope.ts';
import type { SearchedScope } from './scope.ts';
import type { RecallFilter } from '../../tools/tool.ts';

/** Passages of a scope that are all compared if they have any word of the query, and so many of a larger one. */
const SMALL_SCOPE = 2_000;
const MOST_CANDIDATES = 200;
/** Rows that are read of one part of the index, where estimates were wrong. */
const MOST_ROWS = 3_000;
/** Days that are looked through for words that very many passages have. */
const MOST_DAYS = 400;

export interface Candidate {
  readonly id: string;
  readonly conversationId: string;
  readonly place: number | null;
  readonly words: number;
  readonly isQuestion: boolean;
  /** It may have what was asked for word for word: it has every word, and where quotation marks were set, the phrase. */
  readonly mayHavePhrase: boolean;
  /** Bit by bit, which terms of the query it has. */
  readonly mask: number;
}

export interface FoundCandidates {
  readonly candidates: readonly Candidate[];
  /** All passages in scope that have any word of the query but stop words. */
  readonly isAll: boolean;
}

export async function findCandidates(
  sql: Database,
  scope: SearchedScope,
  { terms, phrases }: { readonly terms: readonly QueryTerm[]; readonly phrases: Phrases },
  filter: RecallFilter,
): Promise<FoundCandidates> {
  const words = terms.filter(({ isStopWord }) => !isStopWord);
  const telling = words.length > 0 ? words : terms;
  const isAll = scope.passages <= SMALL_SCOPE;
  const queries = isAll ? [anyTerm(telling)] : await selectiveQueries(sql, scope, telling, filter);
  const kinds = filter.kinds === undefined ? [] : [anyOf(filter.kinds.map((kind) => `${MARKS.kind}${kind}`))];
  const wanted = queries.map((query) => [anyOf([scope.mark]), ...kinds, query].join(' & '));
  const asked = terms.map((term) => anyOf([...term.terms, ...term.terms.map((each) => `${MARKS.path}${each}`)]));
  // Of a long query without quotation marks all words together choose well enough, and letters in another spelling are seen later.
  const isSought = phrases.length > 0 && phrases.every(({ row }) => row === null);
  const rows = await sql<Candidate[]>`
    with asked as materialized (
      select a.query::tsquery as query, 1 << (a.number::int - 1) as bit
      from unnest(${asked}::text[]) with ordinality as a (query, number))
    select p.id, p.conversation_id, p.place, p.words, p.is_question,
      ${isSought} and lower(p.text) like all (${phrases.map(({ text }) => likePart(text))}::text[]) as "mayHavePhrase",
      (select coalesce(sum(a.bit), 0)::int from asked a where p.terms @@ a.query) as mask
    from unnest(${wanted}::text[]) as q (query) cross join lateral (
      select p.* from searched_passages p
      where p.terms @@ q.query::tsquery ${isWanted(sql, filter)} limit ${MOST_ROWS}) p`;
  const everyTerm = 2 ** terms.length - 1;
  const candidates = rows.map((row) =>
    Object.assign(row, { mayHavePhrase: isSought ? row.mayHavePhrase : row.mask === everyTerm }),
  );
  return { candidates: [...new Map(candidates.map((row) => [row.id, row])).values()], isAll };
}

function anyTerm(terms: readonly QueryTerm[]): string {
  return anyOf(terms.flatMap((term) => term.terms));
}

/** Of a large scope only a part is compared: the rarest terms, all terms together, else the newest days. */
async function selectiveQueries(
  sql: Database,
  scope: SearchedScope,
  telling: readonly QueryTerm[],
  filter: RecallFilter,
): Promise<string[]> {
  const share = scope.passages / scope.ofAgent;
  let sum = 0;
  const rarest = telling.filter(({ frequency }) => (sum += share * frequency) <= MOST_CANDIDATES);
  const isDated = filter.after !== undefined || filter.before !== undefined;
  if (!isDated && (filter.kinds !== undefined || rarest.length === telling.length)) return [anyTerm(telling)];
  const together = telling.filter(({ isDate }) => !isDate).map(({ terms }) => anyOf(terms));
  const queries = [together.join(' & '), rarest.length === 0 ? '' : anyTerm(rarest)].filter((query) => query !== '');
  if (!isDated && rarest.length > 0) return queries;
  const sought = isDated ? telling : telling.slice(0, 1);
  const frequency = sought.reduce((total, term) => total + term.frequency, 0);
  const days = await newestDays(sql, scope, frequency, filter);
  return [
    ...(days.length === 0 ? [] : [`${anyTerm(sought)} & ${anyOf(days)}`]),
    ...(isDated || telling.length === 1 ? [] : queries),
  ];
}

/** So many of the newest days that what so many passages of the agent have is found often enough; one at least. */
async function newestDays(
  sql: Database,
  { tenant, agent, passages, ofAgent }: SearchedScope,
  frequency: number,
  { after, before }: RecallFilter,
): Promise<string[]> {
  const dayTerm = (time: string | undefined, other: string): string =>
    time === undefined ? other : `@${new Date(time).toISOString().slice(0, 10)}`;
  const rows = await sql<{ term: string; passages: number }[]>`
    select term, passages from term_frequencies
    where tenant = ${tenant} and agent = ${agent} and length(term) = 11 and passages > 0
      and term between ${dayTerm(after, '@1')} and ${dayTerm(before, '@3')}
    order by term desc limit ${MOST_DAYS}`;
  const share = Math.min(1, frequency / ofAgent) * (passages / ofAgent);
  let sum = 0;
  const days = rows.filter((row, index) => (sum += row.passages * share) <= MOST_CANDIDATES || index === 0);
  return days.map(({ term }) => term);
}
