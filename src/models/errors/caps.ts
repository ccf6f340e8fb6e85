import type { MediaCap } from '../model-client.ts';
import type { Finding } from './classify.ts';

/** Of the numbers that a text about messages names, the cap is the smallest; one alone may be the number that was sent. */
export function tooManyMessages(text: string): Finding {
  const counts = [...text.matchAll(/(?<![\d.,_a-z])\d{1,6}(?![\d.,]*\d)/g)].map(Number).filter((count) => count > 1);
  const isSent = counts.length === 1 && /\b(?:got|has|have|with|contains?|sent|received|is|were|was) \d/.test(text);
  const named =
    counts.length === 0 || (isSent && !/max|limit|at most|up to|exceed|than|only/.test(text))
      ? undefined
      : Math.min(...counts);
  return {
    cause: 'too_many_messages',
    repair: 'compact',
    ...(named === undefined ? {} : { maximumMessages: named }),
    evidence: `a cap on the number of messages${named === undefined ? '' : `, ${named}`}`,
  };
}

/** The cap on all media together; none for a limit on the size of each. */
export function mediaCapIn(text: string, media: boolean): MediaCap | undefined {
  if (!media) return { unit: 'bytes' };
  const number = /too many|number of|\b\d{1,4} ?(?:images?|image\(s\)|files?|documents?|attachments?)\b/.test(text);
  if (!number || /pixel|\bpx\b|dimension|\bpages?\b|\bbytes?\b|\d ?[kmg]i?b\b|resolution/.test(text)) return undefined;
  const counts = [...text.matchAll(/(?<![\d.,_a-z])\d{1,4}(?![\d.,]*\d)/g)].map(Number).filter((count) => count > 0);
  return { unit: 'parts', ...(counts.length > 0 && { maximum: Math.min(...counts) }) };
}
