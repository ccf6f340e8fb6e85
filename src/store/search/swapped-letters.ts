import type { Queries } from '../database.ts';
import type { LikeWord } from './like-letters.ts';
import { FALLBACK_LANGUAGE } from './languages.ts';
import type { QueryTerm } from './query-terms.ts';
import type { SearchedScope } from './scope.ts';
import { stemsOf } from './stems.ts';
import { countPassages } from './weigh-terms.ts';

const LETTERS_ONLY = /^\p{L}+$/u;
/** Two letters in another order make another word of most shorter ones. */
const SHORTEST_WORD = 4;
/** Places, the first of a word, at which letters are swapped: of longer words enough is alike as it is. */
const MOST_PLACES = 12;
/** Words of a query that are looked at. */
const MOST_WORDS = 5;
/** As one word that contains another. */
const SIMILARITY = 0.7;

export interface CountedWord extends LikeWord {
  /** That have it. */
  readonly passages: number;
}

/**
 * Words in scope that have two neighbouring letters of another in the other order, by that word: at its beginning, or in a short one, so
 * little is alike then that nothing else finds them ("lnaguages").
 */
export async function wordsOfSwappedLetters(
  sql: Queries,
  scope: SearchedScope,
  terms: readonly QueryTerm[],
): Promise<ReadonlyMap<string, readonly CountedWord[]>> {
  const sought = terms
    .filter(({ word }) => LETTERS_ONLY.test(word) && Array.from(word).length >= SHORTEST_WORD)
    .slice(0, MOST_WORDS)
    .map(({ word }) => ({ word, others: swapped(word) }));
  if (sought.length === 0) return new Map();
  const words = sought.flatMap(({ others }) => others.map((text) => ({ text, isPlain: true, position: -1 })));
  const languages = scope.languages.length === 0 ? [FALLBACK_LANGUAGE] : scope.languages;
  const stems = await Promise.all(languages.map((language) => stemsOf(sql, language, words)));
  const termsOf = (others: readonly string[]): readonly string[] => {
    const found = others.map((other) => stems.flatMap((each) => each.get(other) ?? []));
    // What was mistyped is seldom one of the words that are in every sentence.
    return [
      ...new Set(
        found
          .filter((each) => each.every(({ isStopWord }) => !isStopWord))
          .flat()
          .map(({ term }) => term),
      ),
    ];
  };
  const counts = await countPassages(sql, scope, termsOf(words.map(({ text }) => text)));
  return new Map(
    sought.map(({ word, others }) => [
      word,
      termsOf(others).flatMap((term) => {
        const passages = counts.get(term) ?? 0;
        return passages === 0 ? [] : [{ term, similarity: SIMILARITY, passages }];
      }),
    ]),
  );
}

/** The word with each two neighbouring letters in the other order. */
function swapped(word: string): string[] {
  const letters = Array.from(word);
  return letters.slice(1, 1 + MOST_PLACES).flatMap((letter, at) => {
    const before = letters[at] ?? '';
    return letter === before ? [] : [[...letters.slice(0, at), letter, before, ...letters.slice(at + 2)].join('')];
  });
}
