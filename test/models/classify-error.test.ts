import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assessError } from '../../src/models/assess-error.ts';
import { classifyError } from '../../src/models/classify-error.ts';
import type { RawError } from '../../src/models/error-signals.ts';

function failed(body: unknown, status: number | undefined = 400, changes: Partial<RawError> = {}): RawError {
  return { provider: 'some', status, headers: {}, body, text: undefined, streamed: false, ...changes };
}

function assess(body: unknown, status?: number) {
  return assessError(failed(body, status), 0);
}

describe('status', () => {
  test.each([
    [400, 'permanent'],
    [401, 'permanent'],
    [402, 'permanent'],
    [403, 'permanent'],
    [404, 'permanent'],
    [408, 'retryable'],
    [409, 'retryable'],
    [413, 'permanent'],
    [422, 'permanent'],
    [425, 'retryable'],
    [429, 'retryable'],
    [500, 'retryable'],
    [501, 'permanent'],
    [502, 'retryable'],
    [503, 'retryable'],
    [504, 'retryable'],
    [529, 'retryable'],
  ])('HTTP %d without words is %s', (status, kind) => {
    expect(classifyError(failed('', status)).kind).toBe(kind);
  });

  test('R32 a 429 is a rate limit whatever else it says, unless a code names the overflow', () => {
    expect(classifyError(failed('your prompt is too long', 429))).toMatchObject({
      kind: 'retryable',
      cause: 'rate_limit',
    });
    expect(classifyError(failed({ error: { code: 'context_length_exceeded' } }, 429)).kind).toBe('overflow');
  });

  test('a status inside the body counts when HTTP said 200', () => {
    expect(classifyError(failed({ error: { code: 429, message: 'later' } }, 200))).toMatchObject({
      cause: 'rate_limit',
    });
  });

  test('an unknown event of a stream is worth a retry, an unknown body is not', () => {
    expect(classifyError(failed({ message: 'hm' }, 400, { status: undefined, streamed: true })).kind).toBe('retryable');
    expect(classifyError(failed({ message: 'hm' }, 200)).kind).toBe('permanent');
  });
});

describe('overflow', () => {
  test.each([
    'Your prompt is far too long for this model.',
    'The conversation went over its context budget.',
    'context window overflow',
    'We could not fit your messages into the context.',
    'The input holds more tokens than the model can take.',
    'Please shorten the conversation.',
    'This prompt overflows what fits in n_ctx',
    'Der Prompt überschreitet die Kontextlänge.',
    'La conversation dépasse le contexte du modèle.',
    'El mensaje excede el contexto del modelo',
    '对话内容过长，超出上下文窗口',
    'コンテキストの上限を超えました',
    '컨텍스트 길이를 초과했습니다',
    'Контекст превышен',
  ])('words alone: %s', (words) => {
    expect(assess({ error: { message: words } })).toMatchObject({ kind: 'overflow', repair: 'compact' });
  });

  test.each([
    ['prompt of 9,310 tokens exceeds the context of 8,192'],
    ['the context takes 8192 tokens, your prompt has 9310'],
    ['context window: 8.192 tokens. You sent 9.310 tokens.'],
    ['9 310 tokens were sent where the context holds 8 192 tokens'],
    ["context limit is 8'192 tokens; 9'310 tokens requested"],
    ['tokens over the window (9_310 > 8_192)'],
    ['prompt is 1118 tokens over the context limit of 8192'],
    ['９３１０ tokens do not fit the context of ８１９２ tokens'],
    ['上下文最多 8192 个 token，实际 9310'],
  ])('figures in any order and format: %s', (words) => {
    expect(assess({ error: { message: words } })).toMatchObject({ kind: 'overflow', actual: 9_310, limit: 8_192 });
  });

  test.each([
    ['k', '210k tokens sent, the window is 200k', 210_000, 200_000],
    ['M', 'a prompt of 1.2M tokens is over the context of 1M', 1_200_000, 1_000_000],
    ['names of models', 'gpt-4-32k: the prompt has 40000 tokens, the context 32768', 40_000, 32_768],
    ['error numbers', 'Error 5031: prompt of 40000 tokens exceeds the context of 32768', 40_000, 32_768],
  ])('figures with %s', (_, words, actual, limit) => {
    expect(assess({ error: { message: words } })).toMatchObject({ kind: 'overflow', actual, limit });
  });

  const NESTED = 'The prompt has 9310 tokens, the context window 8192.';
  test.each([
    ['flat', { message: NESTED }],
    ['a bare string', { error: NESTED }],
    ['a list', [{ error: { message: NESTED } }]],
    [
      'JSON in a string',
      { error: { message: 'upstream said', metadata: { raw: JSON.stringify({ error: { message: NESTED } }) } } },
    ],
    ['JSON twice in a string', { error: JSON.stringify({ inner: JSON.stringify({ message: NESTED }) }) }],
    ['JSON among words', `Error code: 400 - ${JSON.stringify({ error: { message: NESTED } })}`],
    ['a printed dictionary', `Error code: 400 - {'error': {'message': '${NESTED}', 'param': None}}`],
    ['printed bytes', `Wrapper: b'{"error":{"message":"${NESTED}"}}'`],
    [
      'HTML',
      `<html><head><style>p { width: 100px }</style></head><body><p>${NESTED.replace(' ', '&nbsp;')}</p></body></html>`,
    ],
    ['a server-sent event', `data: ${JSON.stringify({ error: { message: NESTED } })}\n\n`],
    ['a cause of a cause', { name: 'Outer', cause: { name: 'Inner', cause: { detail: [{ msg: NESTED }] } } }],
    ['the last of several attempts', { errors: [{ message: 'rate limit' }], lastError: { message: NESTED } }],
  ])('wrapped as %s', (_, body) => {
    expect(assess(body)).toMatchObject({ kind: 'overflow', actual: 9_310, limit: 8_192 });
  });

  test.each([
    [{ error: { code: 'context_length_exceeded' } }],
    [{ __type: 'ContextLengthExceededException' }],
    [{ error: { name: 'ContextWindowExceededError', message: '' } }],
    [{ error: { code: '1261', message: 'x' } }],
    [{ error: { type: 'exceed_context_size_error', n_prompt_tokens: 9_310, n_ctx: 8_192 } }],
    [{ error: { message: 'wrapper.ContextOverflowError: nothing else' } }],
  ])('codes: %j', (body) => {
    expect(assess(body, 500).kind).toBe('overflow');
  });

  test('a server fault needs more than a hint', () => {
    expect(assess('prompt of 9310 tokens, context of 8192', 500)).toMatchObject({ kind: 'overflow', actual: 9_310 });
    expect(assess('request queue too long, try again later', 503).kind).toBe('outage');
    expect(assess('context deadline exceeded', 500).kind).toBe('outage');
  });

  test('input plus output over the window asks for less output first', () => {
    const words = 'input and max_tokens go over the context limit: 20000 + 16000 > 32768';
    expect(classifyError(failed(words))).toMatchObject({
      kind: 'overflow',
      repair: 'lower_max_tokens',
      maximumOutput: 12_768,
      actual: 36_000,
      limit: 32_768,
    });
  });

  test('a lower bound is no size', () => {
    const assessed = assess(
      'the context is 8192 tokens; you asked for 100 output tokens and sent at least 8093 input tokens',
    );
    expect(assessed).toMatchObject({ kind: 'overflow', repair: 'compact', limit: 8_192 });
    expect(assessed).not.toHaveProperty('actual');
  });

  test('a negative maximum output is an overflow in disguise', () => {
    expect(assess('max_tokens must be at least 1, but is -77')).toMatchObject({ kind: 'overflow', repair: 'compact' });
  });

  test('what the server quotes of the request is not read', () => {
    const body = {
      detail: [
        { msg: 'field required', loc: ['body', 'tools'], input: 'why is my prompt too long for the context window?' },
      ],
    };
    expect(assess(body, 422).kind).toBe('invalid_request');
  });
});

describe('not an overflow', () => {
  test.each([
    ['tokens per minute used up: 120000 > 100000', 'rate_limit', 'wait'],
    ['Too many tokens, please slow down', 'rate_limit', 'wait'],
    ['the monthly token allowance is exceeded', 'rate_limit', 'wait'],
    ['too many requests for this model', 'rate_limit', 'wait'],
    ['credits exhausted: prompt tokens exceed what is left', 'billing', 'stop'],
    ['余额不足', 'billing', 'stop'],
    ['the api key is too long: invalid api key', 'authentication', 'stop'],
    ['max_tokens of 9000 is larger than 4096', 'output_too_large', 'lower_max_tokens'],
    ['the picture is too large: image of 9000 pixels', 'payload_too_large', 'drop_media'],
    ['body size of 50 MB exceeds the limit', 'payload_too_large', 'drop_media'],
    ['a PDF of 900 pages is more than 600', 'payload_too_large', 'drop_media'],
    ['string too long: 70000 characters, at most 65536', 'invalid_request', 'stop'],
    ['tools: array too long, at most 128', 'invalid_request', 'stop'],
    ['too many messages: at most 500', 'too_many_messages', 'compact'],
    ['thinking block has an invalid signature', 'thinking_refused', 'drop_thinking'],
    ['blocked by the content filter', 'content_filter', 'stop'],
    ['temperature must be less than 2', 'invalid_request', 'stop'],
    ['a tool call without a result', 'invalid_request', 'stop'],
  ])('%s: %s', (words, kind, repair) => {
    expect(assess({ error: { message: words } })).toMatchObject({ kind, repair });
  });

  test('one request over the rate limit never goes through: it has to shrink', () => {
    const verdict = classifyError(failed('Too large for tokens per minute (TPM): Limit 6000, Requested 7143', 413));
    expect(verdict).toMatchObject({ kind: 'overflow', actual: 7_143, limit: 6_000 });
  });

  test('credit for less output asks for less output', () => {
    const words = 'Not enough credits: you asked for max_tokens 64000 but can only afford 3000.';
    expect(classifyError(failed(words, 402))).toMatchObject({
      kind: 'permanent',
      repair: 'lower_max_tokens',
      maximumOutput: 3_000,
    });
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

describe('always', () => {
  test('no body makes it throw, and the evidence quotes nothing of it', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom(undefined, 200, 400, 403, 413, 429, 500),
        (json, words, status) => {
          const planted = 'zebra crossing';
          const body = {
            error: { message: `${words} ${planted} prompt too long`, nested: JSON.parse(json) as unknown },
          };
          const verdict = classifyError(failed(body, 400, { status }));
          expect(verdict.evidence).not.toContain('zebra');
          expect(classifyError(failed(json, 400, { status })).evidence).toEqual(expect.any(String));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('a body built to be slow to read is read in time', () => {
    const bodies = [
      'context '.repeat(30_000),
      '1,'.repeat(100_000),
      'tokens exceed '.repeat(20_000),
      '{"a":'.repeat(30_000),
      "b'".repeat(50_000),
    ];
    // Processor time: other programs on the machine do not count.
    const before = process.cpuUsage();
    for (const body of bodies) assess(body);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });
});
