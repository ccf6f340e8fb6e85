import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_CALIBRATION, calibratedTokens } from '../../src/context/log/estimate.ts';
import { measureText } from '../../src/context/log/measure.ts';
import { pieceOfTexts } from '../../src/context/summary/transcript.ts';

function piecesOf(texts: readonly string[], of: number): string[][] {
  return Array.from({ length: of }, (_, index) => pieceOfTexts(texts, { number: index + 1, of }, NO_CALIBRATION));
}

test('all pieces together are the texts, and no piece cuts a pair of surrogates', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\u{1F600}'), maxLength: 5_000, size: 'max' });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 3 }), fc.integer({ min: 1, max: 5 }), (texts, of) => {
      const pieces = piecesOf(texts, of);
      expect(texts.map((_, index) => pieces.map((piece) => piece[index] ?? '').join(''))).toEqual(texts);
      for (const part of pieces.flat()) expect(part).not.toMatch(/\p{Cs}/u);
    }),
    { numRuns: 50 },
  );
});

test('pieces are of about the same number of tokens where characters are not', () => {
  const texts = ['plain words of prose. '.repeat(1_000), '明天開會'.repeat(2_500)];
  const tokens = piecesOf(texts, 4).map((piece) => calibratedTokens(measureText(piece.join('')), NO_CALIBRATION));
  const average = tokens.reduce((sum, each) => sum + each, 0) / tokens.length;
  // One chunk of 1,000 characters of the wider script more or less.
  const chunk = calibratedTokens(measureText('明天開會'.repeat(250)), NO_CALIBRATION);
  for (const each of tokens) expect(Math.abs(each - average)).toBeLessThanOrEqual(chunk);
});
