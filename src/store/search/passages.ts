/** Characters of a passage: a few sentences, so that a hit says what it is about and costs little to show. */
export const PASSAGE_CHARACTERS = 1_000;

export interface Passage {
  /** Characters (UTF-16 code units) from the start of the whole text. */
  readonly offset: number;
  readonly text: string;
}

/** Cuts a text into passages at line ends or spaces where there are any; nothing is left out but blank passages. */
export function splitPassages(text: string, offset = 0): Passage[] {
  const passages: Passage[] = [];
  let start = 0;
  while (start < text.length) {
    const end = passageEnd(text, start);
    const piece = text.slice(start, end);
    if (piece.trim() !== '') passages.push({ offset: offset + start, text: piece });
    start = end;
  }
  return passages;
}

/**
 * Up to the last place at which a text without spaces parts: Chinese and Japanese, and code that a machine made short, at a mark
 * between clauses; lists and queries of URLs at a mark that stands in no name; paths and hosts at any mark. No identifier is cut
 * that has letters, digits, `_` and `-` alone.
 */
const PARTS = [
  /^.*[。．！？；，、,;{}()]/su,
  /^.*[^\p{L}\p{N}\p{M}\p{Cs}\p{Cf}_\-.:/@+~%#]/su,
  /^.*[^\p{L}\p{N}\p{M}\p{Cs}\p{Cf}_-]/su,
];

/**
 * In the second half of the passage, after the last line end, else the last space, else the last mark, else in
 * mid-word but never inside a pair of surrogates.
 */
function passageEnd(text: string, start: number): number {
  const limit = start + PASSAGE_CHARACTERS;
  if (limit >= text.length) return text.length;
  const earliest = start + PASSAGE_CHARACTERS / 2;
  // Looked for here alone: in a text of one line the whole beginning would be searched for each passage.
  const half = text.slice(earliest, limit);
  for (const separator of ['\n', ' ']) {
    const found = half.lastIndexOf(separator);
    if (found !== -1) return earliest + found + 1;
  }
  for (const part of PARTS) {
    const [upToMark] = part.exec(half) ?? [];
    if (upToMark !== undefined) return earliest + upToMark.length;
  }
  const splitsPair = (text.codePointAt(limit - 1) ?? 0) > 0xff_ff;
  return splitsPair ? limit - 1 : limit;
}
