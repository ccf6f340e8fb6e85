import type { FilePart, ImagePart } from '../log/content.ts';
import { nameText } from '../log/frames.ts';
import type { PlaceholderTexts } from '../policy/policy.ts';

/** Whether the agent has a tool that opens originals; without one a placeholder must not name it. */
export interface RecallOptions {
  /** Default: true. */
  readonly recall?: boolean;
  readonly texts?: PlaceholderTexts;
}

/** 1234567 → "1,234,567"; the same on every machine, unlike `toLocaleString`. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function wayBack(entryId: string, options: RecallOptions): string {
  return options.recall === false ? 'The original is kept in the log.' : `recall_open ${entryId} shows the original.`;
}

/** Stands where the middle of a text was; tells original, omitted and shown characters (seeds/wolffish.md). */
export function clipLabel(
  clip: { readonly entryId: string; readonly total: number; readonly head: number; readonly tail: number },
  options: RecallOptions = {},
): string {
  const omitted = clip.total - clip.head - clip.tail;
  const own = options.texts?.clip;
  if (own !== undefined) {
    const counts = { original: clip.total, omitted, head: clip.head, tail: clip.tail };
    return `\n${filled(own, counts)} ${wayBack(clip.entryId, options)}\n`;
  }
  return (
    `\n[Clipped: ${formatCount(clip.total)} characters, ${formatCount(omitted)} omitted, first ${formatCount(clip.head)} ` +
    `and last ${formatCount(clip.tail)} shown. ${wayBack(clip.entryId, options)}]\n`
  );
}

export function clippedItemsLabel(
  clip: { readonly entryId: string; readonly shown: number; readonly total: number },
  options: RecallOptions = {},
): string {
  return `\n[First ${formatCount(clip.shown)} of ${formatCount(clip.total)} items. ${wayBack(clip.entryId, options)}]\n`;
}

/** Stands inside clipped tool arguments, where a line of its own has no place. */
export function clippedArgumentLabel(
  clip: { readonly entryId: string; readonly omitted: number },
  options: RecallOptions = {},
): string {
  return ` [${formatCount(clip.omitted)} characters omitted. ${wayBack(clip.entryId, options)}] `;
}

export function clearedResultText(
  result: { readonly entryId: string; readonly toolName: string; readonly characters: number },
  options: RecallOptions = {},
): string {
  return (
    `[Old result of ${nameText(result.toolName)} cleared: ${formatCount(result.characters)} characters. ` +
    `${wayBack(result.entryId, options)}]`
  );
}

export function strippedMediaText(part: ImagePart | FilePart, entryId: string, options: RecallOptions = {}): string {
  return `[${describeMedia(part)} omitted. ${wayBack(entryId, options)}]`;
}

/** A policy's own words, once for all media of a content; `undefined` when it has none. */
export function strippedContentText(entryId: string, options: RecallOptions): string | undefined {
  const own = options.texts?.strip;
  return own === undefined ? undefined : `${own} ${wayBack(entryId, options)}`;
}

function filled(template: string, counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts).reduce(
    (text, [name, count]) => text.replaceAll(`{{${name}}}`, formatCount(count)),
    template,
  );
}

/** One line that tells what a medium was, without its data. */
export function describeMedia(part: ImagePart | FilePart): string {
  return part.type === 'image'
    ? `Image ${nameText(part.mediaType)}, ${part.width} × ${part.height} pixels,`
    : `File ${nameText(part.name)}, ${nameText(part.mediaType)}, ${part.pages} pages,`;
}
