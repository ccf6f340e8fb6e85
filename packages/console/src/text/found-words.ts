/** Characters in which words count as said together. */
const TOGETHER = 160;

/** Any of the words. A number is no part of a longer one. */
export function wordsOf(forms: readonly string[]): RegExp {
  const patterns = forms.map((form) => {
    const escaped = form.replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`);
    return /^\d+$/u.test(form) ? `(?<!\\d)${escaped}(?!\\d)` : escaped;
  });
  return new RegExp(`(${patterns.join('|')})`, 'giu');
}

/** Where most of the words are said together, the first such place; -1: none is said. */
export function densestPlace(text: string, words: RegExp): number {
  const said = [...text.matchAll(words)].map(({ 0: word, index }) => ({ word: word.toLowerCase(), index }));
  let place = -1;
  let most = 0;
  for (const [first, { index }] of said.entries()) {
    const together = new Set<string>();
    for (const other of said.slice(first)) {
      if (other.index > index + TOGETHER) break;
      together.add(other.word);
    }
    if (together.size <= most) continue;
    most = together.size;
    place = index;
  }
  return place;
}
