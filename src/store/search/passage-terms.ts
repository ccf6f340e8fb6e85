import { dateTermsOf, timeTermsOf, yearTermOf } from './dates.ts';
import { headingOf, pastTimeOf } from './heading.ts';
import type { Stem } from './stems.ts';
import type { Word } from './words.ts';

/** Terms that are no words begin with this; no word does. */
const MARK = '@';

/** Postgres stores no place beyond this (src/include/tsearch/ts_type.h). */
const LAST_PLACE = 16_383;

export function isWordTerm(term: string): boolean {
  return !term.startsWith(MARK);
}

/** Terms of a passage with the places at which they stand. */
export type PassageTerms = ReadonlyMap<string, readonly number[]>;

/** Its words by their stems, the dates that it names and the time at which it was written; a time at its head says when it was said. */
export function passageTerms(
  { text, words }: { readonly text: string; readonly words: readonly Word[] },
  stems: ReadonlyMap<string, Stem>,
  writtenAt: Date,
): Map<string, number[]> {
  const terms = new Map<string, number[]>();
  for (const { text: word, position } of words) {
    const term = stems.get(word)?.term ?? word;
    const places = terms.get(term);
    if (places === undefined) terms.set(term, [position]);
    else if (places.at(-1) !== position) places.push(position);
  }
  const saidAt = pastTimeOf(headingOf(text), writtenAt) ?? writtenAt;
  for (const term of [...timeTermsOf(writtenAt), ...dateTermsOf(text, saidAt)]) {
    terms.set(term, []);
    // Who asks for "last year" asks for all of its days; who asks for a day does not ask for its year.
    const year = yearTermOf(term);
    if (year !== null) terms.set(year, []);
  }
  return terms;
}

/** A tsvector as Postgres reads it. */
export function toVector(terms: PassageTerms): string {
  const lexemes: string[] = [];
  for (const [term, places] of terms) {
    const kept = places.filter((place) => place <= LAST_PLACE);
    lexemes.push(kept.length === 0 ? quoteTerm(term) : `${quoteTerm(term)}:${kept.join(',')}`);
  }
  return lexemes.join(' ');
}

/** A lexeme as tsvector and tsquery understand it, whatever characters it has. */
export function quoteTerm(term: string): string {
  return `'${term.replaceAll(/['\\]/gu, String.raw`$&$&`)}'`;
}

const QUOTE = "'";

/** Where a term, as `quoteTerm` gives it, stands in a tsvector as Postgres writes it; `null` when it does not. */
export function placesOf(vector: string, quoted: string): readonly number[] | null {
  // Not with the quote first: that stands before every term, and the search would stop at each.
  const sought = quoted.slice(1);
  for (let from = 0; ;) {
    const found = vector.indexOf(sought, from) - 1;
    if (found < 0) return null;
    const end = found + quoted.length;
    const isWhole =
      vector[found] === QUOTE &&
      (found === 0 || vector[found - 1] === ' ') &&
      (end === vector.length || vector[end] === ':' || vector[end] === ' ');
    if (!isWhole) {
      from = end;
      continue;
    }
    if (vector[end] !== ':') return [];
    const stop = vector.indexOf(' ', end);
    return vector
      .slice(end + 1, stop < 0 ? undefined : stop)
      .split(',')
      .map(Number);
  }
}

const [QUOTE_CODE, COLON_CODE, SPACE_CODE, COMMA_CODE, ZERO_CODE, NINE_CODE] = [39, 58, 32, 44, 48, 57];

/**
 * Goes through the words of a tsvector as Postgres writes it, those that stand at any place. By character, because a search
 * reads tens of thousands of them. A weight behind a place is passed over.
 */
export function visitWords(vector: string, visit: (term: string, places: readonly number[]) => void): void {
  for (let at = 0; at < vector.length; at += 1) {
    const start = at + 1;
    let hasQuotes = false;
    for (at = start; at < vector.length; at += 1) {
      if (vector.charCodeAt(at) !== QUOTE_CODE) continue;
      if (vector.charCodeAt(at + 1) !== QUOTE_CODE) break;
      hasQuotes = true;
      at += 1;
    }
    const end = at;
    at += 1;
    if (vector.charCodeAt(at) !== COLON_CODE) continue;
    const places: number[] = [];
    let place = 0;
    for (at += 1; at < vector.length; at += 1) {
      const code = vector.charCodeAt(at);
      if (code >= ZERO_CODE && code <= NINE_CODE) place = 10 * place + code - ZERO_CODE;
      else if (code === COMMA_CODE) {
        places.push(place);
        place = 0;
      } else if (code === SPACE_CODE) break;
    }
    places.push(place);
    const term = vector.slice(start, end);
    visit(hasQuotes ? term.replaceAll("''", "'") : term, places);
  }
}
