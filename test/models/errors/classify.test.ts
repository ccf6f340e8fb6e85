import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classifyError } from '../../../src/models/errors/classify.ts';
import type { RawError } from '../../../src/models/errors/signals.ts';

function failed(body: unknown, status: number | undefined = 400, changes: Partial<RawError> = {}): RawError {
  return { status, headers: {}, body, streamed: false, ...changes };
}

function assess(body: unknown, status?: number) {
  return classifyError(failed(body, status), 0);
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

  test('an overflow that a gateway or a key server reports is one all the same', () => {
    const quoted = 'Failed to invoke model, status code: 400, message: Range of input length should be [1, 30720]';
    expect(assess(quoted, 503)).toMatchObject({ kind: 'overflow', window: 30_720 });
    expect(assess('The current model supports only 256K context', 401)).toMatchObject({ kind: 'overflow' });
    expect(assess({ base_resp: { status_code: 1039, status_msg: 'token limit' } }).kind).toBe('overflow');
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
    ['９３１０ tokens do not fit the context of ８１９２ tokens'],
    ['上下文最多 8192 个 token，实际 9310'],
  ])('figures in any order and format: %s', (words) => {
    expect(assess({ error: { message: words } })).toMatchObject({ kind: 'overflow', actual: 9_310, limit: 8_192 });
  });

  test.each([
    ['k', '210k tokens sent, the window is 200k', 210_000, 200_000],
    ['M', 'a prompt of 1.2M tokens is over the context of 1M', 1_200_000, 1_000_000],
    ['names of models', 'gpt-4-32k: the prompt has 40000 tokens, the context 32768', 40_000, 32_768],
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
    [{ error: { message: 'prompt_too_long' } }],
    [{ error: { message: 'no', params: { prompt_tokens: 9_310, context_window: 8_192 } } }],
    [{ error: { messages: ['context window exceeded'] } }],
  ])('codes: %j', (body) => {
    expect(assess(body, 500).kind).toBe('overflow');
  });

  test('a server fault needs more than a hint', () => {
    expect(assess('prompt of 9310 tokens, context of 8192', 500)).toMatchObject({ kind: 'overflow', actual: 9_310 });
    expect(assess('request queue too long, try again later', 503).cause).toBe('outage');
    expect(assess('context deadline exceeded', 500).cause).toBe('outage');
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

  test('all parts of the input count beside the output', () => {
    const tgi =
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3800 `inputs` tokens and 512 `max_new_tokens`';
    expect(assess(tgi, 422)).toMatchObject({ repair: 'lower_max_tokens', maximumOutput: 296, actual: 4_312 });
    const words =
      'maximum context length is 40960 tokens. However, you requested about 42988 tokens (38000 of text input, 892 of tool input, 4096 in the output)';
    expect(assess(words)).toMatchObject({ repair: 'lower_max_tokens', maximumOutput: 2_068, actual: 42_988 });
  });

  test('a lower bound is no size', () => {
    const assessed = assess(
      'maximum context length is 8192 tokens. However, you requested 100 output tokens and your prompt contains at least 8093 input tokens',
    );
    expect(assessed).toMatchObject({ kind: 'overflow', repair: 'compact', limit: 8_192 });
    expect(assessed).not.toHaveProperty('actual');
  });

  test('a negative maximum output is an overflow in disguise', () => {
    expect(assess('max_tokens must be at least 1, but is -77')).toMatchObject({ kind: 'overflow', repair: 'compact' });
  });

  test('what the server quotes of the request is not read', () => {
    const quoted = 'why is my prompt too long for the context window?';
    const body = { detail: [{ msg: 'field required', loc: ['body', 'tools'], input: quoted }] };
    expect(assess(body, 422).cause).toBe('invalid_request');
    const echoed = { messages: [{ role: 'user', content: quoted }] };
    expect(assess({ error: { message: 'no such field', ...echoed } }, 422).cause).toBe('invalid_request');
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
  ])('%s: %s', (words, cause, repair) => {
    expect(assess({ error: { message: words } })).toMatchObject({ cause, repair });
  });

  test('one request over the rate limit never goes through: it has to shrink', () => {
    const verdict = classifyError(failed('Too large for tokens per minute (TPM): Limit 6000, Requested 7143', 413));
    expect(verdict).toMatchObject({ kind: 'overflow', actual: 7_143, limit: 6_000 });
  });
});

describe('known sentences', () => {
  test.each([
    ['prompt is too long: 205000 tokens > 200000 maximum', 205_000, 200_000],
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      9_000,
      8_192,
    ],
    ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).', 1_200_000, 1_048_575],
    ["This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 140_000, 131_072],
    ['request (9310 tokens) exceeds the available context size (8192 tokens), try increasing it', 9_310, 8_192],
    ['Too many input tokens. Max input tokens: 8192, request input token count: 9000', 9_000, 8_192],
    ['The decoder prompt (length 9000) is longer than the maximum model length of 8192.', 9_000, 8_192],
    ['Range of input length should be [1, 98304]', undefined, 98_304],
    ['Your input exceeds the context window of this model.', undefined, undefined],
  ])('%s', (words, actual, window) => {
    const verdict = classifyError(failed({ error: { message: words } }));
    expect(verdict).toMatchObject({ kind: 'overflow', ...(actual && { actual }), ...(window && { window }) });
    if (window === undefined) expect(verdict).not.toHaveProperty('window');
  });

  test('other words name a window only beside what was sent', () => {
    const verdict = classifyError(failed('our engine reads 8192 tokens of context, this prompt has 9310'));
    expect(verdict).toMatchObject({ kind: 'overflow', actual: 9_310, limit: 8_192, window: 8_192 });
    expect(classifyError(failed('a prompt may have 8192 tokens at most'))).not.toHaveProperty('window');
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
});
