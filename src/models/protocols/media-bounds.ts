import { isMedia } from '../../context/log/content.ts';
import type { ContentPart, MediaPart } from '../../context/log/content.ts';
import type { MediaLimits } from '../../context/plan/plan.ts';
import type { View, ViewMessage } from '../../context/view/view.ts';
import type { ErrorVerdict } from '../model-client.ts';

/** Media go in portions of this share of a cap, so that the same ones are left out for many calls and prompts stay cached. */
const PORTION = 0.25;

/** A limit in bytes holds for the whole request: beside more text than this share of the media, it says little about them. */
const LITTLE_TEXT = 1 / 3;

const TOO_MUCH = 'left out: the provider takes no request with so many images and files, or with such large ones';

const REFUSED = 'left out: the provider refused the request with it';

/** Images and files of a message or a view, and their bytes in base64. */
interface MediaSize {
  readonly parts: number;
  readonly bytes: number;
}

/**
 * The view with its oldest images and files replaced by a line each, as far as a request with them is known to be refused. What
 * the newest message brings stays unless a server is known to refuse it alone, and what the user's newest message brings unless a
 * server takes none: the question is about it. A vendor's refusal is repaired (`call-repairs.ts`). Text is never touched: a window's
 * worth of it is a few megabytes (R23).
 *
 * @param caps what the server is known to take of images and files
 * @param requestBytes what the vendor takes of a whole request
 */
export function boundMedia(view: View, caps: MediaLimits, requestBytes: number): View {
  const { parts = Infinity, bytes = Infinity } = caps;
  const sizes = view.messages.map((message) => mediaIn([message]));
  const whole = mediaIn(view.messages);
  if (whole.parts === 0) return view;
  const overRequest = requestBytes === Infinity ? 0 : toLeaveOut(whole.bytes + textBytes(view), requestBytes);
  const wanted = {
    parts: toLeaveOut(whole.parts, parts),
    bytes: Math.max(toLeaveOut(whole.bytes, bytes), overRequest),
  };
  const newest = sizes.findLastIndex((size) => size.parts > 0);
  const asked = parts > 0 ? askedPosition(view) : -1;
  const won = { parts: 0, bytes: 0 };
  const leftOut = new Set<number>();
  for (const [position, size] of sizes.entries()) {
    if (won.parts >= wanted.parts && won.bytes >= wanted.bytes) break;
    if (position === newest && size.parts <= parts && size.bytes <= bytes) break;
    if (position === asked) continue;
    if (size.parts > 0) leftOut.add(position);
    won.parts += size.parts;
    won.bytes += size.bytes;
  }
  return replaceIn(view, (position) => leftOut.has(position), TOO_MUCH);
}

function replaceIn(view: View, isLeftOut: (position: number) => boolean, why: string): View {
  const messages = view.messages.map((message, position) =>
    isLeftOut(position) && mediaIn([message]).parts > 0 ? replaceMedia(message, why) : message,
  );
  return messages.every((message, position) => message === view.messages[position]) ? view : { ...view, messages };
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
  const sent = mediaIn(view.messages);
  if (sent.parts === 0) return undefined;
  if (verdict.cause === 'media_refused') {
    // A server that takes no PDF may take images.
    return partsOf(view.messages).some(({ type }) => type === 'file') ? undefined : { parts: 0 };
  }
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
  const { parts, bytes } = mediaIn(accepted.messages);
  return {
    ...(limits.parts !== undefined && { parts: Math.max(limits.parts, parts) }),
    ...(limits.bytes !== undefined && { bytes: Math.max(limits.bytes, bytes) }),
  };
}

function mediaIn(messages: readonly ViewMessage[]): MediaSize {
  const media = partsOf(messages).filter(isMedia);
  return { parts: media.length, bytes: media.reduce((sum, { data }) => sum + data.length, 0) };
}

/** In base64. */
export function mediaBytes(view: View): number {
  return mediaIn(view.messages).bytes;
}

/** Bytes of everything but images and files. */
function textBytes({ messages, ...rest }: View): number {
  return Buffer.byteLength(JSON.stringify([rest, partsOf(messages).filter((part) => !isMedia(part))]));
}

/** `newest`: those of the newest message that has some, and of the user's newest message. `asked`: the latter alone. */
export type KeptMedia = 'newest' | 'asked' | 'none';

/** The view with its other images and files replaced by a line each; `undefined` when there is nothing to leave out. */
export function leaveOutMedia(view: View, kept: KeptMedia): View | undefined {
  const newest = kept === 'newest' ? view.messages.findLastIndex((message) => mediaIn([message]).parts > 0) : -1;
  const asked = kept === 'none' ? -1 : askedPosition(view);
  const less = replaceIn(view, (position) => position !== newest && position !== asked, REFUSED);
  return less === view ? undefined : less;
}

/** Whether a request is too large for the media of the user's newest message, and not for its text. */
export function isAskedTooLarge(view: View): boolean {
  const asked = view.messages[askedPosition(view)];
  return asked !== undefined && mediaIn([asked]).bytes > textBytes(view);
}

/** Of the user's newest message. */
function askedPosition({ messages }: View): number {
  return messages.findLastIndex((message) => message.role === 'user' && message.origin === 'user');
}

/** All parts of messages, those of tool results too. */
function partsOf(messages: readonly ViewMessage[]): readonly ContentPart[] {
  return messages.flatMap((one) =>
    one.role === 'tool_results' ? one.results.flatMap(({ content }) => content) : one.content,
  );
}

/** The message with a line for each of its images and files. */
function replaceMedia(message: ViewMessage, why: string): ViewMessage {
  const asLine = (part: ContentPart): ContentPart =>
    isMedia(part) ? { type: 'text', text: lineFor(part, why) } : part;
  if (message.role === 'tool_results') {
    return { ...message, results: message.results.map((one) => ({ ...one, content: one.content.map(asLine) })) };
  }
  return { ...message, content: message.content.map(asLine) };
}

function lineFor(part: MediaPart, why: string): string {
  return part.type === 'image'
    ? `[image of ${part.width} × ${part.height} pixels ${why}]`
    : `[file ${part.name} ${why}]`;
}
