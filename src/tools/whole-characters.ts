/** Drops half of a surrogate pair that a cut left at either end of a text. */
export function wholeCharacters(text: string): string {
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  const from = first >= 0xdc00 && first <= 0xdfff ? 1 : 0;
  return text.slice(from, last >= 0xd800 && last <= 0xdbff ? -1 : text.length);
}
