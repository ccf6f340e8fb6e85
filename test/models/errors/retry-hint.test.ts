import { describe, expect, test } from 'vitest';
import { classifyError } from '../../../src/models/errors/classify.ts';
import type { RawError } from '../../../src/models/errors/signals.ts';

function failed(body: unknown, status: number, changes: Partial<RawError> = {}): RawError {
  return { status, headers: {}, body, streamed: false, ...changes };
}

describe('a retry hint', () => {
  const GEMINI = 'You exceeded your current quota, please check your plan and billing details.';
  const retryInfo = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '26s' };

  test("makes Gemini's limit of a minute a wait, though it speaks of quota and billing", () => {
    const body = [{ error: { code: 429, message: GEMINI, status: 'RESOURCE_EXHAUSTED', details: [retryInfo] } }];
    expect(classifyError(failed(body, 429))).toMatchObject({
      kind: 'retryable',
      cause: 'rate_limit',
      delayMilliseconds: 26_000,
    });
    expect(classifyError(failed({ error: { code: 'insufficient_quota', message: GEMINI } }, 429)).kind).toBe(
      'permanent',
    );
  });

  test("makes OpenRouter's limit of a day a wait until its reset, though it asks for credits", () => {
    const message =
      'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day';
    const headers = { 'X-RateLimit-Limit': '50', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1741305600000' };
    const body = { error: { message, code: 429, metadata: { headers } } };
    expect(classifyError(failed(body, 429), 1_741_305_000_000)).toMatchObject({
      kind: 'retryable',
      cause: 'rate_limit',
      delayMilliseconds: 600_000,
    });
    expect(classifyError(failed({ error: { message, code: 429 } }, 429))).toMatchObject({ cause: 'rate_limit' });
  });

  test.each([
    [429, '', 'rate_limit'],
    [400, { error: { code: 'rate_limit_exceeded' } }, 'rate_limit'],
    [503, 'Rate limit reached', 'rate_limit'],
    [503, 'Overloaded', 'outage'],
  ])('makes HTTP %d %j a wait: %s', (status, body, cause) => {
    const headers = { 'retry-after': '5' };
    expect(classifyError(failed(body, status, { headers }), 0)).toMatchObject({ cause, delayMilliseconds: 5_000 });
  });
});

describe('delay', () => {
  const now = Date.UTC(2026, 10, 22, 12, 0, 0);
  test.each<[string, Record<string, string>, unknown, number | undefined]>([
    ['retry-after-ms', { 'retry-after-ms': '1500', 'retry-after': '9' }, '', 1_500],
    ['retry-after in seconds', { 'retry-after': '2.5' }, '', 2_500],
    ['retry-after as a date', { 'retry-after': 'Sun, 22 Nov 2026 12:00:30 GMT' }, '', 30_000],
    ['a date that has passed', { 'retry-after': 'Sun, 22 Nov 2026 11:00:00 GMT' }, '', undefined],
    ['nonsense', { 'retry-after': 'soon' }, '', undefined],
    ['a wait of years, which is a day', { 'retry-after': '99999999' }, '', 86_400_000],
    ['a wait that no number holds', { 'retry-after': '9'.repeat(400) }, '', 86_400_000],
    ['a date of next week', { 'retry-after': 'Sun, 29 Nov 2026 12:00:00 GMT' }, '', 86_400_000],
    ['no wait, and words that tell of one', { 'retry-after': '0' }, 'Try again in 3 s.', 3_000],
    [
      'an exhausted limit of OpenAI',
      { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' },
      '',
      360_000,
    ],
    [
      'a limit that is not exhausted',
      { 'x-ratelimit-remaining-tokens': '7', 'x-ratelimit-reset-tokens': '6m0s' },
      '',
      undefined,
    ],
    [
      'an exhausted limit of Anthropic',
      { 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': '2026-11-22T12:01:00Z' },
      '',
      60_000,
    ],
    ['words', {}, 'Please try again in 1m2.5s.', 62_500],
    ['words in days', {}, 'Please try again in 2 days.', 86_400_000],
    ['words in milliseconds', {}, 'Rate limit: retry after 120ms', 120],
    ['a property', {}, [{ error: { details: [{ '@type': 'RetryInfo', retryDelay: '34s' }] } }], 34_000],
  ])('%s', (_, headers, body, expected) => {
    const verdict = classifyError(failed(body, 429, { headers }), now);
    expect(verdict).toMatchObject({ kind: 'retryable' });
    expect(verdict.kind === 'retryable' ? verdict.delayMilliseconds : 0).toBe(expected);
  });
});
