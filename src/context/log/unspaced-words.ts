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

const WORD = /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*/gu;

/**
 * The words of a text, with scripts that have no spaces by pairs of characters: a whole clause of Chinese would be one word
 * otherwise, and equal to no other.
 */
export function wordsIn(text: string): string[] {
  const found: readonly string[] = inFullWidth(text).match(WORD) ?? [];
  return found.flatMap((word) => {
    if (!HAS_UNSPACED.test(word)) return word;
    return stretchesOf(word).flatMap((stretch, index) =>
      index % 2 === 1 ? pairsOf(stretch) : stretch === '' ? [] : stretch,
    );
  });
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

/** The pairs of neighbours in a stretch of such characters; of one character itself. */
export function pairsOf(stretch: string): string[] {
  const characters = Array.from(stretch);
  if (characters.length === 1) return [stretch];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
