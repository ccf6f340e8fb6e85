import { headingOf } from './heading.ts';
import { visitWords } from './passage-terms.ts';
import type { RankedCandidate } from './candidate.ts';
import type { WordScored } from './score-words.ts';
import type { WeightedTerm } from './weigh-terms.ts';
import { countPlaces } from './words.ts';

/**
 * A single stop needs two small or two capital letters before it: "Dr." and initials end no sentence. Any other mark, dots in a row, and
 * what people type instead of a mark (":)", an emoji) end one: of "I got the job!! Can you believe it?" half is no question.
 */
const SENTENCE_END = new RegExp(
  [
    String.raw`(?<=(?:[\p{Ll}\p{N})"'’”]{2}|\p{Lu}{2}|\p{N}\p{Lu}|\s\p{L})\.|\.\.|[…!?。！？؟])(?:["'’”)\]]+\s+(?!\p{Ll})|\s+)`,
    String.raw`(?<=[:;=]-?[()DPp]|\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)\s+(?=\p{Lu})`,
    String.raw`\n+`,
  ].join('|'),
  'u',
);
const MAYBE_ASKS = /[?？؟]/u;
const QUESTION = /[?？؟]["'”’)\]!\s]*$/u;

/** What a passage says to a query. */
export interface Statement {
  readonly terms: readonly string[];
  /** The sentence itself, without the heading of the passage. */
  readonly text: string;
}

/**
 * The sentence or line of a passage that has most of the query's words, by weight, with its terms; the first of equals. A passage says
 * many things; whether two say the same is judged by these. Of one that has no word of the query, all of it.
 */
export function statementOf({
  text,
  vector,
  matched,
}: Pick<RankedCandidate, 'text' | 'vector' | 'matched'>): Statement {
  const asked = new Set(matched.flatMap(({ terms }) => terms));
  const askedPlaces = new Map<string, readonly number[]>();
  const terms: string[] = [];
  const places: (readonly number[])[] = [];
  visitWords(vector, (term, at) => {
    terms.push(term);
    places.push(at);
    if (asked.has(term)) askedPlaces.set(term, at);
  });
  if (matched.length === 0) return { terms, text: text.slice(headingOf(text).length) };
  const sentences = sentencesOf(text);
  const best = sentences.length < 2 ? sentences[0] : mostAsked(sentences, matched, askedPlaces);
  const said = best === sentences[0] ? (best?.text ?? text).slice(headingOf(text).length) : (best?.text ?? text);
  if (sentences.length < 2) return { terms, text: said };
  return { terms: terms.filter((_, index) => isWithin(best, places[index])), text: said };
}

/** Whether the sentence that has most of the query's words is a question. */
export function asks({
  text,
  found,
  matched,
}: Pick<RankedCandidate & WordScored, 'text' | 'found' | 'matched'>): boolean {
  if (!MAYBE_ASKS.test(text)) return false;
  const sentences = sentencesOf(text);
  const places = new Map<string, readonly number[]>();
  if (sentences.length > 1) visitWords(found, (term, at) => places.set(term, at));
  return mostAsked(sentences, matched, places)?.isQuestion === true;
}

/** The sentence that has most of the query's words, by weight. */
function mostAsked(
  sentences: readonly Sentence[],
  matched: readonly WeightedTerm[],
  places: ReadonlyMap<string, readonly number[]>,
): Sentence | undefined {
  let best = sentences[0];
  let most = -1;
  for (const sentence of sentences) {
    let weight = 0;
    for (const term of matched) {
      if (term.terms.some((each) => isWithin(sentence, places.get(each)))) weight += term.weight;
    }
    if (weight > most) [best, most] = [sentence, weight];
  }
  return best;
}

interface Sentence {
  readonly text: string;
  /** Places of the first and the last word. */
  readonly from: number;
  readonly through: number;
  readonly isQuestion: boolean;
}

function isWithin(sentence: Sentence | undefined, places: readonly number[] | undefined): boolean {
  if (sentence === undefined || places === undefined) return false;
  for (const place of places) if (place >= sentence.from && place <= sentence.through) return true;
  return false;
}

function sentencesOf(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let place = 0;
  for (const sentence of text.split(SENTENCE_END)) {
    const words = countPlaces(sentence);
    if (words > 0)
      sentences.push({ text: sentence, from: place + 1, through: place + words, isQuestion: QUESTION.test(sentence) });
    place += words;
  }
  return sentences;
}
