/**
 * As the index spells a text: NFKC, in lower case. Texts write one letter in several ways: `é` as one character or as two (names of
 * files on macOS), kana of half the width, letters of full width, ligatures.
 */
export function inOneSpelling(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/**
 * Finds words and phrases in a text of the same spelling, whatever their case, within words too; of those that begin at the same place
 * the longest. White space of a phrase stands for any.
 */
export function patternOf(forms: readonly string[]): RegExp {
  const longestFirst = forms.toSorted((one, other) => other.length - one.length);
  const sources = longestFirst.map((form) =>
    form.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`).replaceAll(/\s+/gu, String.raw`\s+`),
  );
  return new RegExp(sources.join('|') || '(?!)', 'giu');
}
