import { inOneSpelling } from '../../context/one-spelling.ts';
import { UNSPACED } from '../../context/unspaced-words.ts';

/** Shorter ones would stand everywhere. Characters. */
const SHORTEST_PHRASE = 3;
/** … but not in quotation marks or with a sign that no sentence has: "C#". */
const SHORTEST_MEANT = 2;
const SIGN = /[\p{S}#%&@*/\\]/u;
const UNEVEN_SPACE = /\s\s|[^\S ]/u;
const QUOTED =
  /"([^"]+)"|[“„]([^“”„]+)[”“]|«([^«»]+)»|»([^«»]+)«|‘([^‘’]+)’|‚([^‚‘]+)‘|「([^「」]+)」|『([^『』]+)』|＂([^＂]+)＂|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])/gu;
/** Part of a hash, a path or an identifier: it may stand within a longer one. */
const IDENTIFIER = /^\S*(?:[\d_./:@\\-]|\p{Ll}\p{Lu})\S*$/u;
/** Who types a row of so many words without quotation marks leaves out the commas. */
const WORDS_OF_A_ROW = 4;
/** Telephones and word processors write them for `'`. */
const APOSTROPHES = /[’ʼ＇]/gu;
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}_]+/gu;
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u;
const UNSPACED_CHARACTER = new RegExp(UNSPACED, 'u');

/** A row of words that a passage may have as it is. */
export interface Phrase {
  /** In lower case, with single spaces. */
  readonly text: string;
  /** It may begin and end within a word. */
  readonly isPart: boolean;
  /** Its words without what stands between them, where it is found by these too. */
  readonly wordsAlone?: string;
}

/** What a query asks for word for word. */
export interface Phrases {
  /** A passage must have all. */
  readonly all: readonly Phrase[];
  /** They stand in quotation marks: somebody wants them as they are. */
  readonly areQuoted: boolean;
}

/** What stands in quotation marks; without them the whole query. */
export function phrasesOf(query: string): Phrases {
  const quoted = [...query.matchAll(QUOTED)]
    .map(([, ...groups]) => groups.find((group) => group !== undefined) ?? '')
    .map(toPhrase)
    .filter(({ text }) => text.length >= SHORTEST_MEANT);
  if (quoted.length > 0) return { all: quoted, areQuoted: true };
  const whole = toPhrase(query);
  const row = wordsAlone(whole.text);
  const phrase = row.split(' ').length < WORDS_OF_A_ROW ? whole : { ...whole, wordsAlone: row };
  const shortest = hasSigns(whole) ? SHORTEST_MEANT : SHORTEST_PHRASE;
  return { all: whole.text.length < shortest ? [] : [phrase], areQuoted: false };
}

/** Whether it is more than its words: the index knows none of its signs. */
export function hasSigns({ text }: Phrase): boolean {
  return SIGN.test(text) || SIGN.test(inOneSpelling(text));
}

/**
 * Whether a text has all of them, at the bounds of words; a row of words without quotation marks, whatever stands between them. As it
 * is written or, where another spelling of the same letters is all that differs, in that of the index.
 */
export function hasPhrases(text: string, { all }: Phrases): boolean {
  if (all.length === 0) return false;
  const written = withEvenSpaces(compared(text));
  let spelled: ComparedText | null = null;
  return all.every((phrase) => {
    if (standsIn(written, phrase)) return true;
    spelled ??= withEvenSpaces(inOneSpelling(compared(text)));
    const other = inIndexSpelling(phrase);
    // Nearly always both are in one spelling already.
    return (spelled.lower !== written.lower || other.text !== phrase.text) && standsIn(spelled, other);
  });
}

/** The phrase in the spelling of the index, which may have white space for one character (`¨`). */
function inIndexSpelling(phrase: Phrase): Phrase {
  const { text, wordsAlone: row } = phrase;
  const spelled = { ...phrase, text: plain(inOneSpelling(text)) };
  return row === undefined ? spelled : { ...spelled, wordsAlone: wordsAlone(inOneSpelling(row)) };
}

interface ComparedText {
  readonly lower: string;
  /** The same with single spaces. */
  readonly even: string;
}

/** Most texts have single spaces only, and need no copy. */
function withEvenSpaces(lower: string): ComparedText {
  return { lower, even: UNEVEN_SPACE.test(lower) ? plain(lower) : lower };
}

function standsIn({ lower, even }: ComparedText, phrase: Phrase): boolean {
  return stands(lower, phrase) || (even !== lower && stands(even, phrase)) || standsInWords(lower, phrase);
}

/**
 * Whether the words of a text could go on, behind it or before it, to a row of words that was asked for without quotation marks: the
 * text ends with the first of them, or begins with the last.
 */
export function isSideOfRow(text: string, { all }: Phrases): boolean {
  return all.some(({ wordsAlone: row }) => {
    if (row === undefined) return false;
    // With room for what stands between the words.
    const length = 4 * row.length;
    const [end, beginning] = [text.slice(-length), text.slice(0, length)].map((side) =>
      wordsAlone(inOneSpelling(side)),
    );
    const words = wordsAlone(inOneSpelling(row)).split(' ');
    return words.slice(1).some((_, at) => {
      const [before, behind] = [words.slice(0, at + 1).join(' '), words.slice(at + 1).join(' ')];
      return ` ${end}`.endsWith(` ${before}`) || `${beginning} `.startsWith(`${behind} `);
    });
  });
}

function standsInWords(text: string, phrase: Phrase): boolean {
  return phrase.wordsAlone !== undefined && ` ${wordsAlone(text)} `.includes(` ${phrase.wordsAlone} `);
}

function wordsAlone(text: string): string {
  return text.replaceAll(BETWEEN_WORDS, ' ').trim();
}

function stands(text: string, { text: phrase, isPart }: Phrase): boolean {
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    if (isPart) return true;
    const end = at + phrase.length;
    if (isBound(text[at - 1], text[at]) && isBound(text[end - 1], text[end])) return true;
  }
  return false;
}

/** Whether no word goes on from one character to the next; scripts without spaces have no bounds that could be seen. */
function isBound(before: string | undefined, after: string | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  if (UNSPACED_CHARACTER.test(before) || UNSPACED_CHARACTER.test(after)) return true;
  return !(WORD_CHARACTER.test(before) && WORD_CHARACTER.test(after));
}

function toPhrase(written: string): Phrase {
  return { text: plain(compared(written)), isPart: IDENTIFIER.test(written.trim()) };
}

/** In lower case, with one kind of apostrophe. */
function compared(text: string): string {
  return text.toLowerCase().replaceAll(APOSTROPHES, "'");
}

/** Without regard to case and the kind of white space. */
export function plain(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/gu, ' ').trim();
}
