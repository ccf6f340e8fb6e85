import type { ErrorVerdict, MediaCap, RequestSize } from '../model-client.ts';
import * as words from './other-kinds.ts';
import * as window from './overflow-words.ts';
import { retryHint } from './retry-hint.ts';
import { gatherSignals } from './signals.ts';
import type { RawError } from './signals.ts';

/** From this share of the window on, a refusal that nobody understands is taken for an overflow. */
const NEARLY_FULL = 0.9;
/** Below this share of the window, words alone are no overflow: an estimate is off by a factor of two at most. */
const NEARLY_EMPTY = 0.5;

type Reading = ReturnType<typeof read>;
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
    (reading.signature && overflow(`signature of ${reading.signature.vendor}`, reading.counts)) ??
    byKind(reading, words.LIMITS_OF_OTHERS) ??
    byNumbers(reading) ??
    byKind(reading, words.OTHER_REFUSALS) ??
    byOverflowWords(reading) ??
    byFill(reading) ??
    byStatus(reading);
  const { cause, repair } = finding;
  if (cause === 'overflow' || repair === 'compact') return { kind: 'overflow', ...finding };
  return { kind: repair === 'wait' ? 'retryable' : 'permanent', ...finding };
}

/** A failed call, read once for all rules. */
function read(error: RawError, now: number, size: RequestSize | undefined) {
  const signals = gatherSignals(error);
  const { text, codes, statuses } = signals;
  const delayMilliseconds = retryHint(signals, now);
  const signature = window.signatureIn(text);
  const counts = signature?.counts ?? window.countsOf(text);
  /** The input that the words count, as a share of our own estimate. */
  const share = size && counts.actual ? counts.actual / size.estimatedTokens : 0;
  // `prompt_too_long` and `over-long` are words too.
  const spoken = `${text}\n${text.replaceAll(/(?<=[a-z])[-_](?=[a-z])/g, ' ')}`;
  const overflows = window.saysOverflow(spoken);
  /** Share of the window by our own estimate; over it, that explains a refusal better than words about a form or bytes. */
  const fill = size && size.estimatedTokens / size.window;
  const isOver = fill !== undefined && fill >= 1;
  /** The words say that the input is over the window, and name it. */
  const isNamed = overflows && window.NAMES_WINDOW.test(spoken);
  return {
    ...signals,
    isStreamed: error.streamed,
    status: statuses[0],
    has: (status: number) => statuses.includes(status),
    coded: (pattern: RegExp) => [...codes].some((code) => pattern.test(code)),
    wait: delayMilliseconds === undefined ? {} : { delayMilliseconds },
    signature,
    counts,
    overflows,
    fill,
    isOver,
    isNamed,
    isExplained: isOver || isNamed,
    isOurs: share > 0.5 && share < 2,
    /** Far fewer tokens than were sent: another request is counted. Far more may be those of media. */
    isOfAnother: share > 0 && share < 0.25,
    namesTokens: /token|jeton|токен|トークン|토큰/.test(text),
    isBesideInput: words.BESIDE_OUTPUT.test(text),
  };
}

/** Statuses about the request line, its headers or its form, and about what else is going on. */
const NEVER_OF_SIZE = new Set([405, 408, 409, 410, 411, 414, 415, 425, 431]);

const NO_MONEY: Finding = { cause: 'billing', repair: 'stop', evidence: 'credit, quota or payment' };

function byCode({ codes, coded, counts, has, status = 0 }: Reading): Finding | undefined {
  if (NEVER_OF_SIZE.has(status)) return undefined;
  // "Token limit" beside a 429 is as likely one of a minute.
  const isCoded = [...codes].some((code) => window.codeSaysOverflow(code) && !(has(429) && code.startsWith('token')));
  return isCoded && !coded(words.RATE) && !coded(words.OUTPUT) ? overflow('a code of an overflow', counts) : undefined;
}

/** A refusal that passes by itself, whatever its words say; before it only what its code or status calls money or a key. */
function byWait(reading: Reading): Finding | undefined {
  const { text, wait, has, coded, status } = reading;
  if (has(402) || coded(words.BILLING)) return NO_MONEY;
  const isOverflow = reading.overflows || reading.signature !== undefined;
  if (has(401) && !isOverflow) return { cause: 'authentication', repair: 'stop', evidence: 'the key was refused' };
  const overRate = requestOverRate(text);
  if (overRate !== undefined) return overRate;
  const isRate = has(429) || coded(words.RATE) || words.RATE.test(text);
  if (wait.delayMilliseconds !== undefined)
    return { cause: isRate ? 'rate_limit' : 'outage', repair: 'wait', ...wait, evidence: 'a retry hint' };
  if (has(429)) {
    const isMoney = words.BILLING.test(text) && !coded(words.RATE) && !text.includes('rate limit');
    return isMoney ? NO_MONEY : { cause: 'rate_limit', repair: 'wait', evidence: 'HTTP 429' };
  }
  return has(529) || (status === 503 && !isOverflow) ? outage(reading, `HTTP ${status}`) : undefined;
}

/** A request larger than what a minute allows never goes through, however long one waits (Groq's 413). */
function requestOverRate(text: string): Finding | undefined {
  const [, limit = 0, actual = 0] = (/limit:? ?(\d+).*requested:? ?(\d+)/s.exec(text) ?? []).map(Number);
  if (actual <= limit || !words.RATE.test(text)) return undefined;
  return { cause: 'rate_limit', repair: 'compact', actual, limit, evidence: 'one request over the rate limit' };
}

/** An overflow; when the input alone fits, a lower maximum output is the smaller repair. */
function overflow(evidence: string, { input = Infinity, ...counts }: window.Counts = {}): Finding {
  const room = (counts.limit ?? 0) - input;
  if (room > 0) return { cause: 'overflow', repair: 'lower_max_tokens', maximumOutput: room, ...counts, evidence };
  return { cause: 'overflow', repair: 'compact', ...counts, evidence };
}

/** Our own count, or two counts beside the window's name: also where our estimate is far off, as for PDFs. */
function byNumbers({ isOver, overflows, isNamed, isOfAnother, counts }: Reading): Finding | undefined {
  const isCounted = isOver || (isNamed && counts.actual !== undefined && !isOfAnother);
  return overflows && isCounted ? overflow('words and counts of an overflow', counts) : undefined;
}

function byKind(reading: Reading, kinds: readonly words.Kind[]): Finding | undefined {
  const codes = reading.overflows ? [] : [...reading.codes, `http ${reading.status}`];
  const about = [reading.text, ...codes].join('\n');
  const kind = kinds.find(({ pattern, unless = [] }) => !unless.some((name) => reading[name]) && pattern.test(about));
  if (kind === undefined) return undefined;
  const { cause, repair = 'stop' } = kind;
  const found = { cause, repair, evidence: `words: ${cause}` };
  if (cause === 'payload_too_large') return { ...found, ...mediaCapIn(reading.text) };
  const limit = Math.min(...window.countsIn(reading.text, 17));
  if (cause !== 'output_too_large' || limit === Infinity) return found;
  return { ...found, repair: 'lower_max_tokens', limit, maximumOutput: limit };
}

/** The cap on all media together; none for a limit on the size of each. */
function mediaCapIn(text: string): { readonly mediaCap?: MediaCap } {
  if (!words.MEDIA_SIZE.test(text)) return { mediaCap: { unit: 'bytes' } };
  const isNumber = /too many|number of|\b\d{1,4} ?(?:images?|image\(s\)|files?|documents?|attachments?)\b/.test(text);
  if (!isNumber || /pixel|\bpx\b|dimension|\bpages?\b|\bbytes?\b|\d ?[kmg]i?b\b|resolution/.test(text)) return {};
  const maximum = Math.min(...window.countsIn(text, 1).filter((count) => count < 10_000));
  return { mediaCap: { unit: 'parts', ...(maximum < Infinity && { maximum }) } };
}

function byOverflowWords(reading: Reading): Finding | undefined {
  const { text, fill, status = 0, counts, isExplained, namesTokens } = reading;
  const isCounted = counts.actual !== undefined;
  if (!reading.overflows || NEVER_OF_SIZE.has(status)) return undefined;
  // A 413 is about bytes as often as about tokens.
  const mayFit = fill === undefined ? status === 413 && !namesTokens : fill < NEARLY_FULL;
  const isLikely = isExplained && (fill === undefined || (fill >= NEARLY_EMPTY && !reading.isOfAnother));
  if (mayFit && !isLikely && !reading.isOurs) return undefined;
  if (status >= 500 && !isCounted && !isExplained && words.OUTAGE.test(text)) return undefined;
  return overflow('words: the input is over the window', counts);
}

/** Nobody knows what it means, and the request nearly fills the window: it costs the turn's one recovery to find out. */
function byFill({ fill = 0, isOver, isStreamed, status, text, coded }: Reading): Finding | undefined {
  const isVague = status === undefined ? isStreamed : [400, 413, 422, 500].includes(status);
  if (fill < NEARLY_FULL || !isVague) return undefined;
  const isKnown = coded(words.OUTAGE) || words.OUTAGE.test(text) || words.ABOUT_FORM.test(text);
  if (isKnown && !isOver) return undefined;
  return overflow(`an unknown refusal of a request that fills ${Math.round(fill * 100)} % of the window`);
}

function outage({ wait }: Reading, evidence: string): Finding {
  return { cause: 'outage', repair: 'wait', ...wait, evidence };
}

function byStatus(reading: Reading): Finding {
  const { status, text, headers, isStreamed, coded } = reading;
  if (status === 413)
    return { cause: 'payload_too_large', repair: 'drop_media', mediaCap: { unit: 'bytes' }, evidence: 'HTTP 413' };
  // Not served now, but later: request timeout, conflict, too early.
  if (status !== undefined && status !== 501 && (status >= 500 || [408, 409, 425].includes(status)))
    return outage(reading, `HTTP ${status}`);
  if (headers['x-should-retry'] === 'true') return outage(reading, 'the server asks for a retry');
  if (status === undefined || status < 400) {
    if (coded(words.OUTAGE) || words.OUTAGE.test(text)) return outage(reading, 'an outage in the body');
    if (isStreamed && !coded(/invalid|bad ?request/)) return outage(reading, 'an unknown event in the stream');
  }
  const isRefused = status === 400 || status === 422;
  const evidence = status === undefined ? 'unrecognised, without an HTTP status' : `unrecognised HTTP ${status}`;
  return { cause: isRefused ? 'invalid_request' : 'unknown', repair: 'stop', evidence };
}
