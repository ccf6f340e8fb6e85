import { visitWords } from './passage-terms.ts';
import type { RankedCandidate } from './candidate.ts';
import { countPlaces } from './words.ts';

/** Two small letters before the stop: "Dr." and initials end no sentence. */
const SENTENCE_END = /(?<=(?:[\p{Ll}\p{N})"'’”]{2}|\s\p{L})[.!?]|[。！？])\s+|\n+/u;

/**
 * Terms of the sentence or line of a passage that has most of the query's words, by weight; the first of equals. A passage says
 * many things; whether two say the same is judged by these.
 */
export function statementOf({ text, vector, matched }: Pick<RankedCandidate, 'text' | 'vector' | 'matched'>): string[] {
  const sentences = sentencesOf(text);
  const places = new Map<string, readonly number[]>();
  visitWords(vector, (term, at) => places.set(term, at));
  if (sentences.length < 2) return [...places.keys()];
  let best = sentences[0];
  let most = -1;
  for (const sentence of sentences) {
    let weight = 0;
    for (const term of matched) {
      const stands = term.terms.some((each) => places.get(each)?.some((place) => isIn(sentence, place)));
      if (stands) weight += term.weight;
    }
    if (weight > most) [best, most] = [sentence, weight];
  }
  const said: string[] = [];
  for (const [term, at] of places) if (best !== undefined && at.some((place) => isIn(best, place))) said.push(term);
  return said;
}

/** Places of the first and the last word. */
interface Sentence {
  readonly from: number;
  readonly through: number;
}

function isIn({ from, through }: Sentence, place: number): boolean {
  return place >= from && place <= through;
}

function sentencesOf(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let place = 0;
  for (const sentence of text.split(SENTENCE_END)) {
    const words = countPlaces(sentence);
    if (words > 0) sentences.push({ from: place + 1, through: place + words });
    place += words;
  }
  return sentences;
}
