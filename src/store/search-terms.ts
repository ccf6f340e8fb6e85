/**
 * Words for the search index and for queries, by the same rules, so that they meet. Postgres's own
 * parser keeps `src/store/errors.ts` as one word and finds none in Chinese; here identifiers also
 * count by their parts, and scripts without spaces by pairs of characters. Dictionaries are not used:
 * a conversation has no language.
 */

/** Characters of a term; longer runs (base64, hashes) are found by likeness of letters instead. */
const LONGEST_TERM = 64;

const WORD = /[\p{L}\p{N}_]+(?:[.\-/:@][\p{L}\p{N}_]+)*/gu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+/gu;
/** `fooBarBaz`, `HTTPServer2`: words, capitals in a row, numbers. */
const IDENTIFIER_PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{Lo}+/gu;

/** Distinct terms of a text, lower case. */
export function searchTerms(text: string): string[] {
  const terms = new Set<string>();
  const add = (term: string): void => {
    if (term.length > 0 && term.length <= LONGEST_TERM) terms.add(foldCase(term));
  };
  for (const [run] of text.matchAll(UNSPACED)) for (const pair of characterPairs(run)) add(pair);
  for (const [word] of text.replaceAll(UNSPACED, ' ').matchAll(WORD)) {
    add(word);
    const parts = word.split(/[^\p{L}\p{N}]+/u);
    if (parts.length > 1) parts.forEach(add);
    for (const part of parts) {
      const pieces = [...part.matchAll(IDENTIFIER_PARTS)].map(([piece]) => piece);
      if (pieces.length > 1) pieces.forEach(add);
    }
  }
  return [...terms];
}

/** Lower case, accents off: `Café` and `cafe` are one word. */
function foldCase(term: string): string {
  return term.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

function characterPairs(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`);
}

/**
 * Words so common that a query is better off without them, unless it has no others. English only:
 * in other languages the rarity of words does the same, more slowly.
 */
const COMMON = new Set(
  'a an and are as at be been but by can could did do does for from had has have he her him his how i if in is it its me my of on or our she so that the their them then there they this to was we were what when where which who why will with would you your'.split(
    ' ',
  ),
);

export function queryTerms(query: string): string[] {
  const terms = searchTerms(query);
  const telling = terms.filter((term) => !COMMON.has(term));
  return telling.length > 0 ? telling : terms;
}
