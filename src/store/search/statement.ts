import { foldAccents } from './words.ts';

/** Letters by which words are compared: endings differ, beginnings mean the same. */
const COMPARED_LETTERS = 6;

const WORD = /[\p{L}\p{N}_]+/gu;
/** A stop needs two letters of one word before it: "Dr." ends no sentence. What people type instead of one (":)", an emoji) does. */
const SENTENCE_END =
  /(?<=(?:[\p{Ll}\p{N})"'”]{2}\.|\p{Lu}{2}\.|\.\.|[…!?。！？؟])["'”)\]]*)\s+|(?<=[:;=]-?[()DPp]|\p{Extended_Pictographic}\uFE0F?)\s+(?=\p{Lu})|(?<=[。！？])|\n+/u;
const QUESTION = /[?？؟]["'”’)\]!\s]*$/u;

/** The sentence of a passage that has most of a query's words, by weight. */
export interface Statement {
  /** Beginnings of its words. */
  readonly words: ReadonlySet<string>;
  readonly isQuestion: boolean;
}

interface SoughtTerm {
  readonly terms: readonly string[];
  readonly weight: number;
}

export function statementOf(text: string, matched: readonly SoughtTerm[]): Statement {
  const weights = new Map(
    matched.flatMap(({ terms, weight }) => terms.map((term) => [beginningOf(term), weight] as const)),
  );
  let best: Statement = { words: new Set(), isQuestion: false };
  let most = -1;
  for (const sentence of text.split(SENTENCE_END)) {
    const words = new Set(sentence.match(WORD)?.map(beginningOf));
    let weight = 0;
    for (const word of words) weight += weights.get(word) ?? 0;
    if (weight <= most || words.size === 0) continue;
    best = { words, isQuestion: QUESTION.test(sentence) };
    most = weight;
  }
  return best;
}

export function beginningOf(word: string): string {
  return foldAccents(word.toLowerCase()).slice(0, COMPARED_LETTERS);
}
