/** The numbers that an overflow error names, in tokens. */
export interface OverflowNumbers {
  readonly actual: number;
  readonly limit: number;
  /** Output that the request asked for. */
  readonly maximumOutput: number;
}

export interface OverflowBody {
  readonly status: number;
  readonly body: unknown;
}

type MakeBody = (numbers: OverflowNumbers) => OverflowBody;

const invalid = (message: string, code: string | null = null, parameter: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param: parameter, code },
});

const counted = new Intl.NumberFormat('en-US');

/** How each vendor words an input that is too long (public issue threads; not one of them was called). */
const VENDORS: Readonly<Record<string, MakeBody>> = {
  anthropic: ({ actual, limit }) => ({
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: `prompt is too long: ${actual} tokens > ${limit} maximum` },
      request_id: null,
    },
  }),
  'anthropic-sum': ({ actual, limit, maximumOutput }) => ({
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: `input length and \`max_tokens\` exceed context limit: ${actual} + ${maximumOutput} > ${limit}, decrease input length or \`max_tokens\` and try again`,
      },
      request_id: null,
    },
  }),
  openai: ({ actual, limit }) => ({
    status: 400,
    body: invalid(
      `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${actual} tokens. Please reduce the length of the messages.`,
      'context_length_exceeded',
      'messages',
    ),
  }),
  'openai-responses': () => ({
    status: 400,
    body: invalid(
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      'context_length_exceeded',
      'input',
    ),
  }),
  azure: ({ actual, limit, maximumOutput }) => ({
    status: 400,
    body: invalid(
      `This model's maximum context length is ${limit} tokens, however you requested ${actual + maximumOutput} tokens (${actual} in your prompt; ${maximumOutput} for the completion). Please reduce your prompt; or completion length.`,
      'context_length_exceeded',
    ),
  }),
  groq: () => ({
    status: 400,
    body: invalid('Please reduce the length of the messages or completion.', 'context_length_exceeded', 'messages'),
  }),
  mistral: ({ actual, limit }) => ({
    status: 400,
    body: {
      object: 'error',
      message: `Prompt contains ${actual} tokens, too large for model with ${limit} maximum context length`,
      type: 'invalid_request_prompt_too_long',
      param: null,
      code: '3051',
    },
  }),
  xai: ({ actual, limit }) => ({
    status: 400,
    body: {
      code: 'Client specified an invalid argument',
      error: `This model's maximum prompt length is ${limit} but the request contains ${actual} tokens.`,
    },
  }),
  gemini: ({ actual, limit }) => ({
    status: 400,
    body: [
      {
        error: {
          code: 400,
          message: `The input token count (${actual}) exceeds the maximum number of tokens allowed (${limit}).`,
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
  }),
  openrouter: ({ actual, limit }) => ({
    status: 400,
    body: {
      error: {
        message: `This endpoint's maximum context length is ${limit} tokens. However, you requested about ${actual} tokens. Please reduce the length of either one.`,
        code: 400,
        metadata: { provider_name: null },
      },
    },
  }),
  vllm: ({ actual, limit }) => ({
    status: 400,
    body: {
      object: 'error',
      message: `This model's maximum context length is ${limit} tokens. However, you requested ${actual} tokens in the messages, Please reduce the length of the messages.`,
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
  }),
  'llama.cpp': ({ actual, limit }) => ({
    status: 400,
    body: {
      error: {
        code: 400,
        message: `request (${actual} tokens) exceeds the available context size (${limit} tokens), try increasing it`,
        type: 'exceed_context_size_error',
        n_prompt_tokens: actual,
        n_ctx: limit,
      },
    },
  }),
  'llama.cpp-500': ({ actual, limit }) => ({
    status: 500,
    body: {
      error: {
        code: 500,
        message: `the request exceeds the available context size: ${actual} > ${limit}`,
        type: 'server_error',
      },
    },
  }),
  tgi: ({ actual, limit, maximumOutput }) => ({
    status: 422,
    body: {
      error: `Input validation error: \`inputs\` tokens + \`max_new_tokens\` must be <= ${limit}. Given: ${actual} \`inputs\` tokens and ${maximumOutput} \`max_new_tokens\``,
      error_type: 'validation',
    },
  }),
  lmstudio: () => ({
    status: 400,
    body: {
      error:
        'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input',
    },
  }),
  'github-models': ({ limit }) => ({
    status: 413,
    body: {
      error: {
        code: 'tokens_limit_reached',
        message: `Request body too large for the model. Max size: ${limit} tokens.`,
        details: `Request body too large for the model. Max size: ${limit} tokens.`,
      },
    },
  }),
  copilot: ({ actual, limit }) => ({
    status: 400,
    body: {
      error: {
        message: `prompt token count of ${actual} exceeds the limit of ${limit}`,
        code: 'model_max_prompt_tokens_exceeded',
      },
    },
  }),
  bedrock: () => ({ status: 400, body: { message: 'Input is too long for requested model.' } }),
  'z.ai': () => ({ status: 400, body: { error: { code: '1261', message: 'Prompt exceeds max length' } } }),
  cohere: ({ actual, limit }) => ({
    status: 400,
    body: {
      message: `too many tokens: the total number of tokens in the prompt exceeds the limit of ${limit} by ${actual - limit}. Try using a shorter prompt.`,
    },
  }),
  litellm: ({ actual, limit }) => ({
    status: 400,
    body: {
      error: {
        message: `litellm.ContextWindowExceededError: ContextWindowExceededError: the prompt has ${counted.format(actual)} tokens, the model takes ${counted.format(limit)}`,
        type: null,
        param: null,
        code: '400',
      },
    },
  }),
  'textgen-200': ({ actual, limit }) => ({
    status: 200,
    body: {
      error: {
        message: `prompt of ${actual} tokens is longer than the context length of ${limit}`,
        type: 'APIError',
        code: 400,
      },
    },
  }),
};

export const OVERFLOW_VENDORS: readonly string[] = Object.keys(VENDORS);

/** An overflow in a vendor's own words; `undefined` for a vendor that the simulator does not know. */
export function overflowBody(vendor: string, numbers: OverflowNumbers): OverflowBody | undefined {
  return VENDORS[vendor]?.(numbers);
}
