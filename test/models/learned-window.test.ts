import { describe, expect, test } from 'vitest';
import { classifyError } from '../../src/models/errors/classify.ts';
import { windowToLearn, withLearnedLimits } from '../../src/models/errors/learned-window.ts';
import type { ErrorVerdict } from '../../src/models/model-client.ts';

const known = { window: 200_000, maximumInput: 180_000, maximumOutput: 64_000 };
const overflow = (given: Partial<ErrorVerdict>): ErrorVerdict => ({
  kind: 'overflow',
  cause: 'overflow',
  repair: 'compact',
  evidence: 'some rule',
  ...given,
});

describe('which window an error teaches', () => {
  test.each([
    ['a smaller one, counted about as estimated', { actual: 150_000, window: 131_072 }, 131_072],
    ['a smaller one that is near the estimate', { window: 131_072 }, 131_072],
    ['much smaller, but counted as estimated', { actual: 140_000, window: 8_192 }, 8_192],
    ['much smaller and not counted: another number', { window: 8_192 }, undefined],
    ['counted quite differently: misread', { actual: 9_000, window: 8_192 }, undefined],
    ['the known one', { window: 200_000 }, undefined],
    ['an error number', { actual: 140_000, window: 413 }, undefined],
    ['a limit that is no window', { actual: 140_000, limit: 100_000 }, undefined],
  ])('%s', (_, given, expected) => {
    expect(windowToLearn(overflow(given), { known, estimatedInput: 145_000 })).toBe(expected);
  });

  test.each([
    ['prompt is too long: 147000 tokens > 131072 maximum', 131_072],
    ["Input tokens (147000) plus max_tokens (8192) exceed the model's context window", undefined],
  ])('"%s" teaches a window, but no maximum of the output', (message, expected) => {
    const error = { status: 400, headers: {}, body: { error: { message } }, streamed: false };
    const verdict = classifyError(error, 0, { estimatedTokens: 145_000, window: 200_000 });
    expect(verdict.kind).toBe('overflow');
    expect(windowToLearn(verdict, { known, estimatedInput: 145_000 })).toBe(expected);
  });

  test('no other failure teaches one', () => {
    const verdict: ErrorVerdict = {
      ...overflow({ maximumOutput: 8_192 }),
      kind: 'permanent',
      cause: 'output_too_large',
    };
    expect(windowToLearn(verdict, { known, estimatedInput: 145_000 })).toBeUndefined();
  });
});

test('a learned window caps every limit, and never raises one', () => {
  expect(withLearnedLimits(known, { tokens: 32_768 })).toEqual({
    window: 32_768,
    maximumInput: 32_768,
    maximumOutput: 32_768,
  });
  expect(withLearnedLimits(known, { tokens: 1_000_000 })).toEqual(known);
  expect(withLearnedLimits(known, { tokens: null })).toEqual(known);
});
