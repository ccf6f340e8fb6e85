import type { View, ViewMessage } from '../../context/view/view.ts';
import { contentsOf, isMedia, replaceMedia } from './leave-out-media.ts';

/** Media go in portions of this share of the limit, so that the same ones are left out for many calls and prompts stay cached. */
const PORTION = 0.25;

/**
 * The view with its oldest images and files replaced by a line each, as many as it takes for the request to stay within
 * what the vendor accepts (R23). What the newest message brings stays: the question is about it, and if it is too large
 * alone, the vendor's refusal is repaired (`call-repairs.ts`). Text is never touched: a window's worth of it is a few megabytes.
 *
 * @param limit bytes of a request
 */
export function limitRequestBytes(view: View, limit: number): View {
  const sizes = view.messages.map(mediaBytes);
  const media = sum(sizes);
  if (media === 0) return view;
  const over = media + textBytes(view) - limit;
  if (over <= 0) return view;
  const portion = limit * PORTION;
  const wanted = Math.ceil(over / portion) * portion;
  const newest = sizes.findLastIndex((size) => size > 0);
  const leftOut = new Set<number>();
  let won = 0;
  for (const [position, size] of sizes.entries()) {
    if (won >= wanted || position === newest) break;
    if (size > 0) leftOut.add(position);
    won += size;
  }
  if (leftOut.size === 0) return view;
  const messages = view.messages.map((message, position) =>
    leftOut.has(position) ? replaceMedia(message, LEFT_OUT) : message,
  );
  return { ...view, messages };
}

const LEFT_OUT = 'left out: a request with all images and files would be larger than the provider accepts';

function mediaBytes(message: ViewMessage): number {
  return sum(contentsOf(message).map((content) => sum(content.map((part) => (isMedia(part) ? part.data.length : 0)))));
}

/** Bytes of everything but images and files. */
export function textBytes({ messages, ...rest }: View): number {
  const withoutMedia = messages.flatMap((message) =>
    contentsOf(message).map((content) => content.filter((part) => !isMedia(part))),
  );
  return Buffer.byteLength(JSON.stringify([rest, withoutMedia]));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
