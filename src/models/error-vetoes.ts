import { stop, type ErrorAssessment, type ErrorReading } from './error-assessment.ts';
import * as words from './error-vocabulary.ts';

const RATE_CODE =
  /^(?:requests|tokens)$|ratelimit|toomanyrequests|throttl|resourceexhausted|quota|requestlimit|concurrency/;
const BILLING_CODE = /insufficientquota|billing|payment|credit|balance|spendlimit|arrear/;
const KEY_CODE = /authentication|invalidapikey|unauthorized|unauthenticated|invalidtoken|accesstoken/;

/**
 * Failures that also speak of tokens, limits and contexts, but that no smaller request cures:
 * money, keys, rates and outages. They are recognised before any word of an overflow is read.
 */
export function byVeto(reading: ErrorReading): ErrorAssessment | undefined {
  const { text, coded, wait, figures } = reading;
  const has = (status: number) => reading.signals.statuses.includes(status);
  const window = reading.windowExceeded || words.INPUT_TOO_LONG.test(text);
  if (has(402) || coded(BILLING_CODE) || words.BILLING_WORDS.test(text)) return billing(text);
  if (has(401) || coded(KEY_CODE)) return stop('authentication', 'the key was refused');
  if (has(404) && !window) return stop('not_found', 'HTTP 404');
  // Cloudflare refuses an input over the window with 403.
  // Google refuses with 403 what is over a quota.
  // Browsers call a full window a quota in their code, with sizes that say which.
  const fullWindow = window && reading.over && !has(429);
  const rate = (coded(RATE_CODE) && !fullWindow) || words.RATE_WORDS.test(text);
  if (has(403) && !window && !reading.over && !rate) return stop('permission', 'HTTP 403');
  const bareTokens =
    /too many tokens/.test(text) &&
    !/prompt|input|length|messages?\b|conversation/.test(text) &&
    !words.OF_THE_MODEL.test(text) &&
    !words.GRAMMAR_WORDS.test(text) &&
    figures.limit === undefined;
  if (has(429) || rate || bareTokens) {
    const evidence = has(429) ? 'HTTP 429' : 'words of a rate limit';
    return requestOverRate(text) ?? { kind: 'rate_limit', repair: 'wait', ...wait, evidence };
  }
  if (has(529)) return { kind: 'outage', repair: 'wait', ...wait, evidence: 'HTTP 529' };
  // Go calls the lifetime of a request a context.
  if (/context (?:deadline|cancell?ed|was cancell?ed)/.test(text)) {
    return { kind: 'outage', repair: 'wait', ...wait, evidence: 'a deadline of the server' };
  }
  return words.KEY_WORDS.test(text) && !window ? stop('authentication', 'words of a key') : undefined;
}

/** A request larger than what a minute allows never goes through, however long one waits (Groq's 413). */
function requestOverRate(text: string): ErrorAssessment | undefined {
  const cap = numberAfter(/limit:? ?([\d,]+)/, text);
  const actual = numberAfter(/requested:? ?([\d,]+)/, text);
  if (cap === undefined || actual === undefined || actual <= cap) return undefined;
  return { kind: 'rate_limit', repair: 'compact', actual, limit: cap, evidence: 'one request over the rate limit' };
}

/** OpenRouter checks credit for the maximum output: a lower one may still be paid for. */
function billing(text: string): ErrorAssessment {
  const maximumOutput = numberAfter(/afford ([\d,]+)/, text);
  if (maximumOutput === undefined || !words.OUTPUT_WORDS.test(text)) return stop('billing', 'credit, quota or payment');
  const evidence = `credit for ${maximumOutput} tokens of output`;
  return { kind: 'billing', repair: 'lower_max_tokens', maximumOutput, evidence };
}

function numberAfter(pattern: RegExp, text: string): number | undefined {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits.replaceAll(',', ''));
}
