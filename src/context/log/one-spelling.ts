/**
 * Texts write one letter in several ways: `é` as one character or as two (names of files on macOS), kana of half the width, letters of
 * full width, ligatures. The index knows one spelling, NFKC in lower case; what looks for its words in a text as it was stored
 * compares that spelling, and has to know where in the text it stands.
 */
const ASCII = /^[\0-\x7f]*$/;
/**
 * Written as one letter with what precedes them: accents and vowel signs, vowels and finals of Hangul of any width, marks of voice of
 * half-width kana.
 */
const JOINED = String.raw`[\p{M}\u1160-\u11ff\u3133\u3135\u3136\u313a-\u313f\u314f-\u3164\uff9e-\uffa0\uffa3\uffa5\uffa6\uffaa-\uffaf\uffc2-\uffdc]`;
/** Have one spelling where nothing is joined with them: most of what is written. Only to be passed over faster. */
const USUAL = String.raw`\0-\x7f\xc0-\xff\u0391-\u03a1\u03a3-\u03c9\u0400-\u045f\u2013\u2014\u2018-\u2022\u3001-\u3003\u3008-\u3011\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff\uac00-\ud7a3`;
/** A letter that may have another spelling, with all that is joined with it. */
const LETTER = new RegExp(`[${USUAL}]${JOINED}+|[^${USUAL}]${JOINED}*`, 'gu');
const ONLY_MARKS = /^\p{M}*$/u;

/** Code units of a text from one place to, not with, another. */
export interface Stretch {
  readonly from: number;
  readonly end: number;
}

/** A text in one spelling, with the places of its letters in the original. */
export interface Spelling {
  readonly text: string;
  /** Whether each place is the same in the original. */
  readonly isInPlace: boolean;
  /**
   * What a stretch of it is in the original, letters with all their marks; `null` where it has only a part of what the original
   * writes as one character (`k` of `㎏`).
   */
  readonly original: (stretch: Stretch) => Stretch | null;
}

/** As the index spells it: NFKC, in lower case. */
export function inOneSpelling(text: string): string {
  return (ASCII.test(text) ? text : text.normalize('NFKC')).toLowerCase();
}

export function spellingOf(text: string): Spelling {
  const lower = text.toLowerCase();
  // In lower case `İ` is two.
  if (ASCII.test(text) || (lower.length === text.length && text.normalize('NFKC') === text)) {
    return { text: lower, isInPlace: true, original: (stretch) => stretch };
  }
  return withPlaces(text);
}

function withPlaces(text: string): Spelling {
  const pieces: string[] = [];
  const letters: SpelledLetter[] = [];
  let [done, at] = [0, 0];
  const passOver = (end: number): void => {
    pieces.push(text.slice(done, end).toLowerCase());
    at += end - done;
    done = end;
  };
  for (const { 0: letter, index } of text.matchAll(LETTER)) {
    if (index > done) passOver(index);
    const spelled = inOneSpelling(letter);
    pieces.push(spelled);
    done = index + letter.length;
    letters.push({ from: at, end: at + spelled.length, original: { from: index, end: done } });
    at += spelled.length;
  }
  passOver(text.length);
  const joined = pieces.join('');
  const whole = inOneSpelling(text);
  // The whole knows where a word ends, for the sigma there; it is shorter only where rarer scripts join letters that are no marks.
  const spelling = whole.length === joined.length ? whole : joined;
  return { text: spelling, isInPlace: false, original: (stretch) => originalOf(stretch, spelling, letters) };
}

interface SpelledLetter extends Stretch {
  readonly original: Stretch;
}

function originalOf({ from, end }: Stretch, spelling: string, letters: readonly SpelledLetter[]): Stretch | null {
  const before = letterBefore(letters, from + 1);
  const behind = letterBefore(letters, end);
  if (before !== undefined && before.from < from && from < before.end) return null;
  const first = before?.from === from ? before.original.from : inOriginal(from, before);
  if (behind === undefined || behind.end <= end) return { from: first, end: inOriginal(end, behind) };
  return ONLY_MARKS.test(spelling.slice(end, behind.end)) ? { from: first, end: behind.original.end } : null;
}

function letterBefore(letters: readonly SpelledLetter[], place: number): SpelledLetter | undefined {
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((letters[middle]?.from ?? Infinity) < place) low = middle + 1;
    else high = middle;
  }
  return letters[low - 1];
}

function inOriginal(place: number, letter: SpelledLetter | undefined): number {
  return letter === undefined ? place : place - letter.end + letter.original.end;
}

/**
 * Everywhere that a form of a word, or a phrase, stands in the original, whatever their spellings, also where two places overlap; within
 * words too. White space of the phrase stands for any.
 */
export function placesOf(form: string, { text, original }: Spelling): Stretch[] {
  const sought = inOneSpelling(form).trim();
  return (/\s/u.test(sought) ? placesOfRow(text, sought) : placesOfWord(text, sought)).flatMap(
    (stretch) => original(stretch) ?? [],
  );
}

function placesOfWord(text: string, word: string): Stretch[] {
  const places: Stretch[] = [];
  if (word === '') return places;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    places.push({ from: at, end: at + word.length });
  }
  return places;
}

function placesOfRow(text: string, row: string): Stretch[] {
  const words = row.split(/\s+/u).map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`));
  const found = text.matchAll(new RegExp(words.join(String.raw`\s+`), 'gu'));
  return [...found].map(({ 0: { length }, index }) => ({ from: index, end: index + length }));
}
