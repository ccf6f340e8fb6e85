import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BestPassages } from '../../../src/store/search/best-passages.ts';

test('the best of many are those that sorting all would give, of equals the newest', () => {
  // Few scores, so that the last place that is wanted is shared by many.
  const passages = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 200 }).chain((scores) =>
    fc.shuffledSubarray(
      scores.map((score, id) => ({ id, score: score / 3 })),
      { minLength: scores.length },
    ),
  );
  fc.assert(
    fc.property(passages, fc.integer({ min: 1, max: 12 }), (given, count) => {
      const best = new BestPassages(count);
      for (const { id, score } of given) best.add(id, score);
      const sorted = given.toSorted((one, other) => other.score - one.score || other.id - one.id);
      expect(best.list()).toEqual(sorted.slice(0, count));
    }),
  );
});
