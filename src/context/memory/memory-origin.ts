/**
 * Whether the user said what is remembered. What he said stands without quotes in later conversations; all else is data there, whoever
 * had it first.
 */
import { wordsIn } from '../log/unspaced-words.ts';

/** By the rules of Unicode: no stop before a small letter ends one ("e.g. this"). */
const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });
/** Fenced, up to the end of the text where nothing closes it. */
const CODE_BLOCK = /^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*|$(?![\s\S]))/gmsu;
/** Quoted lines and lists, up to the next empty line: what stands above a list may say that somebody else wants it. */
const QUOTES_AND_LISTS = /^[ \t]*(?:>|(?:[-*•–]|\p{N}{1,3}[.)])[ \t]).*(?:\n.*\S.*)*/gmu;
/** Who breaks lines where they are long does so within a sentence. */
const BROKEN_LINE = /\n(?=[ \t]*\p{Ll})/gu;

/** What may stand before what somebody says without changing what it says: "Please remember that I …". */
const LEADS = new Set(
  'please remember note that this also and so ok okay well hi hello important reminder rule preference from now on i we bitte merk dir dass wichtig regel ab jetzt ich wir'.split(
    ' ',
  ),
);
/** … and behind it. */
const TRAILS = new Set('please thanks thank you ok bitte danke'.split(' '));

/** The sentences of a text, each as its words in a row: without case, punctuation, white space and courtesies. */
export function sentencesOf(text: string): string[] {
  return Array.from(SENTENCES.segment(text), ({ segment }) => {
    const words = comparedWords(segment);
    const from = words.findIndex((word) => !LEADS.has(word));
    return from === -1 ? '' : words.slice(from, words.findLastIndex((word) => !TRAILS.has(word)) + 1).join(' ');
  }).filter((sentence) => sentence !== '');
}

/**
 * Which of these sentences the author of a text says himself and as a whole: part of one may say the opposite ("never …"), or be what
 * he says that others say.
 */
export function sentencesSaid(sentences: ReadonlySet<string>, text: string): string[] {
  const words = new Set(comparedWords(text));
  const possible = [...sentences].filter((sentence) => sentence.split(' ').every((word) => words.has(word)));
  // Most messages say none of them, and need not be taken apart.
  if (possible.length === 0) return [];
  const own = text.replaceAll(CODE_BLOCK, '\n').replaceAll(QUOTES_AND_LISTS, '\n').replaceAll(BROKEN_LINE, ' ');
  const said = new Set(sentencesOf(own));
  return possible.filter((sentence) => said.has(sentence));
}

function comparedWords(text: string): string[] {
  return wordsIn(text.toLowerCase(), /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu);
}
