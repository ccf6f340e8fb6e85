import { describe, expect, test } from 'vitest';
import { classifyError } from '../../../src/models/errors/classify.ts';
import type { RequestSize } from '../../../src/models/model-client.ts';

function assess(body: unknown, status = 400, size?: RequestSize) {
  return classifyError({ status, headers: {}, body, streamed: false }, 0, size);
}

describe('what is too long', () => {
  test.each([
    'Tool result exceeds maximum allowed tokens (25000)',
    'refresh_token exceeded its lifetime',
    'max iterations exceeded in agent conversation',
    'The request took too long to process',
    'Your prompt exceeds the 4000 character limit',
    'the prompt exceeds the allowed risk score 0.8',
    'Too many parts in message: 3100 > 3000',
    'embed: input (95000 tokens) exceeds the context length (8192)',
    'Input at index 3 exceeds the maximum length: 95000 tokens given, 8192 allowed',
    'single image token count 95000 exceeds max_image_token_count 16384',
    'thinking_tokens must be greater than 1024',
    'Prompt too large: 1310720 bytes (max 1048576)',
    'Too many input tokens. Max input tokens: 8192, request input token count: 9875',
    'the request context window of 46,080 tokens is below the minimum 64,000',
  ])('is not the input: %s', (words) => {
    // Whose limit it is; else a request that fills 80 % cannot be over the window.
    expect(assess(words, 400, { estimatedTokens: 80_000, window: 100_000 }).kind).not.toBe('overflow');
  });

  test('two counts of input tokens in a minute are a rate', () => {
    const text = 'would exceed the rate limit of 80,000 input tokens per minute (current: 95,000 input tokens)';
    expect(assess(text).cause).toBe('rate_limit');
    const over = { estimatedTokens: 105_000, window: 100_000 };
    expect(assess('Too many tokens per day, please wait', 400, over).cause).toBe('rate_limit');
  });

  test('headers and addresses are told by the status', () => {
    expect(assess('Request Header Fields Too Large', 431).kind).toBe('permanent');
    expect(assess('Request-URI Too Long', 414).kind).toBe('permanent');
  });

  test('the id of a session is no parameter, and a deadline or a conflict no window', () => {
    const withId = 'Please shorten: the text is too long (session_id: 1b2f73a9-f879-4ec4-b392-63b2fedf91f6)';
    expect(assess(withId).kind).toBe('overflow');
    expect(assess(withId.replace('session_id', 'requestId')).kind).toBe('overflow');
    expect(assess('Request invalid: context_length_exceeded').kind).toBe('overflow');
    expect(assess('RPC::DEADLINE_EXCEEDED while reading the request').kind).not.toBe('overflow');
    expect(assess({ code: 'RUN_TOKEN_BUDGET_EXHAUSTED' }, 409).kind).not.toBe('overflow');
    expect(assess({ code: 'RUN_TOKEN_BUDGET_EXHAUSTED' }, 400).kind).toBe('overflow');
    expect(assess('capability_rejected: prompt_too_long').kind).toBe('overflow');
  });

  test('two counts beside the name of the window come before a gateway, a status and a bare 413', () => {
    const counted = 'Context window exceeded: 120002 tokens exceeds the limit of 120000 tokens';
    expect(assess(`completion request failed, code: http_403 Forbidden, message: ${counted}`, 403).kind).toBe(
      'overflow',
    );
    expect(assess('Upstream error: context length exceeded', 502).kind).toBe('overflow');
    expect(assess('Request too large.', 413).cause).toBe('payload_too_large');
  });
});

describe('how full the request was', () => {
  const fill = (share: number) => ({ estimatedTokens: share * 100_000, window: 100_000 });
  const assessAt = (share: number, body: unknown, status: number) => assess(body, status, fill(share));

  test.each([400, 413, 422, 500])(
    'an unknown %d near the window is an overflow, a smaller request is none',
    (status) => {
      expect(assessAt(0.95, '', status)).toMatchObject({ kind: 'overflow', repair: 'compact' });
      expect(assessAt(0.85, '', status).kind).not.toBe('overflow');
      expect(assess('', status).kind).not.toBe('overflow');
    },
  );

  test.each([
    [500, 'Internal server error'],
    [503, ''],
    [401, ''],
    [429, 'your prompt is too long'],
    [400, "Unknown parameter: 'foo'"],
    [400, 'tools.0.input_schema: expected an object'],
  ])('HTTP %d "%s" is understood up to the window, and beyond it only another status', (status, words) => {
    expect(assessAt(0.99, words, status).kind).not.toBe('overflow');
    expect(assessAt(1.02, words, status).kind === 'overflow').toBe(status === 400 || status === 500);
  });

  test('words alone are no overflow of a request that fills little, unless they count tokens', () => {
    const words = 'the prompt is too long for our engine';
    expect(assessAt(0.5, words, 400).kind).toBe('overflow');
    expect(assessAt(0.4, words, 400).cause).toBe('invalid_request');
    const vague = 'the text is too long for our engine';
    expect(assessAt(0.9, vague, 400).kind).toBe('overflow');
    expect(assessAt(0.8, vague, 400).cause).toBe('invalid_request');
    expect(assessAt(0.1, 'prompt has 9800 tokens, engine reads 8192', 400).kind).toBe('overflow');
    expect(assessAt(0.1, 'all texts have 98000 tokens, engine reads 8192', 400).kind).not.toBe('overflow');
    expect(assessAt(0.1, 'prompt is too long: 300000 tokens > 200000 maximum', 400).kind).toBe('overflow');
    expect(assessAt(0.5, 'prompt is too long: 12000 tokens > 8192 maximum', 400).kind).not.toBe('overflow');
  });
});
