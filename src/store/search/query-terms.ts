import type { Queries } from '../database.ts';
import { dateTermsOf } from './dates.ts';
import { FALLBACK_LANGUAGE } from './languages.ts';
import type { Language } from './languages.ts';
import { stemsOf } from './stems.ts';
import { foldAccents, wordsOf } from './words.ts';

/** One thing that a query asks for: a word with its stems in the languages of the conversation, or a date. */
export interface QueryTerm {
  /** The word as it was asked for, in lower case; a date's own term. */
  readonly word: string;
  /** Terms of the index; any of them counts. */
  readonly terms: readonly string[];
  readonly isStopWord: boolean;
  readonly isDate: boolean;
  /** A name or a number: what speaks of another is of something else. */
  readonly isName: boolean;
  /** Place in the query, to see which words stand side by side. */
  readonly position: number;
}

/** Words of a query that are looked for; what comes after is too much for one question. */
const MOST_TERMS = 40;

/** What a query asks for. `askedAt`: what its relative dates ("yesterday") are relative to. */
export async function queryTermsOf(
  sql: Queries,
  query: string,
  languages: readonly Language[],
  askedAt: Date,
): Promise<QueryTerm[]> {
  const words = wordsOf(query);
  const stems = await Promise.all(
    (languages.length === 0 ? [FALLBACK_LANGUAGE] : languages).map((language) => stemsOf(sql, language, words)),
  );
  const names = namesOf(query);
  const found = new Map<string, QueryTerm>();
  for (const { text, position } of words) {
    const ofWord = stems.flatMap((each) => each.get(text) ?? []);
    const terms = [...new Set([foldAccents(text), ...ofWord.map(({ term }) => term)])];
    // "limit" and "limits" ask for one thing.
    const stem = terms.at(-1) ?? text;
    const before = found.get(stem);
    if (before !== undefined) {
      found.set(stem, { ...before, terms: [...new Set([...terms, ...before.terms])] });
      continue;
    }
    found.set(stem, {
      word: text,
      terms,
      isStopWord: ofWord.some(({ isStopWord }) => isStopWord),
      isDate: false,
      isName: names.has(text),
      position,
    });
  }
  const dates = dateTermsOf(query, askedAt).map((term): QueryTerm => {
    return { word: term, terms: [term], isStopWord: false, isDate: true, isName: false, position: -1 };
  });
  return [...found.values(), ...dates].slice(0, MOST_TERMS);
}

/** Words with a capital that do not begin a sentence, and numbers. */
function namesOf(query: string): ReadonlySet<string> {
  const found = query.matchAll(/(?<=[^.!?\s]\s+["'“‘(]?)\p{Lu}[\p{L}\p{M}'’-]*|\d+/gu);
  return new Set([...found].flatMap(([name]) => wordsOf(name).map(({ text }) => text)));
}
