import { expect, test } from 'vitest';
import type { ListedModel } from '../../../../src/cli/models/models.ts';
import { modelListLines } from '../../../../src/cli/render/lists/model-list.ts';
import { PLAIN_STYLE as style } from '../../../../src/cli/render/text/style.ts';

const PRICES = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: null };
const MODEL: ListedModel = {
  name: 'anthropic/claude',
  limits: { window: 200_000, maximumOutput: 64_000 },
  prices: PRICES,
  source: 'vendor, 2026-01-01',
  known: true,
  learned: [],
};
const LEARNED = {
  tenant: '',
  server: 'http://a',
  tokens: 8_192,
  mediaParts: null,
  mediaBytes: null,
  learnedAt: '2026-01-02T03:04',
};

/** The cells of each line, of those that are not empty. */
function cells(changes: Partial<ListedModel>, columns: number | null = null): string[][] {
  const lines = modelListLines([{ ...MODEL, ...changes }], { columns, style });
  return lines.slice(1).map((line) => line.trim().split(/ {2,}/u));
}

test('a model tells its limits and prices, and what is not known', () => {
  const source = 'vendor, 2026-01-01';
  expect(cells({})).toEqual([['anthropic/claude', '200,000', '200,000', '64,000', '1', '5', '0.1', 'unknown', source]]);
  const limits = { ...MODEL.limits, maximumInput: 180_000 };
  expect(cells({ limits })[0]?.slice(1, 4)).toEqual(['200,000', '180,000', '64,000']);
  const name = 'openrouter/anthropic/claude-opus-5-5';
  expect(cells({ name }, 80)[0]?.[0]).toBe(name);
});

test('below it stand the prices of long inputs, and what servers named', () => {
  const longInput = { ...PRICES, aboveTokens: 100_000, input: 2 };
  const learned = [
    LEARNED,
    { ...LEARNED, tokens: null, mediaParts: 0 },
    { ...LEARNED, mediaParts: 20, mediaBytes: 5_000 },
  ];
  const [, long, ...named] = cells({ prices: { ...PRICES, longInput }, learned });
  expect(long).toEqual(['input over 100,000', '2', '5', '0.1', 'unknown']);
  expect(named).toEqual([
    ['at http://a', '8,192', 'named in an error, 2026-01-02'],
    ['at http://a', 'no images or files, named in an error, 2026-01-02'],
    [
      'at http://a',
      '8,192',
      'at most 20 images and files, at most 5,000 bytes of images and files, named in an error, 2026-01-02',
    ],
  ]);
});
