import type { ContentPart } from '../log/content.ts';
import type { Entry } from '../log/entry.ts';
import { parseNestedJson } from '../log/nested-json.ts';
import { clippedItemsLabel } from '../view/placeholders.ts';
import type { RecallOptions } from '../view/placeholders.ts';
import type { Operation } from './plan.ts';

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
