import { placesOf, quoteTerm } from './passage-terms.ts';
import type { RankedCandidate } from './candidate.ts';
import { isEmoji } from './emoji.ts';
import { foldAccents, wordsAt } from './words.ts';
import type { Word } from './words.ts';

/**
 * Words of a passage that words of the query stand for, as they are written there, in lower case. The index knows at which
 * places of the text a term stands; of an identifier the part is meant that the term is of. Stop words only when there is nothing else.
 */
export function formsOf({ text, vector, matched }: RankedCandidate): readonly string[] {
  const words = matched.filter(({ isDate }) => !isDate);
  const telling = words.filter(({ isStopWord }) => !isStopWord);
  const terms = new Set((telling.length > 0 ? telling : words).flatMap((each) => each.terms));
  const places = new Map<number, string[]>();
  // They stand at the place of another word.
  const emoji = [...terms].filter(isEmoji);
  for (const term of emoji) terms.delete(term);
  for (const term of terms) {
    for (const place of placesOf(vector, quoteTerm(term)) ?? [])
      places.set(place, [...(places.get(place) ?? []), term]);
  }
  const byPlace = new Map<number, Word[]>();
  for (const word of wordsAt(text, places.keys()))
    byPlace.set(word.position, [...(byPlace.get(word.position) ?? []), word]);
  const forms = [...byPlace].flatMap(([place, at]) => (places.get(place) ?? []).map((term) => formAt(at, term)));
  return [...new Set([...forms, ...emoji])];
}

/** Of the whole word and its parts the one that begins most as the term does. */
function formAt(words: readonly Word[], term: string): string {
  let best = words[0]?.text ?? term;
  let most = 0;
  for (const { text } of words) {
    const same = sameBeginning(foldAccents(text), term);
    const isBetter = same > most || (same === most && text.length < best.length);
    if (isBetter) [best, most] = [text, same];
  }
  return best;
}

function sameBeginning(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
