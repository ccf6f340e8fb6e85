import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { shownResult, resultLimitFor } from '../../src/tools/runtime/compose-result.ts';

const ENTRY = '01890a5d-ac96-774b-bcce-b302099a8057';

function shown(text: string, limit: number, missingBytes = 0): string {
  const outline = { head: text.slice(0, limit), tail: text.slice(-limit), totalCharacters: text.length };
  return shownResult({ ...outline, limit, entryId: ENTRY, missingBytes });
}

const NOTICE =
  /\n\[… characters (\d+) to (\d+) of (\d+) are not shown; open them with recall_open \{"entry_id": "([^"]+)", "offset": (\d+)\}.* …\]\n/;

/** Prose with line ends, or emoji without any: there a cut falls on a line, here inside a surrogate pair. */
const texts = fc.oneof(
  fc.array(fc.oneof(fc.constant('word '), fc.constant('\n'), fc.string({ maxLength: 30 })), {
    minLength: 600,
    maxLength: 3_000,
  }),
  fc.array(fc.constantFrom('😀', 'x'), { minLength: 1_500, maxLength: 5_000 }),
);

test('never longer than the limit; shown and not shown together are the text; no pair is split', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 2_000, max: 6_000 }), (parts, limit) => {
      const text = parts.join('');
      const result = shown(text, limit);
      expect(result.length).toBeLessThanOrEqual(limit);
      const notice = NOTICE.exec(result);
      if (notice === null) {
        expect(result).toBe(text);
        return;
      }
      const [whole, from, to] = notice;
      const [head = '', tail = ''] = result.split(whole);
      expect(head + text.slice(Number(from), Number(to)) + tail).toBe(text);
      expect(head.length).toBeGreaterThan(limit * 0.3);
      expect(tail.length).toBeGreaterThan(limit * 0.2);
      // With the flag u, \p{Surrogate} matches lone surrogates only.
      expect(/\p{Surrogate}/u.test(head) || /\p{Surrogate}/u.test(tail)).toBe(false);
    }),
    { numRuns: 200 },
  );
});

test('bytes that were too much to store are named', () => {
  expect(shown('x'.repeat(5_000), 2_000, 123)).toContain('the last 123 bytes were too much to store');
});

test('scales with the window between 2,000 and 100,000 characters', () => {
  expect([1_000, 8_192, 32_768, 200_000, 1_000_000].map(resultLimitFor)).toEqual([
    2_000, 3_072, 12_288, 75_000, 100_000,
  ]);
});
