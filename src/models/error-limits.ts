import { overflow, stop, type ErrorAssessment, type ErrorReading } from './error-assessment.ts';
import type { MediaCap } from './model-client.ts';
import * as words from './error-vocabulary.ts';
import { smallestFigure } from './token-figures.ts';

const FILTER_CODE =
  /contentfilter|contentpolicy|contentmoderation|responsibleai|safety|datainspection|invalidprompt|biopolicy/;
const PAYLOAD_CODE =
  /requesttoolarge|payloadtoolarge|entitytoolarge|requestbody|imagedimensions|image(?:file)?toolarge|stringabovemax|filetoolarge/;

/** vLLM computes the maximum from what the input leaves free, and complains when that is negative. */
const NEGATIVE_REST =
  /-\d+\)? (?:must|should) be (?:greater|at least|positive)|(?:at least 1|greater than 0|positive|>= ?1|> ?0)\b[^0-9-]{0,40}-\d/;

/** The answer had no room; asking for less of it would not help. */
const OUTPUT_RAN_OUT = /output limit (?:was |has been )?reached|could not finish/;

/** The smallest maximum that is accepted, not the largest. */
const TOO_LITTLE =
  /below (?:the )?minimum|(?:at least|greater than or equal to|>=) ?\d|must be (?:greater|larger|more) than [a-z]/;

/** Limits on other things than the window: output, thinking, content, messages, media, bytes, characters, items. */
export function byOtherLimit(reading: ErrorReading): ErrorAssessment | undefined {
  const { text, coded } = reading;
  const aboutOutput = byOutput(reading);
  if (aboutOutput !== undefined) return aboutOutput;
  if (words.THINKING_WORDS.test(text) && !/budget|effort/.test(text)) {
    return { kind: 'thinking_refused', repair: 'drop_thinking', evidence: 'words about thinking that was sent back' };
  }
  const tokens = words.TOKEN_WORDS.test(text);
  if (!tokens && words.COUNTED_IN_BYTES.test(text) && words.EXCESS_WORDS.test(text))
    return tooLarge(text, 'a limit in bytes');
  if (!tokens && words.ONE_STRING.test(text)) return stop('invalid_request', 'a limit in characters or items');
  if (words.MINIMUM_WORDS.test(text)) return stop('invalid_request', 'below a minimum');
  const window = reading.windowExceeded || (reading.over && words.WINDOW_NAMED.test(text));
  if (coded(FILTER_CODE) || (words.FILTER_WORDS.test(text) && !(window && tokens))) {
    return stop('content_filter', 'words of a content filter');
  }
  if (window || (tokens && words.INPUT_TOO_LONG.test(text))) return undefined;
  if (words.MESSAGE_COUNT_WORDS.test(text) && !tokens) {
    return tooManyMessages(text);
  }
  if (words.MESSAGE_LIST.test(text) && words.LIST_TOO_LONG.test(text)) return tooManyMessages(text);
  return tokens ? undefined : byOtherUnit(reading);
}

function byOutput({ text, figures }: ErrorReading): ErrorAssessment | undefined {
  if (OUTPUT_RAN_OUT.test(text)) return stop('output_too_large', 'the answer did not fit');
  if (!words.OUTPUT_WORDS.test(text)) return undefined;
  if (NEGATIVE_REST.test(text)) return overflow(withoutSizes(figures), 'a negative maximum output beside the input');
  if (words.TOKENS_EXCEEDED.test(text)) return undefined;
  if (words.BESIDE_OUTPUT.test(text)) return undefined;
  if (TOO_LITTLE.test(text)) return stop('invalid_request', 'an output below the minimum');
  if (!words.EXCESS_WORDS.test(text) && !/maximum|range|limit|\b(?:over|above|beyond|past) \d/.test(text))
    return undefined;
  const limit = smallestFigure(text);
  const evidence = 'a limit on the output alone';
  if (limit === undefined) return stop('output_too_large', evidence);
  return { kind: 'output_too_large', repair: 'lower_max_tokens', limit, maximumOutput: limit, evidence };
}

/** Of the numbers that a text about messages names, the cap is the smallest; one alone may be the number that was sent. */
function tooManyMessages(text: string): ErrorAssessment {
  const counts = [...text.matchAll(/(?<![\d.,_a-z])\d{1,3}(?:,\d{3})+(?![\d,])|(?<![\d.,_a-z])\d{1,6}(?![\d.,]*\d)/g)]
    .map(([digits]) => Number(digits.replaceAll(',', '')))
    .filter((count) => count > 1);
  const alone =
    counts.length === 1 &&
    /\b(?:got|has|have|with|contains?|sent|received|found|is|were|was) \d/.test(text) &&
    !ABOUT_A_CAP.test(text);
  const maximumMessages = counts.length === 0 || alone ? undefined : Math.min(...counts);
  return {
    kind: 'too_many_messages',
    repair: 'compact',
    ...(maximumMessages === undefined ? {} : { maximumMessages }),
    evidence: `a cap on the number of messages${maximumMessages === undefined ? '' : `, ${maximumMessages}`}`,
  };
}

const ABOUT_A_CAP =
  /(?:max(?:imum)?|limit|at most|up to|exceeds?|more than|fewer than|less than|only|cap|allowed)[a-z ():=]{0,30}\d/;

function tooLarge(text: string, evidence: string): ErrorAssessment {
  const mediaCap = mediaCapIn(text);
  return { kind: 'payload_too_large', repair: 'drop_media', ...(mediaCap && { mediaCap }), evidence };
}

/** How many images or files there may be. */
const MEDIA_COUNT =
  /too many (?:\w+ )?(?:images|files|documents|attachments)|number of (?:\w+ )?(?:images|files|documents|attachments)|\b\d{1,4} ?(?:images?|image\(s\)|files?|documents?|attachments?)\b/;
/** The size of one of them, not how many. */
const MEDIA_SIZE = /pixel|\bpx\b|dimension|\bpages?\b|\btokens?\b|\bbytes?\b|\d ?[kmg]i?b\b|resolution/;

/** The cap on all media together; none for a limit on each of them. */
function mediaCapIn(text: string): MediaCap | undefined {
  if (!words.MEDIA_WORDS.test(text)) return { unit: 'bytes' };
  if (!MEDIA_COUNT.test(text) || MEDIA_SIZE.test(text)) return undefined;
  const counts = [...text.matchAll(/(?<![\d.,_a-z])\d{1,4}(?![\d.,]*\d)/g)].map(Number).filter((count) => count > 0);
  return { unit: 'parts', ...(counts.length > 0 && { maximum: Math.min(...counts) }) };
}

function withoutSizes({ lowerBound }: ErrorReading['figures']): ErrorReading['figures'] {
  return { lowerBound };
}

function byOtherUnit({ text, coded }: ErrorReading): ErrorAssessment | undefined {
  const excess = words.EXCESS_WORDS.test(text);
  const media = words.MEDIA_WORDS.test(text) && (excess || /limit|maximum|longest|largest|may be/.test(text));
  const bytes = words.BYTE_WORDS.test(text) && (excess || /larger|limit/.test(text));
  if (media || bytes || (coded(PAYLOAD_CODE) && !words.INPUT_TOO_LONG.test(text))) {
    return tooLarge(text, media ? 'a limit on media' : 'a limit in bytes');
  }
  const items = words.CHARACTER_WORDS.test(text) || words.LIST_WORDS.test(text);
  return items && excess ? stop('invalid_request', 'a limit in characters or items') : undefined;
}
