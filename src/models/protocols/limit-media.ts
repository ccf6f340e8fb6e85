import type { MediaLimits } from '../../context/plan/plan.ts';
import type { View, ViewMessage } from '../../context/view/view.ts';
import { contentsOf, isMedia, replaceMedia } from './leave-out-media.ts';
import { textBytes } from './limit-request-bytes.ts';
import type { ErrorVerdict } from '../model-client.ts';

/** Media go in portions of this share of a cap, so that the same ones are left out for many calls and prompts stay cached. */
const PORTION = 0.25;

/** A limit in bytes holds for the whole request: beside more text than this share of the media, it says little about them. */
const LITTLE_TEXT = 1 / 3;

const LEFT_OUT = 'left out: the provider refused a request with so many images and files, or with such large ones';

/** Images and files of a message or a view, and their bytes in base64. */
interface MediaSize {
  readonly parts: number;
  readonly bytes: number;
}

/** The view with its oldest images and files left out, as far as a server is known to refuse them; the newest too where it is over alone. */
export function limitMedia(view: View, { parts = Infinity, bytes = Infinity }: MediaLimits): View {
  const sizes = view.messages.map(mediaOf);
  const whole = total(sizes);
  const wanted = { parts: toLeaveOut(whole.parts, parts), bytes: toLeaveOut(whole.bytes, bytes) };
  const newest = sizes.findLastIndex((size) => size.parts > 0);
  const won = { parts: 0, bytes: 0 };
  const leftOut = new Set<number>();
  for (const [position, size] of sizes.entries()) {
    if (won.parts >= wanted.parts && won.bytes >= wanted.bytes) break;
    if (position === newest && size.parts <= parts && size.bytes <= bytes) break;
    if (size.parts > 0) leftOut.add(position);
    won.parts += size.parts;
    won.bytes += size.bytes;
  }
  if (leftOut.size === 0) return view;
  return {
    ...view,
    messages: view.messages.map((message, position) =>
      leftOut.has(position) ? replaceMedia(message, LEFT_OUT) : message,
    ),
  };
}

function toLeaveOut(amount: number, cap: number): number {
  if (amount <= cap) return 0;
  const portion = Math.max(1, Math.floor(cap * PORTION));
  return Math.min(amount, Math.ceil((amount - cap) / portion) * portion);
}

/**
 * What a refused request with media teaches for later ones; `undefined` where only one image's own size, form or length was
 * refused. A cap that the error does not name, or one that the request did not break, is taken to be half of what was sent.
 */
export function mediaToLearn(verdict: ErrorVerdict, view: View): MediaLimits | undefined {
  if (verdict.kind !== 'permanent' || verdict.repair !== 'drop_media') return undefined;
  const sent = total(view.messages.map(mediaOf));
  if (sent.parts === 0) return undefined;
  // A server that takes no PDF may take images.
  if (verdict.mediaRefused === true) return hasFiles(view) ? undefined : { parts: 0 };
  const { mediaCap } = verdict;
  if (mediaCap === undefined) return undefined;
  if (mediaCap.unit === 'bytes') {
    if (textBytes(view) > sent.bytes * LITTLE_TEXT) return undefined;
    return { bytes: sent.parts === 1 ? sent.bytes - 1 : Math.floor(sent.bytes / 2) };
  }
  const { maximum } = mediaCap;
  const isPlausible = maximum !== undefined && maximum > 0 && maximum < sent.parts;
  return isPlausible ? { parts: maximum } : sent.parts === 1 ? undefined : { parts: Math.floor(sent.parts / 2) };
}

/** Limits that do not forbid what was accepted after all. */
export function atLeastAccepted(limits: MediaLimits, accepted: View): MediaLimits {
  const { parts, bytes } = total(accepted.messages.map(mediaOf));
  return {
    ...(limits.parts !== undefined && { parts: Math.max(limits.parts, parts) }),
    ...(limits.bytes !== undefined && { bytes: Math.max(limits.bytes, bytes) }),
  };
}

function hasFiles({ messages }: View): boolean {
  return messages.some((message) =>
    contentsOf(message)
      .flat()
      .some(({ type }) => type === 'file'),
  );
}

function mediaOf(message: ViewMessage): MediaSize {
  const media = contentsOf(message).flat().filter(isMedia);
  return { parts: media.length, bytes: media.reduce((sum, { data }) => sum + data.length, 0) };
}

function total(sizes: readonly MediaSize[]): MediaSize {
  return sizes.reduce((sum, one) => ({ parts: sum.parts + one.parts, bytes: sum.bytes + one.bytes }), {
    parts: 0,
    bytes: 0,
  });
}
