import type { MediaCap } from '../model-client.ts';

/** The cap on all media together; none for a limit on the size of each. */
export function mediaCapIn(text: string, media: boolean): MediaCap | undefined {
  if (!media) return { unit: 'bytes' };
  const number = /too many|number of|\b\d{1,4} ?(?:images?|image\(s\)|files?|documents?|attachments?)\b/.test(text);
  if (!number || /pixel|\bpx\b|dimension|\bpages?\b|\bbytes?\b|\d ?[kmg]i?b\b|resolution/.test(text)) return undefined;
  const counts = [...text.matchAll(/(?<![\d.,_a-z])\d{1,4}(?![\d.,]*\d)/g)].map(Number).filter((count) => count > 0);
  return { unit: 'parts', ...(counts.length > 0 && { maximum: Math.min(...counts) }) };
}
