import { gatherSignals, type ErrorSignals, type RawError } from './error-signals.ts';
import type { MediaCap } from './model-client.ts';
import { retryDelay } from './retry-after.ts';
import { saysWindowExceeded } from './error-vocabulary.ts';
import { tokenFigures, type TokenFigures } from './token-figures.ts';

/** What kind of failure it was. */
export type ErrorKind =
  | 'overflow'
  | 'too_many_messages'
  | 'output_too_large'
  | 'payload_too_large'
  /** The model or its server takes no media of this kind. */
  | 'media_refused'
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
  /** Most messages that the provider accepts in a request. */
  readonly maximumMessages?: number;
  /** What is capped of all images and files together. */
  readonly mediaCap?: MediaCap;
  /** Milliseconds that the provider wants to be left alone. */
  readonly delayMilliseconds?: number;
  /** Which rule decided, with codes and numbers only: safe for logs and histories. */
  readonly evidence: string;
}

/** A failed call, read once for all rules. */
export interface ErrorReading {
  readonly error: RawError;
  readonly signals: ErrorSignals;
  /** All readable texts, normalized. */
  readonly text: string;
  readonly figures: TokenFigures;
  /** Whether the figures alone say that more was sent than is accepted. */
  readonly over: boolean;
  /** Whether the words say that a window is exceeded. */
  readonly windowExceeded: boolean;
  /** How long to wait, where the provider says it. */
  readonly wait: { readonly delayMilliseconds?: number };
  /** Whether one of the codes matches. */
  readonly coded: (pattern: RegExp) => boolean;
}

/** Reads a failed call; `now` in milliseconds since 1970. */
export function readError(error: RawError, now: number): ErrorReading {
  const signals = gatherSignals(error);
  const figures = figuresIn(signals);
  const text = signals.texts.join('\n');
  const { actual, limit } = figures;
  const delayMilliseconds = retryDelay(error.headers, signals.texts, now);
  return {
    error,
    signals,
    text,
    windowExceeded: saysWindowExceeded(text),
    figures,
    over: actual !== undefined && limit !== undefined && actual > limit,
    wait: delayMilliseconds === undefined ? {} : { delayMilliseconds },
    coded: (pattern) => [...signals.codes].some((code) => pattern.test(code)),
  };
}

/** The SDKs begin their own message with the status: `400 prompt is too long`. */
const STATUS_FIRST = /^[45]\d\d (?!(?:\w+ )?tokens?\b)/;

/** The figures of the text that says most, else those among the properties. */
function figuresIn(signals: ErrorSignals): TokenFigures {
  // Pages repeat the status among their words: no count of tokens.
  const withoutStatus = (text: string): string =>
    signals.statuses.reduce(
      (rest, status) => rest.replace(new RegExp(`(?<![\\d.,])${status}(?![\\d.,])`), ' '),
      text.replace(STATUS_FIRST, ''),
    );
  const telling = ({ actual, limit }: TokenFigures) => Number(actual !== undefined) + 2 * Number(limit !== undefined);
  return signals.texts
    .map((text) => tokenFigures(withoutStatus(text)))
    .reduce<TokenFigures>(
      (best, figures) => (telling(figures) > telling(best) ? figures : best),
      namedFigures(signals.numbers),
    );
}

/** Counts that a body gives as properties of their own: `n_prompt_tokens` and `n_ctx`, `requested` and `limit`. */
function namedFigures(numbers: ReadonlyMap<string, number>): TokenFigures {
  const named = [...numbers].filter(([, value]) => value > 0);
  const limit = named.find(([name]) => /limit|max|window|ctx|capacity|allowed|context/.test(name))?.[1];
  const actual = named.find(
    ([name]) =>
      /prompt|input|sent|actual|request|used|total|^(?:got|given|provided|received|current|found|counted)|^n?tokens?(?:count)?$/.test(
        name,
      ) && !/max|limit/.test(name),
  )?.[1];
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(actual === undefined ? {} : { actual }),
    lowerBound: false,
  };
}

/** Nothing that Holdfast can do. */
export function stop(kind: ErrorKind, evidence: string): ErrorAssessment {
  return { kind, repair: 'stop', evidence };
}

/** An overflow; when the input alone fits, a lower maximum output is the smaller repair. */
export function overflow(figures: TokenFigures, rule: string): ErrorAssessment {
  const { actual, limit, input, output, lowerBound } = figures;
  const inputFits = input !== undefined && output !== undefined && limit !== undefined && input < limit && !lowerBound;
  const counted = actual === undefined ? '' : `, ${lowerBound ? 'at least ' : ''}${actual} tokens`;
  return {
    kind: 'overflow',
    ...(inputFits ? { repair: 'lower_max_tokens', maximumOutput: limit - input } : { repair: 'compact' }),
    // A lower bound is no size: nothing may be learned from it.
    ...(lowerBound || actual === undefined ? {} : { actual }),
    ...(limit === undefined ? {} : { limit }),
    evidence: `${rule}${counted}${limit === undefined ? '' : `, limit ${limit}`}`,
  };
}
