import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Characters of text that are enough for a corpus; more only takes longer to read. */
const ENOUGH_CHARACTERS = 12_000_000;
/** Sentences of one entry, from and to. */
const SENTENCES = [1, 6] as const;
/** Words of a question. */
const QUESTION_WORDS = [5, 12] as const;

/**
 * Texts with the word frequencies of real ones: sentences of the documentation of installed packages,
 * put together anew. The same seed gives the same texts.
 */
export class NaturalCorpus {
  readonly #sentences: readonly string[];
  readonly #seed: number;

  private constructor(sentences: readonly string[], seed: number) {
    this.#sentences = sentences;
    this.#seed = seed;
  }

  /** @throws Error when the folder holds too little text */
  static async read(folder: string, seed = 1): Promise<NaturalCorpus> {
    const sentences: string[] = [];
    let characters = 0;
    for await (const path of documents(folder)) {
      if (characters > ENOUGH_CHARACTERS) break;
      const text = await readFile(path, 'utf8');
      characters += text.length;
      for (const sentence of text.split(/(?<=[.!?:])\s+|\n+/u)) {
        const trimmed = sentence.replaceAll(/\s+/gu, ' ').trim();
        if (trimmed.split(' ').length >= 4 && trimmed.length <= 400) sentences.push(trimmed);
      }
    }
    if (sentences.length < 1_000) throw new Error(`${folder} holds too little documentation for a corpus`);
    return new NaturalCorpus(sentences, seed);
  }

  /** The text of an entry. */
  text(index: number): string {
    const random = randomNumbers(this.#seed + 7_919 * index);
    return Array.from({ length: between(random, SENTENCES) }, () => this.#sentence(random)).join(' ');
  }

  /** Words in a row out of one sentence, so that common words come as often as in questions. */
  question(index: number): string {
    const random = randomNumbers(this.#seed + 104_729 * (index + 1));
    for (;;) {
      const words = this.#sentence(random).split(' ');
      const count = between(random, QUESTION_WORDS);
      if (words.length < count) continue;
      const first = Math.floor(random() * (words.length - count + 1));
      return words.slice(first, first + count).join(' ');
    }
  }

  #sentence(random: () => number): string {
    return this.#sentences[Math.floor(random() * this.#sentences.length)] ?? '';
  }
}

/** Documentation in order of path, declarations included: most of them are comments. */
async function* documents(folder: string): AsyncGenerator<string, void, undefined> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* documents(path);
    else if (/\.(?:md|d\.ts)$/u.test(entry.name)) yield path;
  }
}

function between(random: () => number, [least, most]: readonly [number, number]): number {
  return least + Math.floor(random() * (most - least + 1));
}

/** Mulberry32: small, seeded, good enough to choose sentences. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
