import { inFullWidth, isUnspaced, pairsOf, stretchesOf } from '../../context/log/unspaced-words.ts';
import { wholeCharacters } from '../../tools/files/text.ts';

/**
 * Postgres's own parser keeps `src/store/errors.ts` as one word and finds none in Chinese; here identifiers also count by their parts,
 * and scripts without spaces by pairs of characters.
 */
export interface Word {
  /** Lower case; accents are kept, because dictionaries need them. */
  readonly text: string;
  /** Letters only: a dictionary may find its stem. Identifiers, numbers and pairs of characters stay as they are. */
  readonly isPlain: boolean;
  /** Place among the words of the text; the parts of an identifier share that of the whole. */
  readonly position: number;
}

/** Code units of a word, of three bytes at most: Postgres takes no lexeme of more than 2,046 bytes. */
const LONGEST_WORD = 64;

/** Emoji are words too; of a sequence (a family, a tone of skin) each part is one. */
const EMOJI = /^(?:\p{Extended_Pictographic}|\p{Regional_Indicator}{2})$/u;
const WORD =
  /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*(?:[.\-/:@][\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*)*|\p{Extended_Pictographic}|\p{Regional_Indicator}{2}/gu;
/** What stands behind an apostrophe in English is no word: possessives and shortened verbs. */
const CLITIC = /['’](?<=[\p{L}\p{M}]['’])(?:s|t|d|m|re|ve|ll)(?![\p{L}\p{N}])/giu;
/** Most words: English ones, without parts. */
const SIMPLE = /^[A-Za-z]?[a-z]*$/;
const ASCII = /^[\0-\x7f]*$/;
/** `fooBarBaz`, `HTTPServer2`: words, capitals in a row, numbers. */
const IDENTIFIER_PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?(?:\p{Ll}\p{M}*)+|\p{N}+|(?:\p{Lo}\p{M}*)+/gu;
/** What may be written as one character with the one before: in the names of files of some systems all accents, and Hangul. */
const DECOMPOSED = /[\p{M}\u1161-\u11ff]/u;
/** Signs that stand for a sound of their own are no accents: Hindi and Thai have nothing else for vowels. */
const ACCENTS = /(?:\p{Script=Inherited}|\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Cyrillic})(?<=\p{M})/gu;
/** Letters that Unicode does not take apart, as who lacks them on the keyboard writes them. */
const WITHOUT_STROKES: Readonly<Record<string, string>> = Object.fromEntries(
  'ł=l ø=o đ=d ħ=h ı=i ß=ss æ=ae œ=oe þ=th ð=d ŋ=n ŧ=t'.split(' ').map((pair) => pair.split('=')),
);
const LETTERS = /[łøđħıßæœþðŋŧ]/gu;
const PLAIN = /^[\p{L}\p{M}]+$/u;

export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  let position = 0;
  for (const [piece] of composed(text).replaceAll(CLITIC, '').matchAll(WORD)) {
    const isSimple = SIMPLE.test(piece);
    if (isSimple || EMOJI.test(piece)) {
      position += 1;
      words.push({ text: piece.slice(0, LONGEST_WORD).toLowerCase(), isPlain: isSimple, position });
      continue;
    }
    for (const [index, stretch] of stretchesOf(piece).entries()) {
      const isUnspaced = index % 2 === 1;
      for (const run of isUnspaced ? pairsOf(stretch) : (stretch.match(WORD) ?? [])) {
        position += 1;
        for (const part of isUnspaced ? [run] : withParts(run)) {
          const form = indexedForm(part);
          words.push({ text: form, isPlain: !isUnspaced && PLAIN.test(form), position });
        }
      }
    }
  }
  return words;
}

/** As it stands in the index: one spelling of each character, in lower case. One character (U+FDFA) may stand for 18. */
function indexedForm(written: string): string {
  const form = wholeCharacters(written.slice(0, LONGEST_WORD)).normalize('NFKC').toLowerCase();
  return wholeCharacters(form.slice(0, LONGEST_WORD));
}

function composed(text: string): string {
  if (ASCII.test(text)) return text;
  const full = inFullWidth(text);
  return DECOMPOSED.test(full) ? full.normalize('NFC') : full;
}

function withParts(word: string): string[] {
  if (PLAIN.test(word) && !/\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u.test(word)) return [word];
  const parts = word.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const several = [parts, ...parts.map((part) => part.match(IDENTIFIER_PARTS) ?? [])].filter(
    ({ length }) => length > 1,
  );
  return [...new Set([word, ...several.flat()])];
}

/** Accents off, of a word in lower case: `café` and `cafe` are one term, and so are `łódź` and `lodz`. */
export function foldAccents(word: string): string {
  if (ASCII.test(word)) return word;
  const folded = word.normalize('NFKD').replaceAll(ACCENTS, '');
  return (folded === '' ? word : folded).replaceAll(LETTERS, (letter) => WITHOUT_STROKES[letter] ?? letter);
}

/** One character of a script without spaces: the index has it alone or in pairs. */
export function isUnspacedCharacter(word: string): boolean {
  return Array.from(word).length === 1 && isUnspaced(word);
}
