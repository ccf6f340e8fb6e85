/** Scripts that write words without spaces between them, as the search index takes them. */
const UNSPACED = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+`;
const HAS_UNSPACED = new RegExp(UNSPACED, 'u');
/** A word's stretches with and without spaces: `文件txt` is two. */
const STRETCHES = new RegExp(`(?<unspaced>${UNSPACED})|(?:(?!${UNSPACED}).)+`, 'gu');

/**
 * What a pattern finds in a text, with scripts that have no spaces by pairs of characters: a whole clause of Chinese would be
 * one word otherwise, and equal to no other.
 *
 * @param pattern of words, with the flags `g` and `u`
 */
export function wordsIn(text: string, pattern: RegExp): string[] {
  const words: string[] = text.match(pattern) ?? [];
  // One look at the whole text: most have no such script, and many are long.
  return HAS_UNSPACED.test(text) ? words.flatMap(withPairs) : words;
}

/** Whether a word has characters of these scripts. */
export function isUnspaced(word: string): boolean {
  return HAS_UNSPACED.test(word);
}

function withPairs(word: string): string[] {
  if (!HAS_UNSPACED.test(word)) return [word];
  return [...word.matchAll(STRETCHES)].flatMap(({ 0: stretch, groups }) =>
    groups?.['unspaced'] === undefined ? [stretch] : characterPairs(stretch),
  );
}

function characterPairs(stretch: string): string[] {
  const characters = Array.from(stretch);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`);
}
