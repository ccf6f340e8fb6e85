import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteTerm, toVector, visitWords } from '../../../src/store/search/passage-terms.ts';
import { scoreByWords } from '../../../src/store/search/score-words.ts';
import type { PooledPassage } from '../../../src/store/search/score-words.ts';
import type { WeightedTerm } from '../../../src/store/search/weigh-terms.ts';
import { countPlaces, wordsAt, wordsOf } from '../../../src/store/search/words.ts';

const AT = new Date('2026-03-05T10:00:00Z');

function passage(id: number, found: string, more: Partial<PooledPassage> = {}): PooledPassage {
  return {
    id,
    path: null,
    kind: 'user',
    words: 10,
    createdAt: AT,
    gathered: 0,
    found,
    dates: [],
    ...more,
  };
}

function term(word: string, position: number, more: Partial<WeightedTerm> = {}): WeightedTerm {
  const plain = {
    isStopWord: false,
    isDate: false,
    isName: false,
    isRelated: false,
    share: 1,
    isSimilar: false,
    oneOf: 1,
  };
  return { ...plain, word, terms: [word], position, passages: 1, weight: 1, ...more };
}

describe('visitWords', () => {
  it('reads back what was written as a tsvector, places with or without a weight, and passes over what stands nowhere', () => {
    const words = fc.dictionary(
      fc.stringMatching(/^[a-zé'@.0-9-]{1,12}$/u),
      fc.array(fc.integer({ min: 1, max: 16_383 })),
    );
    fc.assert(
      fc.property(words, (written) => {
        const terms = new Map(Object.entries(written));
        const placed = [...terms].filter(([, places]) => places.length > 0);
        for (const vector of [toVector(terms), toVector(terms).replaceAll(/(?<=':[\d,]*\d)(?=[, ]|$)/gu, 'A')]) {
          const read = new Map<string, readonly number[]>();
          visitWords(vector, (word, places) => read.set(word, places));
          expect([...read]).toEqual(placed);
        }
      }),
    );
  });
});

describe('scoreByWords', () => {
  const asked = { terms: [term('blue', 1), term('door', 2), term('@2026-03', -1, { isDate: true })], averageWords: 10 };

  it('puts words that stand side by side as in the query first, a date that the passage names counts, summaries go last', () => {
    const found = (...places: readonly (readonly [string, number])[]) =>
      places.map(([word, place]) => `${quoteTerm(word)}:${place}A`).join(' ');
    const pool = [
      passage(1, found(['blue', 1], ['door', 9])),
      passage(2, found(['blue', 4], ['door', 5])),
      passage(3, found(['blue', 1], ['door', 9]), { dates: ['@2026-03'] }),
      passage(4, found(['blue', 4], ['door', 5]), { kind: 'summary' }),
      passage(5, found(['blue', 1], ['door', 9])),
    ];
    const scored = scoreByWords({ ...asked, chosenBy: new Set() }, pool);
    expect(scored.map(({ id }) => id)).toEqual([3, 2, 5, 1, 4]);
    expect(scored[0]?.matched.map(({ word }) => word)).toEqual(['blue', 'door', '@2026-03']);
  });

  it('does not count once more what a passage was chosen by', () => {
    const [counted] = scoreByWords({ ...asked, chosenBy: new Set() }, [passage(1, "'blue':1A")]);
    const [chosen] = scoreByWords({ ...asked, chosenBy: new Set([0]) }, [passage(1, "'blue':1A", { gathered: 1 })]);
    expect([counted?.wordScore, chosen?.wordScore]).toEqual([1, 1]);
    expect(chosen?.matched).toHaveLength(1);
  });
});

describe('wordsAt', () => {
  it('gives the words of some places as wordsOf does, and countPlaces how many there are', () => {
    const texts = ["Ada's src/store/errors.ts isn't readFitCheck, 42 times", 'naïve 文件名 café readFitCheck'];
    for (const text of [...texts, 'Zoë’s café – “readFitCheck” isn’t ½ naïve_été/ﬁle', '…']) {
      for (const places of [new Set([1, 2, 4]), new Set([3])])
        expect(wordsAt(text, places)).toEqual(wordsOf(text).filter(({ position }) => places.has(position)));
      expect(countPlaces(text)).toBe(wordsOf(text).at(-1)?.position ?? 0);
    }
  });
});
