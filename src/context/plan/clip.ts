import type { ContentPart } from '../log/content.ts';
import { parseNestedJson } from '../log/nested-json.ts';
import { clipLabel, clippedArgumentLabel, strippedMediaText, clippedItemsLabel } from '../view/notes.ts';
import type { RecallOptions } from '../view/notes.ts';
import type { Entry } from '../log/entry.ts';
import type { Operation } from './plan.ts';

interface ClipSize {
  readonly head: number;
  readonly tail: number;
}

interface ClipContext extends ClipSize {
  readonly entryId: string;
  readonly keepMedia: boolean;
  /** Size to which kept images are scaled. Absent: they stay as they are. */
  readonly mostPatches?: number;
  readonly options: RecallOptions;
}

/**
 * Keeps head and tail of the text of a content. Reasoning goes (it is either byte-equal or gone),
 * tool calls stay, their long string arguments are clipped in place so that they remain valid JSON.
 */
export function clipContent(content: readonly ContentPart[], clip: ClipContext): ContentPart[] {
  const total = clippableCharacters(content);
  let label = clipLabel({ ...clip, total }, clip.options);
  let start = 0;
  return content.flatMap((part): ContentPart[] => {
    if (part.type === 'thinking') return [];
    if (part.type === 'image' || part.type === 'file') {
      const marker = { type: 'text', text: strippedMediaText(part, clip.entryId, clip.options) } as const;
      return [clip.keepMedia ? scaled(part, clip) : marker];
    }
    const keep = keptEnds({ start, length: textLength(part), total, clip });
    start += textLength(part);
    if (keep.omitted === 0) return [part];
    if (part.type === 'tool_call') return [{ ...part, arguments: clipArguments(part.arguments, keep, clip) }];
    const text = headOf(part.text, keep.head) + label + tailOf(part.text, keep.tail);
    label = '';
    return text === '' ? [] : [{ type: 'text', text }];
  });
}

export function clippableCharacters(content: readonly ContentPart[]): number {
  return content.reduce((sum, part) => sum + textLength(part), 0);
}

function textLength(part: ContentPart): number {
  if (part.type === 'text') return part.text.length;
  return part.type === 'tool_call' ? part.arguments.length : 0;
}

function scaled(part: ContentPart, { mostPatches }: Pick<ClipContext, 'mostPatches'>): ContentPart {
  return part.type === 'image' && mostPatches !== undefined ? { ...part, mostPatches } : part;
}

interface KeptEnds {
  readonly head: number;
  readonly tail: number;
  readonly omitted: number;
}

function keptEnds(part: { start: number; length: number; total: number; clip: ClipSize }): KeptEnds {
  const end = part.start + part.length;
  const head = clamp(part.clip.head - part.start, 0, part.length);
  const tail = clamp(end - Math.max(part.total - part.clip.tail, part.start), 0, part.length - head);
  return { head, tail, omitted: part.length - head - tail };
}

/**
 * Shortens tool arguments to about the characters kept, as valid JSON of the same keys: long strings lose their middle, or
 * all they say where little is kept. What cannot be shortened that way (not an object, or many small values) becomes one
 * string under the key `clipped`.
 */
function clipArguments(text: string, { head, tail, omitted }: KeptEnds, { entryId, options }: ClipContext): string {
  const labelOf = (left: number): string => clippedArgumentLabel({ entryId, omitted: left }, options);
  const kept = head + tail;
  const limits = [kept, kept / 2, kept / 4, kept / 16, 0].map((limit) => Math.max(SHORT_STRING, Math.floor(limit)));
  const value = parseNestedJson(text);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  for (const limit of isObject ? [...limits, 0] : []) {
    const clipped = JSON.stringify(clipStrings(value, limit, labelOf));
    if (clipped.length <= kept + labelOf(text.length).length) return clipped;
  }
  return JSON.stringify({ clipped: headOf(text, head) + labelOf(omitted) + tailOf(text, tail) });
}

/** Strings of tool arguments up to this stay as they are: paths, names, options. Characters. */
const SHORT_STRING = 40;

function clipStrings(value: unknown, limit: number, labelOf: (omitted: number) => string): unknown {
  if (typeof value === 'string') {
    if (value.length <= Math.max(SHORT_STRING, limit)) return value;
    const head = Math.ceil(limit * 0.7);
    return headOf(value, head) + labelOf(value.length - limit) + tailOf(value, limit - head);
  }
  if (Array.isArray(value)) return value.map((item) => clipStrings(item, limit, labelOf));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clipStrings(item, limit, labelOf)]));
  }
  return value;
}

/** The first characters; a surrogate pair at the border goes whole. */
export function headOf(text: string, characters: number): string {
  const end = isHighSurrogate(text.charCodeAt(characters - 1)) ? characters - 1 : characters;
  return text.slice(0, Math.max(0, end));
}

/** The last characters; a surrogate pair at the border goes whole. */
export function tailOf(text: string, characters: number): string {
  const start = Math.max(0, text.length - characters);
  return text.slice(start > 0 && isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start);
}

/** A text whose pieces are limited to ever fewer characters, until it `fits` or the limit is down to `least`. */
export function firstFitting(of: {
  readonly from: number;
  readonly least: number;
  readonly render: (characters: number) => string;
  readonly fits: (text: string) => boolean;
}): string {
  let text = of.render(of.from);
  for (let limit = of.from; limit > of.least && !of.fits(text);) {
    limit *= 0.8;
    text = of.render(limit);
  }
  return text;
}

/** A text on one line, and its beginning alone where it is longer. */
export function oneLine(text: string, characters: number): string {
  // A result may be megabytes long.
  const line = headOf(text, characters * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length <= characters ? line : `${headOf(line, characters).trimEnd()} …`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

function clamp(value: number, minimum: number, maximum: number): number {
  return Math.min(maximum, Math.max(minimum, value));
}

/**
 * The first items of a content that is one JSON array, each of them whole; `null` when it is
 * something else, or when so many items would be more than the clip may show.
 */
export function clipArray(
  entry: Pick<Entry, 'id' | 'content'>,
  { arrayItems, headCharacters = 0, tailCharacters = 0 }: Operation,
  options: RecallOptions,
): ContentPart[] | null {
  const [part, ...others] = entry.content;
  if (arrayItems === undefined || part?.type !== 'text' || others.length > 0) return null;
  const items = parseArray(part.text);
  if (items === null || items.length <= arrayItems) return null;
  const text = JSON.stringify(items.slice(0, arrayItems), null, part.text.includes('\n') ? 2 : undefined);
  if (text.length > headCharacters + tailCharacters) return null;
  const label = clippedItemsLabel({ entryId: entry.id, shown: arrayItems, total: items.length }, options);
  return [{ type: 'text', text: text + label }];
}

function parseArray(text: string): readonly unknown[] | null {
  if (!text.trimStart().startsWith('[')) return null;
  const value = parseNestedJson(text);
  return Array.isArray(value) ? value : null;
}
