import { placesOf, spellingOf } from '../../../context/log/one-spelling.ts';
import type { Stretch } from '../../../context/log/one-spelling.ts';
import { UNSPACED } from '../../../context/log/unspaced-words.ts';
import { characterEnd, characterStart } from '../../../tools/files/text.ts';

/** Which of the forms stand in a text as whole words. */
export function formsIn(text: string, forms: readonly string[]): ReadonlySet<string> {
  return new Set(wholeWords(text, forms).map(({ form }) => form));
}

/**
 * The text with every form in it marked: forms that overlap (pairs of Chinese characters, a phrase and its words) together, and no
 * character without its accents or without the rest of an emoji.
 */
export function setOff(text: string, forms: readonly string[], mark: (found: string) => string): string {
  let marked = '';
  let end = 0;
  for (const stretch of joined(text, wholeWords(text, forms))) {
    marked += text.slice(end, stretch.from) + mark(text.slice(stretch.from, stretch.end));
    ({ end } = stretch);
  }
  return marked + text.slice(end);
}

interface FoundWord extends Stretch {
  readonly form: string;
}

function wholeWords(text: string, forms: readonly string[]): FoundWord[] {
  const spelling = spellingOf(text);
  return forms.flatMap((form) =>
    placesOf(form, spelling)
      .filter((stretch) => isWhole(text, stretch))
      .map(({ from, end }) => ({ form, from, end })),
  );
}

/** In whole characters, each behind the one before it. */
function joined(text: string, found: readonly Stretch[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const each of found.toSorted((one, other) => one.from - other.from)) {
    const [from, end] = [characterStart(text, each.from), characterEnd(text, each.end)];
    const last = stretches.at(-1);
    if (last === undefined || from > last.end) stretches.push({ from, end });
    else stretches.splice(-1, 1, { from: last.from, end: Math.max(last.end, end) });
  }
  return stretches;
}

/** A letter with its accents takes no more code units, but in texts that nobody could read. */
const LONGEST_LETTER = 8;

/** Of a script whose words end somewhere: beside `数据`, `API` is a word of its own. */
const SPACED = String.raw`(?!${UNSPACED})\p{L}`;
const ENDS_IN_LETTER = new RegExp(String.raw`${SPACED}\p{M}*$`, 'u');
const BEGINS_WITH_LETTER = new RegExp(String.raw`^\p{M}*${SPACED}`, 'u');

/** Not inside another word. In identifiers a capital begins a part; scripts without spaces have no ends of words. */
function isWhole(text: string, { from, end }: Stretch): boolean {
  const found = text.slice(from, end);
  if (!/^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/u.test(found)) return true;
  const joins = (left: string, right: string): boolean =>
    ENDS_IN_LETTER.test(left) &&
    BEGINS_WITH_LETTER.test(right) &&
    !(/\p{Ll}\p{M}*$/u.test(left) && /^\p{M}*\p{Lu}/u.test(right));
  const before = text.slice(Math.max(0, from - LONGEST_LETTER), from);
  return !joins(before, found) && !joins(found, text.slice(end, end + LONGEST_LETTER));
}
