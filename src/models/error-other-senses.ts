import { stop, type ErrorAssessment, type ErrorReading } from './error-assessment.ts';
import * as words from './error-vocabulary.ts';

/**
 * Errors that speak of tokens, contexts and limits in another sense: tokens that prove who somebody
 * is, contexts of a session or a program, the depth of a value, a parameter beside the input. A
 * shorter conversation cures none of them.
 */
export function byOtherSense({ text, figures, signals }: ErrorReading): ErrorAssessment | undefined {
  // What breaks in the server may go well the next time.
  if ((signals.statuses[0] ?? 0) >= 500) return undefined;
  if (CREDENTIAL_TOKENS.test(text) && !OF_THE_REQUEST.test(text)) return stop('authentication', 'tokens of a login');
  if (
    words.GRAMMAR_WORDS.test(text) &&
    !SIZE_OF_WINDOW.test(text) &&
    !/\bprompts?\b|\bmessages\b|conversation/.test(text)
  )
    return stop('invalid_request', 'a grammar or schema');
  const counted = words.TOKEN_WORDS.test(text) && (figures.actual ?? figures.limit) !== undefined;
  if (counted || SIZE_OF_WINDOW.test(text)) return parameterOf(text);
  if (OTHER_CONTEXT.test(text) && !/\bprompts?\b|\bmessages\b|conversation/.test(text))
    return stop('invalid_request', 'a context that is no window');
  if (DEPTH.test(text) && !words.MESSAGE_COUNT_WORDS.test(text)) return stop('invalid_request', 'a limit on depth');
  return parameterOf(text);
}

/** `api token limit` may be the model's; `access token limit` may not. */
const CREDENTIAL_TOKENS =
  /\b(?:auth(?:entication|orization)?|access|bearer|refresh|csrf|xsrf|oauth2?|login|key)[-_ ]tokens?\b|\bjwts?\b|\b(?:api|session|security|id|identity|device|active|deploy|service)[-_ ]tokens?\b(?![-_ ](?:limit|count|budget|usage|window|quota))/;

/** What only a model's request has. */
const OF_THE_REQUEST =
  /\bprompts?\b|\bmessages?\b|conversation|\binputs?\b|history|sequence|context (?:window|length|size)|\bmodel\b/;

const SIZE_OF_WINDOW = /\b(?:context|ctx)[-_ ]?(?:windows?|length|len|size|tokens?)\b/;

const OTHER_CONTEXT = new RegExp(
  [
    String.raw`\b(?:session|security|execution|browser|rendering|graphics|cuda|gpu|ssl|tls|json(?:-ld)?|http|servlet|transaction|database|evaluation|template|span|trace|tracing|user|tenant|auth\w*|login|application|async) contexts?\b`,
    String.raw`\bcontexts? (?:has |have |had |is |was |were |are )?(?:been |already )?(?:expired|invalid|missing|closed|destroyed|lost|not found|unknown|disposed|revoked)\b`,
    String.raw`\b(?:value|field|parameter|property|key|argument|attribute|variable|header)s? (?:(?:for|of|named|called) )?['"]?context\b['"]?(?! (?:window|length|size))`,
    String.raw`(?:\b|_)context[ _](?:ids?|names?|keys?|items?|labels?|entries|documents?|files?|chunks?|objects?|variables?)\b|[a-z_]\.context\b`,
    String.raw`\b(?:concurrent|open|active|cached|many|other|max|num|number of|\d+)[ _]contexts\b`,
  ].join('|'),
);

const DEPTH = /\b(?:nesting|recursion|nested|depth)\b|\blevels? deep\b/;

/** A name that is written like a parameter's, and what is said of its value. */
const PARAMETER_VALUE =
  /(?:^|[\n:.] ?|\b(?:parameter|field|argument|value (?:of|for)) )['"]?([a-z]+(?:_[a-z]+)+|top[- ][kp]|temperature|seed)['"]? ?:? (?:of \d+ |value )?(?:exceeds?|exceeded|must|should|is (?:too|greater|larger|more|above|over|out)|cannot|can not|may not|is limited)\b/;

/** Parameters that are the input, or as long as it. */
const ABOUT_INPUT =
  /token|prompt|input|context|ctx|len|seq|message|size|position|window|cache|total|count|query|text|history|conversation|chat|content|dialog|document|request|body|payload|usage/;

function parameterOf(text: string): ErrorAssessment | undefined {
  const name = PARAMETER_VALUE.exec(text)?.[1];
  if (name === undefined || ABOUT_INPUT.test(name) || words.OUTPUT_WORDS.test(name) || words.INPUT_TOO_LONG.test(text))
    return undefined;
  if (/\bprompts?\b|\bmessages\b|conversation|context|ctx/.test(text.replace(name, ' '))) return undefined;
  return /thinking|budget|effort|image|file|media/.test(name)
    ? undefined
    : stop('invalid_request', 'the value of a parameter');
}
