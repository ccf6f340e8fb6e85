import { SeededRandom } from '../../random.ts';
import { isCommon, wordOf } from './natural/common-words.ts';
import { rareName } from './natural/rare-names.ts';
import { readSentences } from './natural/read-sentences.ts';

/** Sentences of one entry, from and to. */
const SENTENCES = [1, 6] as const;
/** Words of a question, and those of them at least that are no common ones: what it asks about. */
const QUESTION_WORDS = [5, 12] as const;
const TELLING_WORDS = 2;
/** Fewer sentences would come again too often. */
const LEAST_SENTENCES = 10_000;
/** Sentences in which a name stands in place of a word. */
const NAMED = 0.5;

/** Where a common word stands within a sentence. */
interface Joint {
  readonly sentence: readonly string[];
  readonly place: number;
}

/**
 * Texts with the word frequencies of real ones. A sentence begins as one of the installed packages' documentation and goes on, from a
 * common word, as another one goes on from that word, so that hardly one comes twice, a word comes as often as in what was read, and it
 * stands beside the words that it stands beside there. Names that were invented make the vocabulary grow with the number of texts, as
 * that of people does. The same seed and the same packages give the same texts.
 */
export class NaturalCorpus {
  readonly #sentences: readonly (readonly string[])[];
  readonly #joints = new Map<string, Joint[]>();
  readonly #seed: number;

  constructor(sentences: readonly string[], seed = 1) {
    this.#sentences = sentences.map((sentence) => sentence.split(' '));
    this.#seed = seed;
    for (const sentence of this.#sentences) {
      for (const place of jointsOf(sentence)) {
        const word = sentence[place] ?? '';
        const joints = this.#joints.get(word);
        if (joints === undefined) this.#joints.set(word, [{ sentence, place }]);
        else joints.push({ sentence, place });
      }
    }
  }

  /**
   * @param folder the project's root, its packages installed
   * @throws Error when it holds too little text
   */
  static async read(folder: string): Promise<NaturalCorpus> {
    const sentences = [...(await readSentences(folder)).values()].flat();
    if (sentences.length < LEAST_SENTENCES) throw new Error(`${folder} holds too little documentation for a corpus`);
    return new NaturalCorpus(sentences);
  }

  /** The text of an entry. */
  text(index: number): string {
    return this.#sentencesOf(index)
      .map((sentence) => sentence.join(' '))
      .join(' ');
  }

  /**
   * Words in a row of a sentence of one of so many entries, so that common words come as often as in questions; without punctuation, as
   * people ask.
   */
  question(index: number, entries: number): string {
    const random = new SeededRandom(this.#seed + 104_729 * (index + 1));
    for (;;) {
      const sentences = this.#sentencesOf(random.between(0, entries - 1));
      const sentence = sentences[random.between(0, sentences.length - 1)] ?? [];
      const count = random.between(...QUESTION_WORDS);
      const words = sentence
        .map(wordOf)
        .slice(random.between(0, Math.max(0, sentence.length - count)))
        .slice(0, count);
      const common = words.filter((word) => word !== null && isCommon(word)).length;
      if (words.length < count || words.includes(null) || common === 0 || common > count - TELLING_WORDS) continue;
      return words.join(' ');
    }
  }

  /** Whether an entry has the words of a question in a row. */
  answers(index: number, question: string): boolean {
    const words = this.text(index).split(' ').map(wordOf);
    return ` ${words.join(' ')} `.includes(` ${question} `);
  }

  #sentencesOf(index: number): readonly (readonly string[])[] {
    const random = new SeededRandom(this.#seed + 7_919 * index);
    return Array.from({ length: random.between(...SENTENCES) }, () => this.#sentence(random));
  }

  #sentence(random: SeededRandom): readonly string[] {
    const first = this.#sentences[random.between(0, this.#sentences.length - 1)] ?? [];
    const places = jointsOf(first);
    const place = places[random.between(0, Math.max(0, places.length - 1))];
    if (place === undefined) return this.#named(first, random);
    const joints = this.#joints.get(first[place] ?? '') ?? [];
    const next = joints[random.between(0, Math.max(0, joints.length - 1))];
    return this.#named([...first.slice(0, place), ...(next?.sentence.slice(next.place) ?? [])], random);
  }

  #named(sentence: readonly string[], random: SeededRandom): readonly string[] {
    if (!random.chance(NAMED)) return sentence;
    const place = random.between(0, sentence.length - 1);
    const token = sentence[place] ?? '';
    const word = wordOf(token);
    // A common one stays, else they would become rarer: the name then stands before it.
    if (word === null || isCommon(token)) return sentence.toSpliced(place, 0, rareName(random));
    return sentence.with(place, token.replace(/\p{L}[\p{L}'’-]*/u, rareName(random)));
  }
}

/** Places of common words with at least two words before and behind them. */
function jointsOf(sentence: readonly string[]): readonly number[] {
  return sentence.flatMap((token, place) =>
    place >= 2 && place < sentence.length - 2 && isCommon(token) && /^\p{Ll}+$/u.test(token) ? [place] : [],
  );
}
