import type { ContentPart } from '../../context/log/content.ts';
import { measureContent } from '../../context/log/measure.ts';
import type { NewContent } from '../../store/log/entries.ts';

export function newContent(content: readonly ContentPart[]): NewContent {
  return { content, measurements: measureContent(content) };
}

export function newText(text: string): NewContent {
  return newContent([{ type: 'text', text }]);
}
