import { countPlaces } from './words.ts';
import type { Word } from './words.ts';

/** Of a sequence (a family, a tone of skin) its parts: they are asked for alone as well. Flags are two letters of their own. */
const EMOJI = /(?![\p{L}\p{N}])\p{Extended_Pictographic}|\p{Regional_Indicator}{2}/gu;
const HAS_EMOJI = new RegExp(EMOJI, 'u');

/**
 * The emoji of a text, each a word that takes no place of its own: it stands at that of the word before it, so that what was indexed
 * without them keeps its places.
 */
export function emojiIn(text: string): Word[] {
  if (!HAS_EMOJI.test(text)) return [];
  const found: Word[] = [];
  let places = 0;
  let end = 0;
  for (const { 0: emoji, index } of text.matchAll(EMOJI)) {
    places += countPlaces(text.slice(end, index));
    end = index + emoji.length;
    found.push({ text: emoji, isPlain: false, position: Math.max(1, places) });
  }
  return found;
}

export function isEmoji(term: string): boolean {
  return HAS_EMOJI.test(term);
}
