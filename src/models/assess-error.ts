import { gatherSignals, type ErrorSignals, type RawError } from './error-signals.ts';
import * as words from './error-vocabulary.ts';
import { retryDelay } from './retry-after.ts';
import { smallestFigure, tokenFigures, type TokenFigures } from './token-figures.ts';

/** What kind of failure it was. */
export type ErrorKind =
  | 'overflow'
  | 'too_many_messages'
  | 'output_too_large'
  | 'payload_too_large'
  | 'thinking_refused'
  | 'rate_limit'
  | 'outage'
  | 'billing'
  | 'authentication'
  | 'permission'
  | 'not_found'
  | 'content_filter'
  | 'invalid_request'
  | 'unknown';

/** What can be done about it. */
export type Repair = 'compact' | 'lower_max_tokens' | 'drop_media' | 'drop_thinking' | 'wait' | 'stop';

export interface ErrorAssessment {
  readonly kind: ErrorKind;
  readonly repair: Repair;
  /** Tokens that the provider counted; absent when it stopped counting early. */
  readonly actual?: number;
  /** Tokens that the provider accepts. */
  readonly limit?: number;
  /** Tokens of output that fit. */
  readonly maximumOutput?: number;
  /** Milliseconds that the provider wants to be left alone. */
  readonly delayMilliseconds?: number;
  /** Which rule decided, with codes and numbers only: safe for logs and histories. */
  readonly evidence: string;
}

/**
 * What a provider's error means. In this order: codes that leave no doubt; vetoes (money, keys,
 * rates, outages, which also speak of tokens and limits); limits on other things than the window;
 * the word families; at last the bare status. Nothing in here knows a vendor by name.
 */
export function assessError(error: RawError, now: number): ErrorAssessment {
  const signals = gatherSignals(error);
  const text = signals.texts.join('\n');
  const figures = figuresIn(signals);
  return (
    byCode(signals, figures) ??
    byVeto(error, signals, text, figures, now) ??
    byOtherLimit(signals, text, figures) ??
    byWords(signals, text, figures) ??
    byStatus(error, signals, now)
  );
}

/** Normalized codes that name the overflow of a window (`context_length_exceeded`, `ContextWindowExceededError`…). */
const OVERFLOW_CODE =
  /context(?:length|window|size|limit|token)?s?(?:is|limit)?(?:exceed|overflow|toolong|toolarge)|exceed(?:s|ed|ing)?(?:the)?(?:available|model|max(?:imum)?)?context|(?:prompt|input|conversation)(?:is)?too(?:long|large)|prompt(?:tokens?|length)?(?:limit)?exceed|inputtokens?(?:limit|count)?exceed|^tokenslimitreached$|modelcontextwindowexceeded|maxcontext(?:length)?(?:exceeded|reached)?$/;

/** Zhipu's number for it, which its SDKs hand on without the text. */
const OVERFLOW_NUMBERS = new Set(['1261']);

function byCode(signals: ErrorSignals, figures: TokenFigures): ErrorAssessment | undefined {
  const code = [...signals.codes].find((name) => OVERFLOW_CODE.test(name) || OVERFLOW_NUMBERS.has(name));
  if (code !== undefined) return overflow(figures, `code ${code}`);
  const inText =
    /\b(?:context_length_exceeded|exceed_context_size_error|contextwindowexceedederror|contextoverflowerror|model_context_window_exceeded|prompt_too_long)\b/.exec(
      signals.texts.join('\n'),
    );
  if (inText !== null) return overflow(figures, `code ${inText[0]}`);
  const sent = signals.numbers.get('nprompttokens');
  const window = signals.numbers.get('nctx');
  if (sent === undefined || window === undefined || sent < window) return undefined;
  return overflow({ actual: sent, limit: window, lowerBound: false }, 'n_prompt_tokens over n_ctx');
}

const RATE_CODE = /ratelimit|toomanyrequests|throttl|resourceexhausted|quota|requestlimit|concurrency/;
const BILLING_CODE = /insufficientquota|billing|payment|credit|balance|spendlimit|arrears/;
const KEY_CODE = /authentication|invalidapikey|unauthorized|unauthenticated|invalidtoken|accesstoken/;
const OUTAGE_CODE =
  /overloaded|servererror|internal|unavailable|timeout|^apierror$|badgateway|engineoverload|insufficientsystemresource/;
const FILTER_CODE =
  /contentfilter|contentpolicy|contentmoderation|responsibleai|safety|datainspection|invalidprompt|biopolicy/;
const PAYLOAD_CODE =
  /requesttoolarge|payloadtoolarge|entitytoolarge|requestbody|imagedimensions|image(?:file)?toolarge|stringabovemax|filetoolarge/;

function byVeto(
  error: RawError,
  signals: ErrorSignals,
  text: string,
  figures: TokenFigures,
  now: number,
): ErrorAssessment | undefined {
  const { statuses } = signals;
  const has = (status: number) => statuses.includes(status);
  const coded = (pattern: RegExp) => [...signals.codes].some((code) => pattern.test(code));
  const delay = retryDelay(error.headers, signals.texts, now);
  const wait = delay === undefined ? {} : { delayMilliseconds: delay };
  if (has(402) || coded(BILLING_CODE) || words.BILLING_WORDS.test(text)) return billing(text);
  if (has(401) || coded(KEY_CODE)) return stop('authentication', 'the key was refused');
  if (has(404) && !words.WINDOW_EXCEEDED.test(text)) return stop('not_found', 'HTTP 404');
  if (has(403) && !words.WINDOW_EXCEEDED.test(text) && !words.INPUT_TOO_LONG.test(text)) {
    return stop('permission', 'HTTP 403');
  }
  const bareTokens = /too many tokens/.test(text) && !words.OF_THE_MODEL.test(text) && figures.limit === undefined;
  if (has(429) || coded(RATE_CODE) || words.RATE_WORDS.test(text) || bareTokens) {
    const single = requestOverRate(text);
    if (single !== undefined) return single;
    return { kind: 'rate_limit', repair: 'wait', ...wait, evidence: has(429) ? 'HTTP 429' : 'words of a rate limit' };
  }
  if (has(529) || /context (?:deadline|cancell?ed|was cancell?ed)/.test(text)) {
    return { kind: 'outage', repair: 'wait', ...wait, evidence: has(529) ? 'HTTP 529' : 'a deadline of the server' };
  }
  if (words.KEY_WORDS.test(text) && !words.INPUT_TOO_LONG.test(text)) return stop('authentication', 'words of a key');
  return undefined;
}

/** A request larger than what a minute allows never goes through, however long one waits (Groq's 413). */
function requestOverRate(text: string): ErrorAssessment | undefined {
  const limit = /limit:? ?([\d,]+)/.exec(text)?.[1];
  const requested = /requested:? ?([\d,]+)/.exec(text)?.[1];
  if (limit === undefined || requested === undefined) return undefined;
  const [cap, actual] = [limit, requested].map((digits) => Number(digits.replaceAll(',', '')));
  if (cap === undefined || actual === undefined || actual <= cap) return undefined;
  return { kind: 'rate_limit', repair: 'compact', actual, limit: cap, evidence: 'one request over the rate limit' };
}

/** OpenRouter checks credit for the maximum output: a lower one may still be paid for. */
function billing(text: string): ErrorAssessment {
  const affordable = /afford ([\d,]+)/.exec(text)?.[1];
  const fewer = affordable !== undefined && words.OUTPUT_WORDS.test(text);
  if (!fewer) return stop('billing', 'credit, quota or payment');
  const maximumOutput = Number(affordable.replaceAll(',', ''));
  return {
    kind: 'billing',
    repair: 'lower_max_tokens',
    maximumOutput,
    evidence: `credit for ${maximumOutput} tokens of output`,
  };
}

function byOtherLimit(signals: ErrorSignals, text: string, figures: TokenFigures): ErrorAssessment | undefined {
  const coded = (pattern: RegExp) => [...signals.codes].some((code) => pattern.test(code));
  const window = words.WINDOW_EXCEEDED.test(text) || (isOver(figures) && words.WINDOW_NAMED.test(text));
  const tokens = words.INPUT_TOKENS_EXCEEDED.token.test(text);
  const excess = words.INPUT_TOKENS_EXCEEDED.excess.test(text);
  if (words.OUTPUT_WORDS.test(text) && !words.BESIDE_OUTPUT.test(text) && excess) return outputTooLarge(text);
  if (words.THINKING_WORDS.test(text) && !/budget|effort/.test(text)) {
    return { kind: 'thinking_refused', repair: 'drop_thinking', evidence: 'words about thinking that was sent back' };
  }
  if (coded(FILTER_CODE) || (words.FILTER_WORDS.test(text) && !window)) {
    return stop('content_filter', 'words of a content filter');
  }
  if (window || (tokens && words.INPUT_TOO_LONG.test(text))) return undefined;
  if (words.MESSAGE_COUNT_WORDS.test(text) && !tokens) {
    return { kind: 'too_many_messages', repair: 'compact', evidence: 'a cap on the number of messages' };
  }
  const media = words.MEDIA_WORDS.test(text) && excess;
  const bytes = words.BYTE_WORDS.test(text) && (excess || /larger|limit/.test(text));
  if ((coded(PAYLOAD_CODE) && !tokens) || (!tokens && (media || bytes))) {
    if (words.INPUT_TOO_LONG.test(text) && !media && !bytes) return undefined;
    return {
      kind: 'payload_too_large',
      repair: 'drop_media',
      evidence: media ? 'a limit on media' : 'a limit in bytes',
    };
  }
  if (!tokens && (words.CHARACTER_WORDS.test(text) || words.LIST_WORDS.test(text)) && excess) {
    return stop('invalid_request', 'a limit in characters or items');
  }
  return undefined;
}

function outputTooLarge(text: string): ErrorAssessment {
  // vLLM computes the maximum from what the input leaves free, and complains when that is negative.
  if (/(?:at least 1|greater than 0|positive|>= ?1|> ?0)\b[^0-9-]{0,40}-\d/.test(text)) {
    return { kind: 'overflow', repair: 'compact', evidence: 'a negative maximum output is left beside the input' };
  }
  const limit = smallestFigure(text);
  const base = { kind: 'output_too_large', evidence: 'a limit on the output alone' } as const;
  return limit === undefined
    ? { ...base, repair: 'stop' }
    : { ...base, repair: 'lower_max_tokens', limit, maximumOutput: limit };
}

function byWords(signals: ErrorSignals, text: string, figures: TokenFigures): ErrorAssessment | undefined {
  const over = isOver(figures);
  const serverFault = (signals.statuses[0] ?? 0) >= 500;
  if (serverFault && words.OUTAGE_WORDS.test(text) && !over) return undefined;
  if (over && words.WINDOW_NAMED.test(text)) return overflow(figures, 'numbers: more than the window');
  if (words.WINDOW_EXCEEDED.test(text) && relatesToTokens(text, figures))
    return overflow(figures, 'words: window exceeded');
  if (words.INPUT_TOO_LONG.test(text)) return overflow(figures, 'words: input too long');
  const { input, token, excess } = words.INPUT_TOKENS_EXCEEDED;
  if (token.test(text) && excess.test(text) && (over || (input.test(text) && !serverFault))) {
    if (/stop (?:tokens|sequences)|logprobs|logit_bias/.test(text)) return undefined;
    return overflow(figures, 'words: too many tokens of input');
  }
  return undefined;
}

function isOver({ actual, limit }: TokenFigures): boolean {
  return actual !== undefined && limit !== undefined && actual > limit;
}

/** A window is meant when it is called context, or when something about it is counted. */
function relatesToTokens(text: string, figures: TokenFigures): boolean {
  return (
    words.INPUT_TOKENS_EXCEEDED.token.test(text) ||
    words.BESIDE_OUTPUT.test(text) ||
    figures.limit !== undefined ||
    /context|kontext|contex|контекст|上下文|コンテキスト|컨텍스트|n_?ctx|length|长度|kv/.test(text)
  );
}

function overflow(figures: TokenFigures, rule: string): ErrorAssessment {
  const { actual, limit, input, lowerBound } = figures;
  const inputFits = input !== undefined && limit !== undefined && input < limit && figures.output !== undefined;
  const sizes = lowerBound || actual === undefined ? {} : { actual };
  const numbers = `${actual === undefined ? '' : `, ${lowerBound ? 'at least ' : ''}${actual} tokens`}${limit === undefined ? '' : `, limit ${limit}`}`;
  return {
    kind: 'overflow',
    ...(inputFits && !lowerBound
      ? { repair: 'lower_max_tokens', maximumOutput: limit - input }
      : { repair: 'compact' }),
    ...sizes,
    ...(limit === undefined ? {} : { limit }),
    evidence: `${rule}${numbers}`,
  };
}

function byStatus(error: RawError, signals: ErrorSignals, now: number): ErrorAssessment {
  const status = signals.statuses[0];
  const coded = (pattern: RegExp) => [...signals.codes].some((code) => pattern.test(code));
  const delay = retryDelay(error.headers, signals.texts, now);
  const outage = (evidence: string): ErrorAssessment => ({
    kind: 'outage',
    repair: 'wait',
    ...(delay === undefined ? {} : { delayMilliseconds: delay }),
    evidence,
  });
  if (status === 413) return { kind: 'payload_too_large', repair: 'drop_media', evidence: 'HTTP 413' };
  if (status !== undefined && (status >= 500 || [408, 409, 425].includes(status)) && status !== 501) {
    return outage(`HTTP ${status}`);
  }
  if (error.headers['x-should-retry'] === 'true') return outage('the server asks for a retry');
  const shape = `type ${[...signals.codes].slice(0, 4).join(' ') || 'none'}; keys ${signals.shape || 'none'}`;
  if (status === undefined || status < 400) {
    if (coded(OUTAGE_CODE) || words.OUTAGE_WORDS.test(signals.texts.join('\n')))
      return outage('an outage told in the body');
    if (error.streamed && !coded(/invalid/)) return outage(`an unknown event in the stream (${shape})`);
    return stop('unknown', `unrecognised (${shape})`);
  }
  return stop(
    status === 400 || status === 422 ? 'invalid_request' : 'unknown',
    `unrecognised HTTP ${status} (${shape})`,
  );
}

function stop(kind: ErrorKind, evidence: string): ErrorAssessment {
  return { kind, repair: 'stop', evidence };
}

/** The figures of the first text that has both sides, else of the one that says most. */
function figuresIn(signals: ErrorSignals): TokenFigures {
  const all = signals.texts.map(tokenFigures);
  const telling = (figures: TokenFigures) =>
    Number(figures.actual !== undefined) + 2 * Number(figures.limit !== undefined);
  return all.reduce<TokenFigures>((best, figures) => (telling(figures) > telling(best) ? figures : best), {
    lowerBound: false,
  });
}
