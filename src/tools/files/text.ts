/** Drops half of a surrogate pair that a cut left at either end of a text. */
export function wholeCharacters(text: string): string {
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  return text.slice(isSecondHalf(first) ? 1 : 0, isFirstHalf(last) ? -1 : text.length);
}

export interface TextPage {
  /** Of its first code unit. */
  readonly from: number;
  readonly text: string;
}

/**
 * So many code units of a text from a place on, but no half of a surrogate pair: it begins and ends before the pair that it would cut, or
 * behind it where nothing would be left. Pages that begin where the one before ended are the text.
 */
export function wholePage(text: string, offset: number, limit: number): TextPage {
  const from = isWithinPair(text, offset) ? offset - 1 : offset;
  const end = offset + limit;
  if (!isWithinPair(text, end)) return { from, text: text.slice(from, end) };
  return { from, text: text.slice(from, end - 1 > from ? end - 1 : end + 1) };
}

function isWithinPair(text: string, place: number): boolean {
  return isFirstHalf(text.charCodeAt(place - 1)) && isSecondHalf(text.charCodeAt(place));
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isSecondHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** A number with its unit, as English wants it: `1 line`, `2 lines`. */
export function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
