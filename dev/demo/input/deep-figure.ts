/** A number in a text, and the words right before it, which stand there only once. */
export interface DeepFigure {
  readonly anchor: string;
  readonly value: string;
  /** Where the number stands, as a fraction of the text. */
  readonly depth: number;
}

/** Before this fraction of a text, and behind the other, stands what every excerpt shows. */
const SHALLOWEST = 0.4;
const DEEPEST = 0.95;

/** Characters of the words before the number: long enough to be unmistakable, short enough to be read. */
const SHORTEST_ANCHOR = 8;
const LONGEST_ANCHOR = 48;

/** A number that is no part of a word, a version or a longer number; `=` at a line's end is where quoted-printable breaks it. */
const NUMBER =
  /(?<![\p{Letter}\d.,_+-])\d{1,3}(?:,\d{3})+(?![\d,])|(?<![\p{Letter}\d.,_+-])\d{1,7}(?:\.\d{1,4})?(?![\p{Letter}\d_]|[.,]\d|=$)/gu;

/** What may stand between the words and their number. */
const BETWEEN = /[\s("'`=:~*#$[\]<>/]*$/u;

/** Words that can be quoted in a sentence and found by a search. */
const QUOTABLE = /^[A-Za-z][A-Za-z ,.'()/:=_*`&-]*[A-Za-z)`*]$/u;

/** All texts of a job as searches see them: without regard to case. */
export function searchedText(texts: readonly string[]): string {
  return texts.join('\n').toLowerCase();
}

/**
 * The number that a reader can be asked for without doubt and that stands deepest in a text; one of
 * several digits, which nobody guesses, before a single digit. `null` when there is none.
 * @param searched all texts of the job, from `searchedText`: the words before the number stand in them only once, so that
 * a search for them finds this text and no other
 */
export function deepFigure(text: string, searched: string): DeepFigure | null {
  const numbers = deepNumbers(text);
  const deepestFirst = numbers.toReversed();
  const order = [
    ...deepestFirst.filter(({ value }) => value.length > 1),
    ...deepestFirst.filter(({ value }) => value.length === 1),
  ];
  for (const { before, value, depth } of order) {
    const anchor = anchorBefore(
      before,
      (words) => occursOnce(text, words) && occursOnce(searched, words.toLowerCase()),
    );
    if (anchor !== null) return { anchor, value, depth };
  }
  return null;
}

interface FoundNumber {
  readonly value: string;
  /** The beginning of its line. */
  readonly before: string;
  readonly depth: number;
}

function deepNumbers(text: string): FoundNumber[] {
  const found: FoundNumber[] = [];
  let position = 0;
  for (const line of text.split('\n')) {
    const start = position;
    position += line.length + 1;
    if (start < text.length * SHALLOWEST || start > text.length * DEEPEST) continue;
    for (const match of line.matchAll(NUMBER)) {
      found.push({ value: match[0], before: line.slice(0, match.index), depth: (start + match.index) / text.length });
    }
  }
  return found;
}

function occursOnce(text: string, words: string): boolean {
  const position = text.indexOf(words);
  return position !== -1 && !text.includes(words, position + 1);
}

/** The fewest words at the end of `before` that name the place. */
function anchorBefore(before: string, isUnique: (words: string) => boolean): string | null {
  const words = before
    .slice(-2 * LONGEST_ANCHOR)
    .replace(BETWEEN, '')
    .split(' ');
  // The first of the words may be the end of one.
  for (let first = words.length - 1; first >= (before.length > 2 * LONGEST_ANCHOR ? 1 : 0); first -= 1) {
    const anchor = words.slice(first).join(' ');
    if (anchor.length > LONGEST_ANCHOR) return null;
    if (anchor.length < SHORTEST_ANCHOR || !QUOTABLE.test(anchor)) continue;
    if (isUnique(anchor)) return anchor;
  }
  return null;
}
