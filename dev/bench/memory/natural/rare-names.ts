import type { SeededRandom } from '../../../random.ts';

/**
 * Ranks are drawn by the law of Zipf and Mandelbrot: a name of rank r comes as often as (r + 7,000)^-2. Of many draws, n, some
 * √(π × 7,000 × n) are different (Heaps' law with an exponent of 1/2), so there is always a name that has not come yet. With one in
 * every second sentence, the different words of a text of n words are 0.8 to 0.9 times 44 × n^0.49 from a thousand entries to a
 * million: 44 and 0.49 are what Manning, Raghavan and Schütze give for Reuters-RCV1 (Introduction to Information Retrieval, 2008,
 * section 5.1.1).
 */
const SHIFT = 7_000;

const [CONSONANTS, VOWELS, ENDS] = ['bcdfghjklmnprstvwz', 'aeiou', 'bdgklmnprstx'] as const;
const SYLLABLES = CONSONANTS.length * VOWELS.length * ENDS.length;
const OF_TWO = SYLLABLES * SYLLABLES;
/** Has no divisor in common with the number of names of two syllables, so that ranks next to each other are not names that look alike. */
const STRIDE = 739_391;

export function rareName(random: SeededRandom): string {
  return nameOf(rankOf(random.next()));
}

/** @param share from 0 to 1, without 1 */
export function rankOf(share: number): number {
  return Math.floor(SHIFT / (1 - share) - SHIFT);
}

/** Each rank has a name of its own: of two syllables, then of three; some written as identifiers are. */
export function nameOf(rank: number): string {
  const scattered = (rank * STRIDE) % OF_TWO;
  const syllables = [scattered % SYLLABLES, Math.floor(scattered / SYLLABLES)];
  for (let left = Math.floor(rank / OF_TWO); left > 0; left = Math.floor(left / SYLLABLES))
    syllables.push(left % SYLLABLES);
  const written = syllables.map(syllable);
  if (rank % 4 === 0) return written.map((each, place) => (place === 0 ? each : capitalized(each))).join('');
  return rank % 4 === 1 ? capitalized(written.join('')) : written.join('');
}

function syllable(number: number): string {
  const vowel = Math.floor(number / ENDS.length);
  const consonant = CONSONANTS[Math.floor(vowel / VOWELS.length)] ?? '';
  return `${consonant}${VOWELS[vowel % VOWELS.length] ?? ''}${ENDS[number % ENDS.length] ?? ''}`;
}

function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
