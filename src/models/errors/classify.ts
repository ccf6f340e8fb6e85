import type { ErrorVerdict, MediaCap, RequestSize } from '../model-client.ts';
import * as words from './other-kinds.ts';
import * as window from './overflow-words.ts';
import { retryHint } from './retry-hint.ts';
import { gatherSignals } from './signals.ts';
import type { ErrorSignals, RawError } from './signals.ts';

/** From this share of the window on, a refusal that nobody understands is taken for an overflow. */
const NEARLY_FULL = 0.9;
/** Below this share of the window, words alone are no overflow: an estimate is off by a factor of two at most. */
const NEARLY_EMPTY = 0.5;

/** A failed call, read once for all rules. */
interface Reading extends ErrorSignals {
  readonly error: RawError;
  readonly status: number | undefined;
  /** Share of the window by our own estimate. */
  readonly fill: number | undefined;
  /** By our own estimate it is over the window: that explains a refusal better than words about a form or bytes. */
  readonly isOver: boolean;
  readonly wait: { readonly delayMilliseconds?: number };
  /** The words say that the input is over the window. */
  readonly overflows: boolean;
  /** They name the window too. */
  readonly isNamed: boolean;
  /** The window or our own count explains a refusal, or it says that the input as a whole is too long. */
  readonly isExplained: boolean;
  readonly namesTokens: boolean;
  readonly signature: ReturnType<typeof window.signatureIn>;
  readonly counts: window.Counts;
  readonly has: (status: number) => boolean;
  readonly coded: (pattern: RegExp) => boolean;
}

type Finding = Omit<ErrorVerdict, 'kind'>;

/**
 * What a provider's error means. Codes and statuses come first, then a retry hint, then the known sentences, then words by
 * concept, and at last how full the request was.
 * @param now milliseconds since 1970, for dates to wait for
 * @param size of the refused request, where it is known
 */
export function classifyError(error: RawError, now: number = Date.now(), size?: RequestSize): ErrorVerdict {
  const reading = read(error, now, size);
  const finding =
    byCode(reading) ??
    byWait(reading) ??
    bySignature(reading) ??
    byCounts(reading) ??
    byKind(reading, words.REFUSALS) ??
    byOtherLimit(reading) ??
    byOverflowWords(reading) ??
    byFill(reading) ??
    byStatus(reading);
  const { cause, repair } = finding;
  if (cause === 'overflow' || repair === 'compact') return { kind: 'overflow', ...finding };
  return { kind: repair === 'wait' ? 'retryable' : 'permanent', ...finding };
}

function read(error: RawError, now: number, size: RequestSize | undefined): Reading {
  const signals = gatherSignals(error);
  const { text, codes, statuses } = signals;
  const delayMilliseconds = retryHint(signals, now);
  const fill = size === undefined ? undefined : size.estimatedTokens / size.window;
  const overflows = window.saysOverflow(text);
  const signature = window.signatureIn(text);
  const isOver = fill !== undefined && fill >= 1;
  const isNamed = overflows && window.NAMES_WINDOW.test(text);
  return {
    ...signals,
    error,
    status: statuses[0],
    fill,
    isOver,
    wait: delayMilliseconds === undefined ? {} : { delayMilliseconds },
    overflows,
    isNamed,
    isExplained: isOver || isNamed || window.INPUT_TOO_LONG.test(text),
    namesTokens: /token|jeton|токен|トークン|토큰/.test(text),
    signature,
    counts: signature?.counts ?? window.countsOf(text),
    has: (status) => statuses.includes(status),
    coded: (pattern) => [...codes].some((code) => pattern.test(code)),
  };
}

const NO_MONEY: Finding = { cause: 'billing', repair: 'stop', evidence: 'credit, quota or payment' };

function byCode(reading: Reading): Finding | undefined {
  const { codes, coded, counts, has } = reading;
  // "Token limit" beside a 429 is as likely one of a minute.
  const isCoded = [...codes].some((code) => window.codeSaysOverflow(code) && !(has(429) && code.startsWith('token')));
  if (!isCoded || coded(words.RATE)) return undefined;
  return overflow('a code of an overflow', counts);
}

/** A refusal that passes by itself, whatever its words say; before it only what its code or status calls money or a key. */
function byWait(reading: Reading): Finding | undefined {
  const { text, wait, has, coded, status } = reading;
  if (has(402) || coded(words.BILLING)) return NO_MONEY;
  const isOverflow = reading.overflows || reading.signature !== undefined;
  if ((has(401) && !isOverflow) || coded(words.KEY_CODE))
    return { cause: 'authentication', repair: 'stop', evidence: 'the key was refused' };
  const isLimit = has(429) || coded(words.RATE) || words.RATE.test(text);
  const overRate = requestOverRate(text);
  if (overRate !== undefined) return overRate;
  if (wait.delayMilliseconds !== undefined && isLimit)
    return { cause: 'rate_limit', repair: 'wait', ...wait, evidence: 'a retry hint of a limit' };
  if (wait.delayMilliseconds !== undefined) return outage(reading, 'a retry hint');
  if (has(429)) {
    const money = words.BILLING.test(text) && !coded(words.RATE) && !text.includes('rate limit');
    return money ? NO_MONEY : { cause: 'rate_limit', repair: 'wait', evidence: 'HTTP 429' };
  }
  return has(529) || (status === 503 && !isOverflow) ? outage(reading, `HTTP ${status}`) : undefined;
}

/** A request larger than what a minute allows never goes through, however long one waits (Groq's 413). */
function requestOverRate(text: string): Finding | undefined {
  const actual = Number(/requested:? ?(\d+)/.exec(text)?.[1] ?? Number.NaN);
  const limit = Number(/limit:? ?(\d+)/.exec(text)?.[1] ?? Number.NaN);
  if (!(actual > limit) || !words.RATE.test(text)) return undefined;
  return { cause: 'rate_limit', repair: 'compact', actual, limit, evidence: 'one request over the rate limit' };
}

function bySignature({ signature }: Reading): Finding | undefined {
  return signature && overflow(`signature of ${signature.vendor}`, signature.counts);
}

/** An overflow; when the input alone fits, a lower maximum output is the smaller repair. */
function overflow(evidence: string, { input = Infinity, ...counts }: window.Counts = {}): Finding {
  const room = (counts.limit ?? 0) - input;
  if (room > 0) return { cause: 'overflow', repair: 'lower_max_tokens', maximumOutput: room, ...counts, evidence };
  return { cause: 'overflow', repair: 'compact', ...counts, evidence };
}

/** Our own count, or two counts beside the window's name: the latter also where our estimate is far off, as for PDFs. */
function byCounts({ text, isOver, overflows, isNamed, counts, coded }: Reading): Finding | undefined {
  const isCounted = isNamed && counts.actual !== undefined && !words.RATE.test(text);
  const isOther = words.OUTPUT.test(text) || words.BILLING.test(text) || coded(words.RATE);
  return overflows && (isOver || isCounted) && !isOther
    ? overflow('words and counts of an overflow', counts)
    : undefined;
}

function byKind(reading: Reading, kinds: readonly words.Kind[]): Finding | undefined {
  const codes = reading.overflows ? [] : [...reading.codes, `http ${reading.status}`];
  const about = [reading.text, ...codes].join('\n');
  const kind = kinds.find(({ pattern, unless }) => pattern.test(about) && !(unless !== undefined && reading[unless]));
  return kind && { cause: kind.cause, repair: kind.repair ?? 'stop', evidence: `words: ${kind.cause}` };
}

/** Limits on other things than the window: output, thinking, content, messages, media, bytes, fields. */
function byOtherLimit(reading: Reading): Finding | undefined {
  const { text, coded, isExplained, overflows, namesTokens } = reading;
  if (words.OUTPUT.test(text)) return byOutput(reading);
  const kind = byKind(reading, words.OTHER_LIMITS);
  if (kind !== undefined || isExplained) return kind;
  const media = words.MEDIA_SIZE.test(text);
  const isBytes = words.BYTES.test(text) || coded(/too ?large/);
  if (overflows && !isBytes && !media) return undefined;
  const isEach = media && /per (?:image|file|document|attachment)/.test(text);
  if (!isEach && (namesTokens || !(media || isBytes))) return undefined;
  const mediaCap = mediaCapIn(text, media);
  const evidence = 'a limit on media or bytes';
  return { cause: 'payload_too_large', repair: 'drop_media', ...(mediaCap && { mediaCap }), evidence };
}

/** The input beside a limit on the output: then their sum is meant. */
const BESIDE_OUTPUT =
  /prompt|\binputs?\b(?! should)|messages already|\brequest has|tokens in request|too (?:big|large|long) for|\+|(?:context|window).{0,40}\d|\d.{0,40}(?:context|window)|eingabe|输入/s;

function byOutput({ text }: Reading): Finding | undefined {
  if (BESIDE_OUTPUT.test(text)) return undefined;
  const evidence = 'a limit on the output alone';
  const counts = window.countsIn(text, 17);
  if (counts.length === 0) return { cause: 'output_too_large', repair: 'stop', evidence };
  const limit = Math.min(...counts);
  return { cause: 'output_too_large', repair: 'lower_max_tokens', limit, maximumOutput: limit, evidence };
}

function byOverflowWords({ text, fill, status = 0, counts }: Reading): Finding | undefined {
  const isCounted = counts.actual !== undefined;
  // These statuses are about the request line, its headers or its form.
  if ([405, 408, 410, 411, 414, 415, 431].includes(status)) return undefined;
  if (fill !== undefined && fill < NEARLY_EMPTY && !isCounted) return undefined;
  // A 413 is about bytes as often as about tokens.
  const mayFit = (fill ?? (status === 413 ? 0 : 1)) < NEARLY_FULL;
  if (!window.saysOverflow(mayFit ? window.withoutVague(text) : text)) return undefined;
  if (status >= 500 && !isCounted && words.OUTAGE.test(text.replaceAll(words.WRAPPER, ''))) return undefined;
  return overflow('words: the input is over the window', counts);
}

/** Nobody knows what it means, and the request nearly fills the window: it costs the turn's one recovery to find out. */
function byFill({ fill = 0, isOver, status, error, text, coded }: Reading): Finding | undefined {
  const isVague = status === undefined ? error.streamed : [400, 413, 422, 500].includes(status);
  if (fill < NEARLY_FULL || !isVague) return undefined;
  const isKnown =
    coded(words.OUTAGE) || words.OUTAGE.test(text) || words.ABOUT_FORM.test(text) || window.isAboutOther(text);
  if (isKnown && !isOver) return undefined;
  return overflow(`an unknown refusal of a request that fills ${Math.round(fill * 100)} % of the window`);
}

function outage({ wait }: Reading, evidence: string): Finding {
  return { cause: 'outage', repair: 'wait', ...wait, evidence };
}

function byStatus(reading: Reading): Finding {
  const { status, error, text, coded } = reading;
  if (status === 413)
    return { cause: 'payload_too_large', repair: 'drop_media', mediaCap: { unit: 'bytes' }, evidence: 'HTTP 413' };
  // Not served now, but later: request timeout, conflict, too early.
  if (status !== undefined && status !== 501 && (status >= 500 || [408, 409, 425].includes(status)))
    return outage(reading, `HTTP ${status}`);
  if (error.headers['x-should-retry'] === 'true') return outage(reading, 'the server asks for a retry');
  if (status === undefined || status < 400) {
    if (coded(words.OUTAGE) || words.OUTAGE.test(text)) return outage(reading, 'an outage in the body');
    if (error.streamed && !coded(/invalid|bad ?request/)) return outage(reading, 'an unknown event in the stream');
  }
  const isRefused = status === 400 || status === 422;
  return { cause: isRefused ? 'invalid_request' : 'unknown', repair: 'stop', evidence: `unrecognised HTTP ${status}` };
}

/** The cap on all media together; none for a limit on the size of each. */
function mediaCapIn(text: string, media: boolean): MediaCap | undefined {
  if (!media) return { unit: 'bytes' };
  const number = /too many|number of|\b\d{1,4} ?(?:images?|image\(s\)|files?|documents?|attachments?)\b/.test(text);
  if (!number || /pixel|\bpx\b|dimension|\bpages?\b|\bbytes?\b|\d ?[kmg]i?b\b|resolution/.test(text)) return undefined;
  const counts = window.countsIn(text, 1).filter((count) => count < 10_000);
  return { unit: 'parts', ...(counts.length > 0 && { maximum: Math.min(...counts) }) };
}
