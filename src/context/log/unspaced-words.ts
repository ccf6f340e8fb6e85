/**
 * Pattern of a stretch of scripts that write words without spaces between them. Kana with the signs that both kinds share: by
 * `Script` alone the `ー` of most loanwords would be of no script, and end the stretch.
 */
const UNSPACED = String.raw`[\p{Script=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+`;
const HAS_UNSPACED = new RegExp(UNSPACED, 'u');
/** Takes a word apart into stretches with and without spaces, by turns: `文件txt` is two. */
const STRETCHES = new RegExp(`(${UNSPACED})`, 'u');
/** Kana and Hangul letters of half the width, whose marks of voice stand behind them: `ﾊﾞ`. */
const HALF_WIDTH = /[\uFF66-\uFFDC]+/gu;
const SURROGATE = /[\uD800-\uDFFF]/;

/**
 * What a pattern finds in a text, with scripts that have no spaces by pairs of characters: a whole clause of Chinese would be
 * one word otherwise, and equal to no other.
 *
 * @param pattern of words, with the flags `g` and `u`
 */
export function wordsIn(text: string, pattern: RegExp): string[] {
  // One look at the whole text: most have no such script, and many are long.
  if (!HAS_UNSPACED.test(text)) return text.match(pattern) ?? [];
  const found: string[] = inFullWidth(text).match(pattern) ?? [];
  const words: string[] = [];
  for (const word of found) addWithPairs(words, word);
  return words;
}

/** Kana and Hangul as they are mostly written: `ｻｰﾊﾞｰ` is `サーバー`. Shorter, where marks of voice join their letters. */
export function inFullWidth(text: string): string {
  return text.replaceAll(HALF_WIDTH, (letters) => letters.normalize('NFKC'));
}

export function isUnspaced(word: string): boolean {
  return HAS_UNSPACED.test(word);
}

/** Stretches without and with such characters, by turns; the first and the last may be empty. */
export function stretchesOf(word: string): string[] {
  return word.split(STRETCHES);
}

/** Without arrays of its own where it can: a tool may return megabytes. */
function addWithPairs(words: string[], word: string): void {
  if (!HAS_UNSPACED.test(word)) {
    words.push(word);
    return;
  }
  for (const [index, stretch] of stretchesOf(word).entries()) {
    if (index % 2 === 1) addPairs(words, stretch);
    else if (stretch !== '') words.push(stretch);
  }
}

function addPairs(words: string[], stretch: string): void {
  const characters = SURROGATE.test(stretch) ? Array.from(stretch) : stretch;
  if (characters.length === 1) words.push(stretch);
  for (let index = 1; index < characters.length; index += 1) {
    words.push(`${characters[index - 1] ?? ''}${characters[index] ?? ''}`);
  }
}

/** The pairs of neighbours in a stretch of such characters; of one character itself. */
export function pairsOf(stretch: string): string[] {
  const pairs: string[] = [];
  addPairs(pairs, stretch);
  return pairs;
}
