import { SMALLEST_SIMILARITY } from '../database/database.ts';
import type { Database } from '../database/database.ts';
import { dateTermsOf, yearTermsOf } from './dates.ts';
import { frequenciesOf, likePart } from './scope.ts';
import type { SearchedScope } from './scope.ts';
import { FALLBACK_LANGUAGE, irregularFormsOf, languageOf, stemsOf } from './stems.ts';
import { foldAccents, isUnspacedCharacter, wordsOf } from './words.ts';
import type { Word } from './words.ts';

export interface QueryTerm {
  /** The word as it was asked for, in lower case; a date's own term. */
  readonly word: string;
  /** Terms of the index; any of them counts. */
  readonly terms: readonly string[];
  readonly isStopWord: boolean;
  readonly isDate: boolean;
  /** Place in the query: the parts of an identifier share that of the whole. */
  readonly position: number;
  /** A name or a number: what speaks of another is of something else. */
  readonly isName: boolean;
  /** It stands for a word of the query that no passage has. */
  readonly isSimilar: boolean;
  /** What it counts of a word that was asked for. */
  readonly share: number;
  readonly frequency: number;
}

const USUAL = { isStopWord: false, isDate: false, isName: false, isSimilar: false, share: 1, frequency: 0 };

/** Terms of one query, the rarest; each is a bit of an integer. */
const MOST_TERMS = 30;
/** Words of a query whose rarity is read. */
const MOST_WORDS = 300;

/** Of what a rare word counts, a stop word counts this much: "who" is rare in a list of facts and tells nothing. */
const STOP_WORD_SHARE = 0.3;
/** They stand in all questions and say what is wanted, not what it is about. */
const QUESTION_WORD =
  /^(?:wh(?:om?|ose|at|ich|en|ere|y)|how|do|does|did|is|are|was|were|am|has|have|had|can|could|will|would|should)$/;
const QUESTION_WORD_SHARE = 0.06;
/** Words of names from which on a query asks who of several it is: what tells of all of them hardly tells which. */
const NAMES_OF_SEVERAL = 4;
const SHARE_OF_SEVERAL = 0.7;
const MOST_LOOKED_UP = 10;
/** A date is named more often than meant. */
const DATE_SHARE = 0.6;

/**
 * What a query asks for, as far as any passage of the agent has it; the rarest first. Words of the excepted entry count as if they stood
 * nowhere.
 */
export async function readQuery(
  sql: Database,
  scope: SearchedScope,
  query: { readonly text: string; readonly askedAt: Date; readonly exceptEntryId?: string | undefined },
): Promise<readonly QueryTerm[]> {
  const asked = [...(await wordTerms(sql, scope, query.text)), ...dateTerms(query.text, query.askedAt)];
  const [counts, excepted] = await Promise.all([
    frequenciesOf(
      sql,
      scope,
      asked.flatMap(({ terms }) => terms),
    ),
    termsOfEntry(sql, query.exceptEntryId),
  ]);
  const known = asked.map((term) => {
    const sum = term.terms.reduce((total, each) => total + (counts.get(each) ?? 0) - (excepted.has(each) ? 1 : 0), 0);
    return Object.assign({}, term, { frequency: Math.max(0, Math.min(scope.ofAgent, sum)) });
  });
  const nowhere = known.filter(isNowhere).slice(0, MOST_LOOKED_UP);
  const similar = await Promise.all(
    nowhere.map(async (term) => Object.assign({}, term, await similarWords(sql, scope, term), { isSimilar: true })),
  );
  return [...known, ...similar]
    .filter(({ frequency }) => frequency > 0)
    .toSorted((one, other) => Number(one.isStopWord) - Number(other.isStopWord) || one.frequency - other.frequency)
    .slice(0, MOST_TERMS);
}

/** A word that only this entry has may be misspelt: who reads it knows it. None of a long entry, which may be found. */
async function termsOfEntry(sql: Database, entryId: string | undefined): Promise<ReadonlySet<string>> {
  if (entryId === undefined) return new Set();
  const rows = await sql<{ terms: string[] }[]>`
    select tsvector_to_array(terms) as terms from passages where source_id = ${entryId} limit 2`;
  return new Set(rows.length === 1 ? rows[0]?.terms : []);
}

function isNowhere({ frequency, isStopWord, isDate, word }: QueryTerm): boolean {
  const isMissing = frequency === 0 && word.length >= SHORTEST_WORD;
  return !isStopWord && !isDate && (isMissing || isUnspacedCharacter(word));
}

async function wordTerms(sql: Database, { languages }: SearchedScope, text: string): Promise<QueryTerm[]> {
  const words = wordsOf(text).slice(0, MOST_WORDS);
  const language = languageOf(text);
  const isEnglish = languages.includes(FALLBACK_LANGUAGE);
  // "met" for "meet".
  const formsOf = (word: Word): readonly Pick<Word, 'text' | 'isPlain'>[] =>
    isEnglish ? irregularFormsOf(word.text).map((form) => ({ text: form, isPlain: true })) : [];
  const stemOf = await stemsOf(sql, [
    ...[...languages, language].map((each) => [each, words] as const),
    [FALLBACK_LANGUAGE, words.flatMap(formsOf)],
  ]);
  const names = namesOf(text);
  const found = new Map<string, QueryTerm>();
  for (const asked of words) {
    const { text: word, position } = asked;
    const ofScope = languages.map((each) => stemOf(each, asked).term);
    const ofForms = formsOf(asked).map((form) => stemOf(FALLBACK_LANGUAGE, form).term);
    const terms = [...new Set([...ofScope, foldAccents(word), ...ofForms])];
    // "limit" and "limits" ask for one thing.
    const key = terms[0] ?? word;
    if (found.has(key)) continue;
    const { isStopWord } = stemOf(language, asked);
    const isName = names.has(word);
    const usual = isName && names.size >= NAMES_OF_SEVERAL ? SHARE_OF_SEVERAL : 1;
    const share = !isStopWord ? usual : QUESTION_WORD.test(word) ? QUESTION_WORD_SHARE : STOP_WORD_SHARE;
    found.set(key, { ...USUAL, word, terms, position, isStopWord, isName, share });
  }
  return [...found.values()];
}

/** Words with a capital that do not begin a sentence, and words with a number in them. */
function namesOf(query: string): ReadonlySet<string> {
  const found = query.matchAll(/(?<=[^.!?\s]\s+["'“‘(]?)\p{Lu}[\p{L}\p{M}'’-]*|[\p{L}_-]*\d[\p{L}\d_-]*/gu);
  return new Set(Array.from(found, ([name]) => wordsOf(name).map(({ text }) => text)).flat());
}

/** The most exact of what is named: who asks for a day does not ask for its month. */
function dateTerms(text: string, askedAt: Date): QueryTerm[] {
  const dates = dateTermsOf(text, askedAt);
  const isPart = (term: string): boolean => dates.some((other) => other.length > term.length && other.startsWith(term));
  const exact = [...dates.filter((term) => !isPart(term)), ...yearTermsOf(text)];
  const date = { ...USUAL, position: -1, isDate: true, share: DATE_SHARE };
  return [...new Set(exact)].map((term) => Object.assign({}, date, { word: term, terms: [term] }));
}

/** Shorter words are like too many others. Characters. */
const SHORTEST_WORD = 3;
/** What a word counts that holds the one asked for as a part: of an identifier, a hash or a compound. */
const SIMILARITY_OF_PART = 0.6;
/** A word begins or ends with it; shorter ones do so by chance. Characters. */
const SHORTEST_PART = 5;
const MOST_SIMILAR = 5;
/** Pairs that one Chinese character may stand for. */
const MOST_PAIRS = 100;

/** Words of the agent's passages that a word may be meant for which none of them has: of like letters, or with it as a part. */
async function similarWords(
  sql: Database,
  { tenant, agent }: SearchedScope,
  { word, terms }: { readonly word: string; readonly terms: readonly string[] },
): Promise<Pick<QueryTerm, 'terms' | 'frequency' | 'share'>> {
  const isCharacter = isUnspacedCharacter(word);
  const letters = foldAccents(word);
  const stem = terms[0] ?? letters;
  const part = likePart(letters);
  // "art" in "apartment" is chance, and in `retry_art` it is not.
  const isPart = isCharacter
    ? sql`true`
    : sql`(f.term ~ '[0-9_./:@-]' or ${letters.length >= SHORTEST_PART} and (
        starts_with(f.term, ${letters}) or right(f.term, ${letters.length}) = ${letters}))`;
  const swaps = Array.from(
    letters,
    (letter, at) => `${letters.slice(0, at)}${letters.charAt(at + 1)}${letter}${letters.slice(at + 2)}`,
  );
  // An array, and no subquery: beside "or" Postgres would compare all terms of the agent.
  const swapped = sql`array(
    select coalesce((ts_lexize('english_stem', w))[1], w) from unnest(${swaps}::text[]) as w)`;
  // A look into the index for each: equal ones would be looked for twice.
  const isStemAlike = stem === letters ? sql`` : sql`or f.term % ${stem}`;
  const isAlike = isCharacter ? sql`false` : sql`f.term % ${letters} ${isStemAlike} or f.term = any(${swapped})`;
  const rows = await sql<{ term: string; passages: number; similarity: number }[]>`
    select term, passages, similarity from (
      select f.term, f.passages, case when f.term like ${part} and ${isPart} then ${SIMILARITY_OF_PART}::float8
        when f.term = any(${swapped}) then 1::float8
        else greatest(similarity(f.term, ${stem}), similarity(f.term, ${letters}))::float8 end as similarity
      from searched_terms f
      where f.tenant = ${tenant} and f.agent = ${agent} and f.term !~ '^@' and f.passages > 0
        and (f.term like ${part} or ${isAlike}) and ts_lexize('english_stem', f.term) is distinct from '{}') as l
    where similarity >= ${SMALLEST_SIMILARITY}
    order by similarity desc, passages desc, term limit ${isCharacter ? MOST_PAIRS : MOST_SIMILAR}`;
  return {
    terms: rows.map(({ term }) => term),
    frequency: rows.reduce((sum, { passages }) => sum + passages, 0),
    share: rows[0]?.similarity ?? 0,
  };
}
