import { SeededRandom } from '../../random.ts';

/** The hundred commonest words of English, of the Oxford English Corpus. */
const COMMON_WORDS =
  `the be to of and a in that have i it for not on with he as you do at this but his by from they we say her she or an will my
   one all would there their what so up out if about who get which go me when make can like time no just him know take people
   into year your good some could them see other than then now look only come its over think also back after use two how our
   work first well way even new want because any these give day most us`.split(/\s+/u);

/** Words by Zipf's law: the one of rank r comes as often as 1 / r. Two of five words of a text are then common ones. */
const VOCABULARY = 300_000;
/** Sentences of an entry, words of a sentence and of a question, from and to. */
const SENTENCES = [1, 6] as const;
const SENTENCE_WORDS = [8, 24] as const;
const QUESTION_WORDS = [5, 12] as const;
/** Words of a question at least that are no common ones: what it asks about. */
const TELLING_WORDS = 2;

const [CONSONANTS, VOWELS, ENDS] = ['bcdfghjklmnprstvwz', 'aeiou', 'bdgklmnprstx'] as const;
const SYLLABLES = CONSONANTS.length * VOWELS.length * ENDS.length;
/** Has no divisor in common with the number of words of two syllables: ranks next to each other are not words that look alike. */
const STRIDE = 739_391;

/** Texts whose words are common and rare as those of people are. The same seed gives the same texts. */
export class NaturalCorpus {
  readonly #seed: number;

  constructor(seed = 1) {
    this.#seed = seed;
  }

  /** The text of an entry. */
  text(index: number): string {
    const sentences = this.#sentencesOf(index).map((words) => words.join(' '));
    return sentences.map((sentence) => `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`).join(' ');
  }

  /** Words in a row of a sentence of one of so many entries, common ones among them; without punctuation, as people ask. */
  question(index: number, entries: number): string {
    const random = new SeededRandom(this.#seed + 104_729 * (index + 1));
    for (;;) {
      const sentence = random.pick(this.#sentencesOf(random.between(0, entries - 1)));
      const count = random.between(...QUESTION_WORDS);
      const first = random.between(0, Math.max(0, sentence.length - count));
      const words = sentence.slice(first, first + count);
      const common = words.filter((word) => COMMON_WORDS.includes(word)).length;
      if (words.length === count && common > 0 && common <= count - TELLING_WORDS) return words.join(' ');
    }
  }

  /** Whether an entry has the words of a question in a row. */
  answers(index: number, question: string): boolean {
    const text = this.#sentencesOf(index).flat().join(' ');
    return ` ${text} `.includes(` ${question} `);
  }

  #sentencesOf(index: number): readonly (readonly string[])[] {
    const random = new SeededRandom(this.#seed + 7_919 * index);
    return Array.from({ length: random.between(...SENTENCES) }, () =>
      Array.from({ length: random.between(...SENTENCE_WORDS) }, () => word(random)),
    );
  }
}

function word(random: SeededRandom): string {
  const rank = Math.floor(VOCABULARY ** random.next()) - 1;
  const common = COMMON_WORDS[rank];
  if (common !== undefined) return common;
  const scattered = (rank * STRIDE) % SYLLABLES ** 2;
  return syllable(scattered % SYLLABLES) + syllable(Math.floor(scattered / SYLLABLES));
}

function syllable(number: number): string {
  const vowel = Math.floor(number / ENDS.length);
  const consonant = CONSONANTS[Math.floor(vowel / VOWELS.length)] ?? '';
  return `${consonant}${VOWELS[vowel % VOWELS.length] ?? ''}${ENDS[number % ENDS.length] ?? ''}`;
}
