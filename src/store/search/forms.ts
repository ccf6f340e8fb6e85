import { inOneSpelling, placesOf, spellingOf } from '../../context/one-spelling.ts';
import { placesOf as placesOfTerm, quoteTerm } from './passage-terms.ts';
import type { RankedCandidate } from './candidate.ts';
import { isEmoji } from './emoji.ts';
import { plain } from './phrases.ts';
import { foldAccents, wordsAt } from './words.ts';
import type { Word } from './words.ts';

/**
 * Words of a passage that words of the query stand for, in lower case and in the spelling of the index. The index knows at which
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
    for (const place of placesOfTerm(vector, quoteTerm(term)) ?? [])
      places.set(place, [...(places.get(place) ?? []), term]);
  }
  const byPlace = new Map<number, Word[]>();
  for (const word of wordsAt(text, places.keys()))
    byPlace.set(word.position, [...(byPlace.get(word.position) ?? []), word]);
  const forms = [...byPlace].flatMap(([place, at]) => (places.get(place) ?? []).map((term) => formAt(at, term)));
  return [...new Set([...forms, ...emoji])];
}

/**
 * Forms and phrases as they are written in a text, in lower case, each in all of its spellings there: `é` as two characters, letters of
 * full width. What does not stand there in a row stays as it is.
 */
export function asWritten(text: string, forms: readonly string[]): readonly string[] {
  const isWritten = writtenIn(text);
  if (forms.every(isWritten)) return forms;
  const spelling = spellingOf(text);
  return forms.flatMap((form) => {
    if (isWritten(form)) return [form];
    const found = placesOf(form, spelling).map(({ from, end }) => plain(text.slice(from, end)));
    return found.length === 0 ? [form] : [...new Set(found)];
  });
}

/** Whether a form stands in the text in no other spelling than its own: most do, and nobody has to look where. */
function writtenIn(text: string): (form: string) => boolean {
  const isAlone = (form: string): boolean => inOneSpelling(form) === form;
  const [lower, spelled] = [text.toLowerCase(), inOneSpelling(text)];
  if (lower === spelled) return isAlone;
  const [written, other] = [plain(lower), plain(spelled)];
  return (form) => isAlone(form) && written.split(form).length === other.split(form).length;
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
