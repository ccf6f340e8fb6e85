import { overflow, readError, stop, type ErrorAssessment, type ErrorReading } from './error-assessment.ts';
import { byOtherLimit } from './error-limits.ts';
import type { RawError } from './error-signals.ts';
import { byOtherSense } from './error-other-senses.ts';
import { byVeto } from './error-vetoes.ts';
import * as words from './error-vocabulary.ts';

/**
 * What a provider's error means. In this order: codes that leave no doubt; media that a model takes none of; vetoes (money, keys,
 * rates, outages, which also speak of tokens and limits); the same words in another sense; limits on other things than the window;
 * the word families; at last the bare status. No rule knows a vendor by name. Pure: `now` is only
 * used when the server names a date to wait for (milliseconds since 1970).
 */
export function assessError(error: RawError, now: number): ErrorAssessment {
  const reading = readError(error, now);
  return (
    byCode(reading) ??
    byRefusedMedia(reading) ??
    byVeto(reading) ??
    byOtherSense(reading) ??
    byPartLimit(reading) ??
    byOtherLimit(reading) ??
    byWords(reading) ??
    byStatus(reading)
  );
}

/** Codes that name the overflow of a window, letters only (`context_length_exceeded`, `ContextWindowExceededError`…). */
const OVERFLOW_CODE =
  /context(?:length|window|size|limit|token)?s?(?:is|limit)?(?:exceed|overflow|toolong|toolarge)|exceed(?:s|ed|ing)?(?:the)?(?:available|model|max(?:imum)?)?context|(?:prompt|input|conversation)(?:is)?too(?:long|large)|prompt(?:tokens?|length)?(?:limit)?exceed|input(?:tokens?|length|size)(?:limit|count)?exceed|^tokenslimitreached$|maxcontext(?:length)?(?:exceeded|reached)?$|(?:prompt|input|window)(?:tokens?)?overflow|(?:prompt|input|conversation|messages|tokens)over(?:the)?(?:window|context|limit)/;

/** Codes among words: `context_length_exceeded`, `InputTooLong`. */
const CODE_IN_TEXT = /\b[a-z]+(?:[-_.][a-z]+)+\b|\b[a-z]{10,60}\b/g;

/** Zhipu's number for it, which its SDKs hand on without the text. */
const OVERFLOW_NUMBERS = new Set(['1261']);

/** Of a name that can only be a code, not of a word in a sentence. */
const LIMIT_CODE =
  /^(?:err(?:or)?|max(?:imum)?|model|n|llm)*context(?:window|length|size)?(?:limit|full|exhausted|max(?:imum)?)(?:reached|hit)?(?:err(?:or)?|exception)?$|^outofcontext/;

function byCode({ signals, text, figures }: ErrorReading): ErrorAssessment | undefined {
  const names = (word: string): boolean =>
    OVERFLOW_CODE.test(word.replaceAll(/[-_.]/g, '').replaceAll('ctx', 'context'));
  const code =
    [...signals.codes].find(
      (name) => names(name) || OVERFLOW_NUMBERS.has(name) || LIMIT_CODE.test(name.replaceAll('ctx', 'context')),
    ) ?? [...text.matchAll(CODE_IN_TEXT)].map(([word]) => word).find(names);
  if (code !== undefined) return overflow(figures, isCodeShaped(code) ? `code ${code}` : 'code of an overflow');
  const sent = propertyOf(signals, SENT_NUMBER);
  const window = propertyOf(signals, WINDOW_NUMBER);
  if (sent === undefined || window === undefined || sent < window) return undefined;
  return overflow({ actual: sent, limit: window, lowerBound: false }, 'properties: tokens sent over the window');
}

/** Names of properties, letters only: `n_prompt_tokens` and `n_ctx` of llama.cpp, and whatever others call the two. */
const SENT_NUMBER = /^(?:n|num|total|actual)?(?:prompt|input|request|context)(?:ed)?tokens?(?:count)?$/;
const WINDOW_NUMBER =
  /^(?:(?:n|max(?:imum)?|model)?(?:ctx|context(?:window|length|size|limit)|modellen(?:gth)?|windowsize)|max(?:imum)?(?:prompt|input|context|sequence|seq|model)(?:tokens?|len(?:gth)?))$/;

/** The same where money and rates are ruled out: an account may have used tokens too. */
const TOKENS_SENT =
  /^(?:n|num|total|actual|used|sent|requested)?(?:prompt|input|request|context)?(?:ed)?tokens?(?:count|used|sent|requested|received|got|given)?$/;
const TOKENS_ALLOWED =
  /^(?:max(?:imum)?|allowed|permitted|model)?(?:prompt|input|context)?tokens?(?:allowed|permitted|accepted|limit|max(?:imum)?)$|^(?:max(?:imum)?|allowed|permitted)(?:prompt|input|context|model)tokens?$|^allowedtokens?$/;

function propertyOf({ numbers }: ErrorReading['signals'], name: RegExp): number | undefined {
  return [...numbers].find(([key]) => name.test(key))?.[1];
}

/** Before the vetoes: routers say it with 404 (no model for it), llama.cpp with 500. */
function byRefusedMedia({ signals, text }: ErrorReading): ErrorAssessment | undefined {
  if (signals.statuses[0] === 429 || !words.MEDIA_REFUSED.test(text)) return undefined;
  return { kind: 'media_refused', repair: 'drop_media', evidence: 'words: media not supported' };
}

/** A limit on one part of the request, which is no window: nothing may be learned from it. */
const PART = String.raw`(?:images?|files?|documents?|attachments?|tools?|functions?|tool (?:definitions?|descriptions?|schemas?|results?)|system (?:prompts?|messages?|instructions?))`;
const PART_LIMIT = new RegExp(
  `\\b(?:limit|maximum|allowed|tokens) (?:per|for each) ${PART}\\b|\\bper[- ]${PART} (?:token )?(?:limit|maximum)|` +
    `\\d (?:tokens )?(?:(?:are|is) )?allowed (?:for|in) (?:the )?${PART}\\b|` +
    `(?:^|[.:\\n] ?)(?:the |your )?${PART} (?:must be|must not|may be|may have|can be|is limited|are limited)\\b`,
);

function byPartLimit({ text }: ErrorReading): ErrorAssessment | undefined {
  const part = PART_LIMIT.exec(text)?.[0];
  if (part === undefined || words.WINDOW_NAMED.test(text)) return undefined;
  if (/image|file|document|attachment/.test(part))
    return { kind: 'payload_too_large', repair: 'drop_media', evidence: 'a limit on one part: media' };
  return stop('invalid_request', 'a limit on one part of the request');
}

function byWords({ signals, text, figures, over, windowExceeded, coded }: ErrorReading): ErrorAssessment | undefined {
  if (/stop (?:tokens|sequences?)|logprobs|logit_bias/.test(text)) return undefined;
  const tokens =
    words.TOKEN_WORDS.test(text) || coded(/tokens?(?:limit|count|budget)?(?:exceed|over|reached)|toomanytokens/);
  const serverFault = (signals.statuses[0] ?? 0) >= 500;
  if (serverFault && words.OUTAGE_WORDS.test(text) && !over) return undefined;
  if (over && (words.WINDOW_NAMED.test(text) || coded(/context|ctx|window/)))
    return overflow(figures, 'numbers: more than the window');
  // A limit is the window's when it is called context, or when something about it is counted.
  const counted = tokens || figures.limit !== undefined || words.BESIDE_OUTPUT.test(text);
  if (windowExceeded && (counted || words.CONTEXT_WORDS.test(text))) {
    return overflow(figures, 'words: window exceeded');
  }
  if (over && figures.input !== undefined && figures.output !== undefined) {
    return overflow(figures, 'numbers: input and output over the limit');
  }
  if (words.INPUT_TOO_LONG.test(text)) return overflow(figures, 'words: input too long');
  if (over && /(?:\b|_)(?:len(?:gth)?|long(?:er)?)\b/.test(text) && INPUT_LENGTH.test(text))
    return overflow(figures, 'numbers: longer than accepted');
  if (over && COMPARED_LENGTH.test(text)) return overflow(figures, 'numbers: longer than accepted');
  if (
    over &&
    figures.limit === propertyOf(signals, TOKENS_ALLOWED) &&
    figures.actual === propertyOf(signals, TOKENS_SENT)
  )
    return overflow(figures, 'properties: more tokens than accepted');
  if (coded(TOKEN_LIMIT_CODE) && !serverFault) return overflow(figures, 'code of a limit on tokens');
  if (!tokens) return undefined;
  if (over && !words.VOCABULARY_WORDS.test(text)) return overflow(figures, 'numbers: more tokens than accepted');
  const excess = over || (words.EXCESS_WORDS.test(text) && !serverFault);
  return excess && (words.INPUT_WORDS.test(text) || words.OF_THE_MODEL.test(text))
    ? overflow(figures, 'words: too many tokens of input')
    : undefined;
}

/** A limit on tokens that is the whole name of an error, once money, rates, keys and the output are ruled out. */
const TOKEN_LIMIT_CODE =
  /^(?:err(?:or)?|model|prompt|input|request|total|context|over|exceeds?)*tokens?(?:limit|budget|window|cap|quantity|length)(?:exceed\w*|over\w*|reached|hit|exhausted|err(?:or)?|violat\w*|exception)*$/;

/** The length of what was sent, and of nothing else. */
const INPUT_LENGTH =
  /^(?!.*\b(?:array|string|list|names?|ids?|fields?|items?|characters?)\b).*\b(?:prompt|inputs?|seq|sequence|conversation|context)(?:\b|_)/s;

/** `seq 40961 > 40960`. */
const COMPARED_LENGTH = /\b(?:seq|sequence|prompt|input)[a-z_ :=]{0,12}\d+ ?>=? ?\d+/;

const OUTAGE_CODE =
  /overloaded|servererror|internal|unavailable|timeout|^apierror$|badgateway|engineoverload|insufficientsystemresource/;

/** Not served now, but later: request timeout, conflict, too early. */
const PASSING = new Set([408, 409, 425]);

/** Some servers put what they were sent where a code belongs, even a key: only short names with few digits are told. */
function isCodeShaped(code: string): boolean {
  return (
    /^[a-z_.-]{2,48}\d{0,4}$|^\d{1,6}$/.test(code) &&
    !/^(?:sk|pk|rk|key|api|xai|gsk|ghp|bearer)[-_]|^sk(?:proj|ant|or)/.test(code)
  );
}

function byStatus({ error, signals, text, coded, wait }: ErrorReading): ErrorAssessment {
  const status = signals.statuses[0];
  const outage = (evidence: string): ErrorAssessment => ({ kind: 'outage', repair: 'wait', ...wait, evidence });
  if (status === 413)
    return { kind: 'payload_too_large', repair: 'drop_media', mediaCap: { unit: 'bytes' }, evidence: 'HTTP 413' };
  if (status !== undefined && status !== 501 && (status >= 500 || PASSING.has(status))) return outage(`HTTP ${status}`);
  if (error.headers['x-should-retry'] === 'true') return outage('the server asks for a retry');
  const codes = [...signals.codes].filter(isCodeShaped).slice(0, 4).join(' ');
  const shape = `codes: ${codes || 'none'}; keys: ${signals.shape || 'none'}`;
  if (status === undefined || status < 400) {
    if (coded(OUTAGE_CODE) || words.OUTAGE_WORDS.test(text)) return outage('an outage told in the body');
    // A stream that ends with words that nobody knows: as likely a crash as anything.
    if (error.streamed && !coded(/invalid|badrequest/)) return outage(`an unknown event in the stream (${shape})`);
    return stop('unknown', `unrecognised (${shape})`);
  }
  const invalid = status === 400 || status === 422;
  return stop(invalid ? 'invalid_request' : 'unknown', `unrecognised HTTP ${status} (${shape})`);
}
