import { describe, expect, test } from 'vitest';
import { identifiersIn, pathsInArguments } from '../../src/context/log/readable-text.ts';
import { HARD_UNITS, countSteps } from '../support/count-steps.ts';

describe('identifiers', () => {
  test('are what must not change by a character', () => {
    const text =
      'See https://example.org/a?b=1, order KT-9284 and #481; commit 9f86d08 by ada@example.org. Call 4915112345678 today, the cafe is nice.';
    expect(identifiersIn(text)).toEqual([
      'https://example.org/a?b=1',
      'KT-9284',
      '#481',
      '9f86d08',
      'ada@example.org',
      '4915112345678',
    ]);
  });

  test('are found in JSON and code without blanks, and behind a run that names nothing', () => {
    const filling = 'a.b.'.repeat(5_000);
    expect(identifiersIn(`${filling},{id:KT-9284,by:"b.c+d@x-y.co.uk"}(see http://a.example/x).`)).toEqual([
      'KT-9284',
      'b.c+d@x-y.co.uk',
      'http://a.example/x',
    ]);
  });

  test.each(HARD_UNITS)('are looked for in each character of %j a fixed number of times', (unit) => {
    const steps = (characters: number) =>
      countSteps(() => {
        identifiersIn(unit.repeat(characters).slice(0, characters));
      });
    const [short, long] = [steps(4_000), steps(32_000)];
    expect(long.steps).toBeLessThan(9 * short.steps);
    expect(long.steps).toBeLessThan(32_000 * 20);
  });

  test('are looked for by no pattern in a text of more than 2,000 characters', () => {
    for (const unit of HARD_UNITS) {
      const { longest } = countSteps(() => {
        identifiersIn(unit.repeat(8_000).slice(0, 8_000));
      });
      expect(longest, unit).toBeLessThanOrEqual(2_000);
    }
  });

  test('paths come from arguments that are named like one', () => {
    expect(pathsInArguments('{"path":"a/b.md","paths":["c.md",3],"query":"x/y","file":"multi\\nline.md"}')).toEqual([
      'a/b.md',
      'c.md',
    ]);
    expect(pathsInArguments('not json')).toEqual([]);
  });
});
