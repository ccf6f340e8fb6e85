import { visitWords } from './passage-terms.ts';
import type { RankedCandidate } from './candidate.ts';
import type { WeightedTerm } from './weigh-terms.ts';
import { countPlaces } from './words.ts';

/** Two small letters before the stop: "Dr." and initials end no sentence. */
const SENTENCE_END = /(?<=(?:[\p{Ll}\p{N})"'’”]{2}|\s\p{L})[.!?]|[。！？])\s+|\n+/u;

/**
 * Terms of the sentence or line of a passage that has most of the query's words, by weight; the first of equals. A passage says
 * many things; whether two say the same is judged by these.
 */
export function statementOf({ text, vector, matched }: Pick<RankedCandidate, 'text' | 'vector' | 'matched'>): string[] {
  const asked = new Set(matched.flatMap(({ terms }) => terms));
  const askedPlaces = new Map<string, readonly number[]>();
  const terms: string[] = [];
  const places: (readonly number[])[] = [];
  visitWords(vector, (term, at) => {
    terms.push(term);
    places.push(at);
    if (asked.has(term)) askedPlaces.set(term, at);
  });
  const sentences = sentencesOf(text);
  if (sentences.length < 2) return terms;
  const best = mostAsked(sentences, matched, askedPlaces);
  return terms.filter((_, index) => isWithin(best, places[index]));
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

/** Places of the first and the last word. */
interface Sentence {
  readonly from: number;
  readonly through: number;
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
    if (words > 0) sentences.push({ from: place + 1, through: place + words });
    place += words;
  }
  return sentences;
}
