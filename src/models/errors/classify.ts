import * as words from './other-kinds.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { ErrorVerdict, FailureCause, MediaCap, RequestSize } from '../model-client.ts';
import { codeSaysOverflow, countsOf, isAboutOther, saysOverflow, OVERFLOW_SIGNATURES } from './overflow-words.ts';
import { retryHint } from './retry-hint.ts';
import { gatherSignals } from './signals.ts';
import type { ErrorSignals, RawError } from './signals.ts';

/** From this share of the window on, a refusal that nobody understands is taken for an overflow. */
const NEARLY_FULL = 0.9;
/** A request that by our own count is over the window is refused for that, whatever its refusal says of a form. */
const FULL = 1;
/** Below this share of the window, words alone are no overflow: an estimate is off by a factor of two at most. */
const NEARLY_EMPTY = 0.5;

/** A failed call, read once for all rules. */
interface Reading extends ErrorSignals {
  readonly error: RawError;
  readonly status: number | undefined;
  readonly size: RequestSize | undefined;
  /** `size` as a share of the window. */
  readonly fill: number | undefined;
  readonly wait: { readonly delayMilliseconds?: number };
  readonly has: (status: number) => boolean;
  readonly coded: (...patterns: readonly RegExp[]) => boolean;
}

/** What a rule finds. */
type Finding = Omit<ErrorVerdict, 'kind'>;

/**
 * What a provider's error means. Codes and statuses come first, then a retry hint, then the known sentences, then words by
 * concept, and at last how full the request was.
 * @param now milliseconds since 1970, for dates to wait for
 * @param size of the refused request, where it is known
 */
export function classifyError(error: RawError, now: number = Date.now(), size?: RequestSize): ErrorVerdict {
  const finding = find(error, now, size);
  const { cause, repair } = finding;
  if (cause === 'overflow' || repair === 'compact') return { kind: 'overflow', ...finding };
  return { kind: repair === 'wait' ? 'retryable' : 'permanent', ...finding };
}

function find(error: RawError, now: number, size: RequestSize | undefined): Finding {
  const signals = gatherSignals(error);
  const delayMilliseconds = retryHint(signals, now);
  const reading: Reading = {
    ...signals,
    error,
    status: signals.statuses[0],
    size,
    fill: size === undefined ? undefined : size.estimatedTokens / size.window,
    wait: delayMilliseconds === undefined ? {} : { delayMilliseconds },
    has: (status) => signals.statuses.includes(status),
    coded: (...patterns) => [...signals.codes].some((code) => patterns.some((pattern) => pattern.test(code))),
  };
  return (
    byCode(reading) ??
    byWait(reading) ??
    bySignature(reading) ??
    byCounts(reading) ??
    byRefusedMedia(reading) ??
    byAccount(reading) ??
    byOtherKind(reading) ??
    byOverflowWords(reading) ??
    byFill(reading) ??
    byStatus(reading)
  );
}

function stop(cause: FailureCause, evidence: string): Finding {
  return { cause, repair: 'stop', evidence };
}

const NO_MONEY = stop('billing', 'credit, quota or payment');

function byCode(reading: Reading): Finding | undefined {
  const { codes, coded } = reading;
  if (![...codes].some(codeSaysOverflow) || coded(words.RATE_CODE, words.RATE)) return undefined;
  return bySignature(reading) ?? overflow('a code of an overflow', countsOf(reading));
}

/** A refusal that passes by itself, whatever its words say; before it only what its code or status calls money or a key. */
function byWait(reading: Reading): Finding | undefined {
  const { text, wait, has, coded, status } = reading;
  if (has(402) || coded(words.BILLING_CODE, words.BILLING)) return NO_MONEY;
  const isKeyRefused = (has(401) && !namesOverflow(reading)) || coded(words.KEY_CODE);
  if (isKeyRefused) return stop('authentication', 'the key was refused');
  const limited = has(429) || coded(words.RATE_CODE, words.RATE) || words.RATE.test(text);
  const overRate = requestOverRate(text);
  if (overRate !== undefined) return overRate;
  if (wait.delayMilliseconds !== undefined) {
    const evidence = `a retry hint${limited ? ' of a limit' : ''}`;
    return { cause: limited ? 'rate_limit' : 'outage', repair: 'wait', ...wait, evidence };
  }
  if (has(429)) {
    const money = words.BILLING.test(text) && !coded(words.RATE_CODE, words.RATE) && !/rate limit/.test(text);
    return money ? NO_MONEY : { cause: 'rate_limit', repair: 'wait', evidence: 'HTTP 429' };
  }
  return has(529) || (status === 503 && !namesOverflow(reading))
    ? { cause: 'outage', repair: 'wait', evidence: `HTTP ${status}` }
    : undefined;
}

function namesOverflow(reading: Reading): boolean {
  return bySignature(reading) !== undefined || saysOverflow(reading.text);
}

/** A request larger than what a minute allows never goes through, however long one waits (Groq's 413). */
function requestOverRate(text: string): Finding | undefined {
  const actual = Number(/requested:? ?(\d+)/.exec(text)?.[1] ?? Number.NaN);
  const limit = Number(/limit:? ?(\d+)/.exec(text)?.[1] ?? Number.NaN);
  if (!(actual > limit) || !words.RATE.test(text)) return undefined;
  return { cause: 'rate_limit', repair: 'compact', actual, limit, evidence: 'one request over the rate limit' };
}

/**
 * Nothing explains a refusal better than its request being over the window: by our own count, or by two counts beside the
 * window's name. The latter say more than our estimate, which may be far off for images and PDFs.
 */
function byCounts(reading: Reading): Finding | undefined {
  const { text, fill = 0, coded } = reading;
  const counts = countsOf(reading);
  const isOver = fill >= FULL || (NAMES_WINDOW.test(text) && counts.actual !== undefined && !words.RATE.test(text));
  const isOther = words.OUTPUT.test(text) || words.BILLING.test(text) || coded(words.RATE_CODE, words.RATE);
  return isOver && !isOther && saysOverflow(text) ? overflow('words and counts of an overflow', counts) : undefined;
}

function byRefusedMedia({ text }: Reading): Finding | undefined {
  if (!words.MEDIA_REFUSED.test(text)) return undefined;
  return { cause: 'media_refused', repair: 'drop_media', evidence: 'words: media not supported' };
}

function bySignature({ text }: Reading): Finding | undefined {
  for (const { vendor, pattern } of OVERFLOW_SIGNATURES) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const { groups = {} } = match;
    const count = (name: string): number | undefined => (groups[name] === undefined ? undefined : Number(groups[name]));
    const [limit, sent, output = 0] = [count('limit'), count('input'), count('output')];
    const actual = count('actual') ?? (sent && sent + output);
    const input = actual !== undefined && output > 0 ? actual - output : undefined;
    return overflow(`signature of ${vendor}`, definedOf({ actual, input, limit, window: limit }));
  }
  return undefined;
}

/** An overflow; when the input alone fits, a lower maximum output is the smaller repair. */
function overflow(
  evidence: string,
  { input = Infinity, ...counts }: Pick<ErrorVerdict, 'actual' | 'limit' | 'window'> & { readonly input?: number } = {},
): Finding {
  const room = (counts.limit ?? 0) - input;
  if (room > 0) return { cause: 'overflow', repair: 'lower_max_tokens', maximumOutput: room, ...counts, evidence };
  return { cause: 'overflow', repair: 'compact', ...counts, evidence };
}

function byAccount({ text, has, coded }: Reading): Finding | undefined {
  if (words.BILLING.test(text)) return NO_MONEY;
  const overflows = saysOverflow(text);
  if ((coded(words.RATE_CODE, words.RATE) && !overflows) || words.RATE.test(text))
    return { cause: 'rate_limit', repair: 'wait', evidence: 'words of a rate limit' };
  if (has(404) && !overflows) return stop('not_found', 'HTTP 404');
  return has(403) && !overflows ? stop('permission', 'HTTP 403') : undefined;
}

const NAMES_INPUT = /\bcontext\b|\bprompt\b|convers|kv[ -]cache/;
const NAMES_WINDOW =
  /context (?:window|length|size|limit)|\bkv\b|\bn_ctx|max[_ ]?seq|(?:prompt|input) tokens|prompt is too/;

/** Limits on other things than the window: output, thinking, content, messages, media, bytes, fields. */
function byOtherKind(reading: Reading): Finding | undefined {
  const { text, codes, coded, fill = 0 } = reading;
  const about = `${text}\n${[...codes].join('\n')}`;
  const tokens = /tokens?\b|token|jeton|токен|トークン|토큰/.test(text);
  if (words.OUTPUT.test(text)) return byOutput(reading);
  const overflows = saysOverflow(text) && (tokens || NAMES_INPUT.test(text));
  if (words.MESSAGE_COUNT.test(text) && !tokens)
    return { cause: 'too_many_messages', repair: 'compact', evidence: 'a cap on the number of messages' };
  const other = words.OTHER_KINDS.find(([, pattern]) => pattern.test(about))?.[0];
  if (other === 'thinking_refused') return { cause: other, repair: 'drop_thinking', evidence: 'words about thinking' };
  if (other !== undefined) return stop(other, `words: ${other}`);
  const isExplained = fill >= FULL || (overflows && NAMES_WINDOW.test(text));
  if (!isExplained && words.ONE_FIELD.test(about)) return stop('invalid_request', 'words about one field');
  if (fill >= FULL) return undefined;
  if (overflows && !/\bbytes\b|\d ?[kmg]i?b\b|per image|\d ?px\b|pixel/.test(text)) return undefined;
  const media = words.MEDIA_SIZE.test(text);
  const each = media && /per (?:image|file|document|attachment)/.test(text);
  if (!each && (tokens || !(media || words.BYTES.test(text) || coded(/too ?large/)))) return undefined;
  const cap = mediaCapIn(text, media);
  const evidence = 'a limit on media or bytes';
  return { cause: 'payload_too_large', repair: 'drop_media', ...(cap && { mediaCap: cap }), evidence };
}

/** The input beside a limit on the output: then their sum is meant. */
const BESIDE_OUTPUT =
  /prompt|\binputs?\b(?! should)|messages already|\brequest has|\+|(?:context|window).{0,40}\d|\d.{0,40}(?:context|window)|eingabe|输入/s;

function byOutput(reading: Reading): Finding | undefined {
  const { text } = reading;
  // vLLM computes the maximum from what the input leaves free, and complains when that is negative.
  if (/(?:at least 1|greater than 0|positive).{0,40}-\d|-\d+ (?:must|should)/.test(text))
    return overflow('a negative maximum output beside the input');
  if (BESIDE_OUTPUT.test(text)) return undefined;
  const counts = [...text.matchAll(/(?<![\d.])\d{2,9}(?![\d.]*\d)/g)].map(Number).filter((count) => count > 16);
  if (counts.length === 0) return stop('output_too_large', 'a limit on the output alone');
  const limit = Math.min(...counts);
  const evidence = 'a limit on the output alone';
  return { cause: 'output_too_large', repair: 'lower_max_tokens', limit, maximumOutput: limit, evidence };
}

/** They are about the request line, its headers or its form. */
const NEVER_OVERFLOW = new Set([405, 408, 410, 411, 414, 415, 431]);
/** Nouns that mean a body or a field as often as the input. */
const VAGUE_INPUT = /\b(?:requests?|messages?|texts?|quer(?:y|ies)|chat)\b/g;

function byOverflowWords(reading: Reading): Finding | undefined {
  const { text, fill, status = 0 } = reading;
  const counts = countsOf(reading);
  const isCounted = counts.actual !== undefined;
  if (NEVER_OVERFLOW.has(status) || (fill !== undefined && fill < NEARLY_EMPTY && !isCounted)) return undefined;
  // A 413 is about bytes as often as about tokens.
  const mayFit = (fill ?? (status === 413 ? 0 : 1)) < NEARLY_FULL;
  if (!saysOverflow(mayFit ? text.replaceAll(VAGUE_INPUT, ' ') : text)) return undefined;
  if (status >= 500 && !isCounted && words.OUTAGE.test(text.replaceAll(words.WRAPPER, ''))) return undefined;
  return overflow('words: the input is over the window', counts);
}

/** Nobody knows what it means, and the request nearly fills the window: it costs the turn's one recovery to find out. */
function byFill({ fill = 0, status, error, text, coded }: Reading): Finding | undefined {
  if (fill < NEARLY_FULL) return undefined;
  const isVague = status === undefined ? error.streamed : [400, 413, 422, 500].includes(status);
  const isKnown =
    fill < FULL &&
    (coded(words.OUTAGE_CODE, words.OUTAGE) ||
      [words.OUTAGE, words.ABOUT_FORM].some((known) => known.test(text)) ||
      isAboutOther(text));
  if (!isVague || isKnown) return undefined;
  return overflow(`an unknown refusal of a request that fills ${Math.round(fill * 100)} % of the window`);
}

/** Not served now, but later: request timeout, conflict, too early. */
const PASSING = new Set([408, 409, 425]);

function outage({ wait }: Reading, evidence: string): Finding {
  return { cause: 'outage', repair: 'wait', ...wait, evidence };
}

function byStatus(reading: Reading): Finding {
  const { status, error, text, coded } = reading;
  if (status === 413)
    return { cause: 'payload_too_large', repair: 'drop_media', mediaCap: { unit: 'bytes' }, evidence: 'HTTP 413' };
  if (status !== undefined && status !== 501 && (status >= 500 || PASSING.has(status)))
    return outage(reading, `HTTP ${status}`);
  if (error.headers['x-should-retry'] === 'true') return outage(reading, 'the server asks for a retry');
  if (status === undefined || status < 400) {
    if (coded(words.OUTAGE_CODE, words.OUTAGE) || words.OUTAGE.test(text))
      return outage(reading, 'an outage in the body');
    // A stream that ends with words that nobody knows is as likely a crash as anything.
    if (error.streamed && !coded(/invalid|bad ?request/)) return outage(reading, 'an unknown event in the stream');
    return stop('unknown', 'unrecognised');
  }
  return stop(status === 400 || status === 422 ? 'invalid_request' : 'unknown', `unrecognised HTTP ${status}`);
}

/** The cap on all media together; none for a limit on the size of each. */
export function mediaCapIn(text: string, media: boolean): MediaCap | undefined {
  if (!media) return { unit: 'bytes' };
  const number = /too many|number of|\b\d{1,4} ?(?:images?|image\(s\)|files?|documents?|attachments?)\b/.test(text);
  if (!number || /pixel|\bpx\b|dimension|\bpages?\b|\bbytes?\b|\d ?[kmg]i?b\b|resolution/.test(text)) return undefined;
  const counts = [...text.matchAll(/(?<![\d.,_a-z])\d{1,4}(?![\d.,]*\d)/g)].map(Number).filter((count) => count > 0);
  return { unit: 'parts', ...(counts.length > 0 && { maximum: Math.min(...counts) }) };
}
