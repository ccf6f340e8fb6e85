import type { Queries } from '../../../../src/store/database/database.ts';
import { rarity } from '../../../../src/store/search/score.ts';
import { stemsOf } from '../../../../src/store/search/stems.ts';
import { wordsOf } from '../../../../src/store/search/words.ts';

/** BM25 as it is mostly set. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;

/** What search is measured against: rankings of texts by English stems without stop words. */
export class LexicalBaselines {
  readonly #sql: Queries;
  readonly #texts: readonly (readonly string[])[];
  readonly #passages = new Map<string, number>();
  readonly #averageWords: number;

  private constructor(sql: Queries, texts: readonly (readonly string[])[]) {
    this.#sql = sql;
    this.#texts = texts;
    for (const stems of texts) {
      for (const stem of new Set(stems)) this.#passages.set(stem, (this.#passages.get(stem) ?? 0) + 1);
    }
    this.#averageWords = texts.reduce((sum, { length }) => sum + length, 0) / Math.max(1, texts.length);
  }

  static async of(sql: Queries, texts: readonly string[]): Promise<LexicalBaselines> {
    return new LexicalBaselines(sql, await Promise.all(texts.map((text) => stemsIn(sql, text))));
  }

  /** Indexes of the texts, best first, newest of equals first: `idf` adds up the rarity of the words that a text has. */
  async rank(query: string, kind: 'bm25' | 'idf'): Promise<readonly number[]> {
    const asked = [...new Set(await stemsIn(this.#sql, query))];
    const scores = this.#texts.map((stems, index) => ({ index, score: this.#score(asked, stems, kind) }));
    return scores
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score || other.index - one.index)
      .map(({ index }) => index);
  }

  #score(asked: readonly string[], stems: readonly string[], kind: 'bm25' | 'idf'): number {
    const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * stems.length) / this.#averageWords;
    let total = 0;
    for (const stem of asked) {
      const count = stems.filter((each) => each === stem).length;
      const passages = this.#passages.get(stem) ?? 0;
      if (count === 0) continue;
      total +=
        kind === 'idf'
          ? Math.log(this.#texts.length / passages)
          : (rarity(passages, this.#texts.length) * count * (SATURATION + 1)) / (count + SATURATION * length);
    }
    return total;
  }
}

async function stemsIn(sql: Queries, text: string): Promise<string[]> {
  const words = wordsOf(text);
  const stems = await stemsOf(sql, 'english', words);
  return words.flatMap((word) => {
    const stem = stems.get(word.text);
    return stem === undefined || stem.isStopWord ? [] : [stem.term];
  });
}
