import type { ContentPart } from '../context/content.ts';
import { measureContent } from '../context/measure.ts';
import type { NewContent } from '../store/entries.ts';

export function newContent(content: readonly ContentPart[]): NewContent {
  return { content, measurements: measureContent(content) };
}

export function newText(text: string): NewContent {
  return newContent([{ type: 'text', text }]);
}
