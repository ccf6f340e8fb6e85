import { isMedia } from './content.ts';
import type { ContentPart, ImagePart } from './content.ts';
import { clipArray, clipContent, clippableCharacters } from '../plan/clip.ts';
import type { Entry, EntryOutline } from './entry.ts';
import { rawTokens } from './estimate.ts';
import { imagePatches, measureContent, measureText } from './measure.ts';
import {
  addMeasurements,
  characterCount,
  NO_MEASUREMENTS,
  scaleMeasurements,
  sumMeasurements,
} from './measurements.ts';
import type { Measurements } from './measurements.ts';
import { clearedResultText, clipLabel, strippedContentText, strippedMediaText } from '../view/notes.ts';
import type { RecallOptions } from '../view/notes.ts';
import type { Operation } from '../plan/plan.ts';

/** Above this the length alone decides; counting classes of a megabyte at each projection would cost. Characters. */
const LONG_ENOUGH_TO_COMPARE_LENGTHS = 20_000;

/**
 * What an entry shows once an operation is in force. Each placeholder says how to get the piece
 * back. Never larger than the original: then the original stays. A cleared note shows nothing.
 *
 * A clip strips media too, unless the operation's measurements say that they are still there, whole or scaled down.
 */
export function applyOperation(
  entry: Pick<Entry, 'id' | 'kind' | 'content' | 'toolName'>,
  operation: Operation,
  options: RecallOptions = {},
): ContentPart[] {
  const changed = change(entry, operation, options);
  return isLarger(changed, entry.content) ? [...entry.content] : changed;
}

function change(
  entry: Pick<Entry, 'id' | 'kind' | 'content' | 'toolName'>,
  operation: Operation,
  options: RecallOptions,
): ContentPart[] {
  switch (operation.kind) {
    case 'clip':
      return (
        clipArray(entry, operation, options) ??
        clipContent(entry.content, {
          entryId: entry.id,
          head: operation.headCharacters ?? 0,
          tail: operation.tailCharacters ?? 0,
          keepMedia: operation.measurements.images > 0 || operation.measurements.documentPages > 0,
          ...scaledImages(entry.content, operation),
          options,
        })
      );
    case 'clear':
      return entry.kind === 'note' ? [] : [{ type: 'text', text: clearedText(entry, options) }];
    case 'strip':
      return stripMedia(entry, options);
  }
}

/** A clip whose measurements hold fewer patches than the images have scales each to its share of them. */
function scaledImages(content: readonly ContentPart[], { measurements }: Operation): { readonly mostPatches?: number } {
  const own = content.reduce((sum, part) => sum + (part.type === 'image' ? imagePatches(part) : 0), 0);
  if (measurements.images === 0 || measurements.imagePatches >= own) return {};
  return { mostPatches: Math.floor(measurements.imagePatches / measurements.images) };
}

function stripMedia(entry: Pick<Entry, 'id' | 'content'>, options: RecallOptions): ContentPart[] {
  const marker = strippedContentText(entry.id, options);
  if (marker !== undefined) return [{ type: 'text', text: marker }, ...entry.content.filter((part) => !isMedia(part))];
  return entry.content.map((part) =>
    isMedia(part) ? { type: 'text', text: strippedMediaText(part, entry.id, options) } : part,
  );
}

function clearedText(entry: Pick<Entry, 'id' | 'content' | 'toolName'>, options: RecallOptions): string {
  const own = options.texts?.clear;
  if (own !== undefined) return own;
  const characters = clippableCharacters(entry.content);
  return clearedResultText({ entryId: entry.id, toolName: entry.toolName ?? 'a tool', characters }, options);
}

function isLarger(changed: readonly ContentPart[], original: readonly ContentPart[]): boolean {
  const characters = clippableCharacters(original);
  if (characters >= LONG_ENOUGH_TO_COMPARE_LENGTHS) return clippableCharacters(changed) >= characters;
  return rawTokens(measureContent(changed)) > rawTokens(measureContent(original));
}

/**
 * A clear, measured from the outline alone.
 *
 * @param placeholder the policy's own words for a cleared result. Default: a line that names result and way back
 */
export function clearOperation(entry: EntryOutline, placeholder?: string): Operation {
  const { id: entryId, kind, toolName = 'a tool', measurements } = entry;
  if (kind === 'note') return { entryId, kind: 'clear', measurements: NO_MEASUREMENTS };
  const text = placeholder ?? clearedResultText({ entryId, toolName, characters: characterCount(measurements) });
  return { entryId, kind: 'clear', measurements: { ...measureText(text), frames: 1 } };
}

export function stripOperation(entry: EntryOutline): Operation {
  return { entryId: entry.id, kind: 'strip', measurements: withoutMedia(entry) };
}

const SOME_IMAGE: ImagePart = { type: 'image', mediaType: 'image/jpeg', data: '', width: 1_000, height: 1_000 };

function withoutMedia({ id, measurements }: EntryOutline): Measurements {
  const media = measurements.images + (measurements.documentPages > 0 ? 1 : 0);
  if (media === 0) return measurements;
  const marker = measureText(strippedMediaText(SOME_IMAGE, id));
  const text = { ...measurements, images: 0, imagePatches: 0, documentPages: 0, bytes: characterCount(measurements) };
  return addMeasurements(text, scaleMeasurements(marker, media));
}

/**
 * A clip, measured from the outline alone: head and tail are taken to be like the whole.
 *
 * @param size.keepMedia images and files stay; else they become markers
 * @param size.mostPatches to which each image that stays is scaled
 */
export function clipOperation(
  entry: EntryOutline,
  size: { readonly head: number; readonly tail: number; readonly keepMedia?: boolean; readonly mostPatches?: number },
): Operation {
  const shown = size.keepMedia === true ? entry.measurements : withoutMedia(entry);
  const { mostPatches = shown.imagePatches } = size;
  const total = characterCount(entry.measurements);
  const share = Math.min(1, (size.head + size.tail) / Math.max(1, total));
  const label = measureText(clipLabel({ ...size, entryId: entry.id, total }));
  const media = {
    ...NO_MEASUREMENTS,
    images: shown.images,
    imagePatches: Math.min(shown.imagePatches, shown.images * mostPatches),
    documentPages: shown.documentPages,
    frames: shown.frames,
  };
  const text = scaleMeasurements({ ...shown, images: 0, imagePatches: 0, documentPages: 0, frames: 0 }, share);
  return {
    entryId: entry.id,
    kind: 'clip',
    headCharacters: size.head,
    tailCharacters: size.tail,
    // One in the text, and one in the arguments of each call, which has a frame as the entry has.
    measurements: sumMeasurements([text, media, scaleMeasurements(label, entry.measurements.frames)]),
  };
}
