import { inOneSpelling } from '../../context/log/one-spelling.ts';
import { isUnspaced } from '../../context/log/unspaced-words.ts';

/** Shorter ones would stand everywhere, but in quotation marks or with a sign that no sentence has: "C#". Characters. */
const SHORTEST_PHRASE = 3;
const SHORTEST_MEANT = 2;
const SIGN = /[\p{S}#%&@*/\\]/u;
const QUOTED =
  /"([^"]+)"|[“„]([^“”„]+)[”“]|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』|＂([^＂]+)＂|(?<![\p{L}\p{N}])['‘‚]([^'‘’‚]+)['’‘](?![\p{L}\p{N}])/gu;
/** Part of a hash, a path or an identifier: it may stand within a longer one. */
const IDENTIFIER = /^\S*(?:[\d_./:@\\-]|\p{Ll}\p{Lu})\S*$/u;
/** Who types a row of so many words without quotation marks leaves out the commas. */
const WORDS_OF_A_ROW = 4;
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}_]+/gu;
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u;

interface Phrase {
  /** In one spelling, with single spaces. */
  readonly text: string;
  /** It may begin and end within a word. */
  readonly isPart: boolean;
  /** Its words without what stands between them; `null`: it counts only as it is. */
  readonly row: string | null;
}

/** What a query asks for word for word. A passage must have all. */
export type Phrases = readonly Phrase[];

/** What stands in quotation marks; without them the whole query. */
export function phrasesOf(query: string): Phrases {
  const quoted = [...query.matchAll(QUOTED)]
    .map(([, ...groups]) => toPhrase(groups.find((group) => group !== undefined) ?? ''))
    .filter(({ text }) => text.length >= SHORTEST_MEANT);
  if (quoted.length > 0) return quoted;
  const whole = toPhrase(query);
  const row = wordsAlone(whole.text);
  if (whole.text.length < (SIGN.test(whole.text) ? SHORTEST_MEANT : SHORTEST_PHRASE)) return [];
  return [row.split(' ').length < WORDS_OF_A_ROW ? whole : { ...whole, row }];
}

/** Whether a text has all phrases, at the bounds of words and in any spelling of the same letters. */
export function hasPhrases(text: string, phrases: Phrases): boolean {
  if (phrases.length === 0) return false;
  const spelled = plain(text);
  // In one spelling `Foo™` is "footm".
  const written = text.toLowerCase().replaceAll(/\s+/gu, ' ');
  return phrases.every(
    (phrase) =>
      stands(spelled, phrase) ||
      stands(written, phrase) ||
      (phrase.row !== null && ` ${wordsAlone(spelled)} `.includes(` ${phrase.row} `)),
  );
}

/** Without regard to case, spelling of letters, kind of apostrophe and of white space. */
export function plain(text: string): string {
  return inOneSpelling(text).replaceAll(/[’ʼ]/gu, "'").replaceAll(/\s+/gu, ' ').trim();
}

function toPhrase(written: string): Phrase {
  return { text: plain(written), isPart: IDENTIFIER.test(written.trim()), row: null };
}

function wordsAlone(text: string): string {
  return text.replaceAll(BETWEEN_WORDS, ' ').trim();
}

function stands(text: string, { text: phrase, isPart }: Phrase): boolean {
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    if (isPart || (isBound(text, at) && isBound(text, at + phrase.length))) return true;
  }
  return false;
}

/** Whether no word goes on across a place of a text. */
function isBound(text: string, at: number): boolean {
  const around = [text.charAt(at - 1), text.charAt(at)];
  return around.some((character) => isUnspaced(character) || !WORD_CHARACTER.test(character));
}
