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
/** A letter with all that is joined with it. */
const LETTER = new RegExp(`.${JOINED}*`, 'gsu');
const ONLY_MARKS = /^\p{M}*$/u;

/** Code units of a text from one place to, not with, another. */
export interface Stretch {
  readonly from: number;
  readonly end: number;
}

/** A text in one spelling, with the places of its letters in the original. */
export interface Spelling {
  readonly text: string;
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
    return { text: lower, original: (stretch) => stretch };
  }
  return withPlaces(text);
}

function withPlaces(text: string): Spelling {
  const pieces: string[] = [];
  /** Of each code unit of the spelling, the letter of the original that it belongs to; behind the last one the end. */
  const letters: Stretch[] = [];
  for (const { 0: letter, index } of text.matchAll(LETTER)) {
    const spelled = inOneSpelling(letter);
    pieces.push(spelled);
    const original = { from: index, end: index + letter.length };
    for (let unit = 0; unit < spelled.length; unit += 1) letters.push(original);
  }
  letters.push({ from: text.length, end: text.length });
  const joined = pieces.join('');
  const whole = inOneSpelling(text);
  // The whole knows where a word ends, for the sigma there; it is shorter only where rarer scripts join letters that are no marks.
  const spelling = whole.length === joined.length ? whole : joined;
  return { text: spelling, original: (stretch) => originalOf(stretch, spelling, letters) };
}

function originalOf({ from, end }: Stretch, spelling: string, letters: readonly Stretch[]): Stretch | null {
  const [first, last] = [letters[from], letters[end - 1]];
  if (first === undefined || last === undefined || first === letters[from - 1]) return null;
  let behind = end;
  while (letters[behind] === last) behind += 1;
  return ONLY_MARKS.test(spelling.slice(end, behind)) ? { from: first.from, end: last.end } : null;
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
