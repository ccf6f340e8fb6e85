import { describe, expect, test } from 'vitest';
import { classifyError } from '../../src/models/errors/classify.ts';
import type { RawError } from '../../src/models/errors/signals.ts';
import type { ErrorVerdict } from '../../src/models/model-client.ts';
import { HARD_UNITS, countSteps } from '../support/count-steps.ts';

function assess(body: unknown): ErrorVerdict {
  return classifyError({ status: 400, headers: {}, body, streamed: false }, 0);
}

describe('what is read of an error', () => {
  test.each(HARD_UNITS)('is bounded, however much of %j a server sends', (unit) => {
    const stepsOf = (characters: number): number => {
      const text = unit.repeat(characters).slice(0, characters);
      const errors = Array.from({ length: 50 }, (_, at) => ({ message: `${at} ${text}` }));
      return countSteps(() => {
        assess({ error: { message: text }, errors });
      }).steps;
    };
    // Beyond what is read, a body is only taken apart.
    expect(stepsOf(100_000) - stepsOf(10_000)).toBeLessThan(51 * 90_000 * 12);
    expect(stepsOf(10_000)).toBeLessThan(51 * 10_000 * 12 + 8_000 * 600);
  });

  test('is the beginning and the end of a long text', () => {
    const filling = 'Some words of a page. '.repeat(5_000);
    const overflow = { kind: 'overflow', actual: 9_000, limit: 8_192 };
    const told = 'maximum context length is 8192 tokens, you requested 9000 tokens';
    expect(assess(`${told} ${filling}`)).toMatchObject(overflow);
    expect(assess(`${filling} ${told}`)).toMatchObject(overflow);
    expect(assess({ errors: Array.from({ length: 40 }, (_, at) => ({ message: `${at} ${filling}` })) }).cause).toBe(
      'invalid_request',
    );
  });
});

function failed(body: unknown, status = 400): RawError {
  return { status, headers: {}, body, streamed: false };
}

test('an organization that may see no reasoning is asked again without it', () => {
  const message = 'Your organization must be verified to generate reasoning summaries. Please go to: settings';
  expect(
    classifyError(failed({ error: { message, param: 'reasoning.summary', code: 'unsupported_value' } }), 0),
  ).toMatchObject({
    cause: 'thinking_refused',
    repair: 'drop_thinking',
  });
});

test('what says that the prompt is too long is an overflow whatever code it has, also of a full request', () => {
  // Digits of an id are no limit.
  const body = { error: { type: 'request_too_large', message: 'Prompt is too long' }, request_id: 'req_011CVx2' };
  const full = { estimatedTokens: 205_000, window: 200_000 };
  expect(classifyError(failed(body, 413), 0, full).kind).toBe('overflow');
  expect(classifyError(failed(body, 413), 0).kind).toBe('overflow');
});
