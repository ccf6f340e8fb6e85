import type { ContentPart } from '../context/content.ts';
import { openDecoder, readPieces } from './content-pieces.ts';
import type { Queries } from './database.ts';

/**
 * What an entry says, as one text: what recall opens and what search indexes, so that an offset
 * means the same in both. Reasoning is left out; it is the model's own and never shown as memory.
 */
export function entryText(content: readonly ContentPart[]): string {
  return content.flatMap(partText).join('\n');
}

function partText(part: ContentPart): string[] {
  switch (part.type) {
    case 'text':
      return [part.text];
    case 'tool_call':
      return [`${part.name} ${part.arguments}`];
    case 'file':
      return [`[file ${part.name}, ${part.pages} pages]`];
    case 'image':
      return [`[image ${part.width} × ${part.height}]`];
    case 'thinking':
      return [];
  }
}

/** The text of an original in chunks, in order. */
export async function* originalText(sql: Queries, contentId: string): AsyncGenerator<string, void, undefined> {
  const decoder = openDecoder();
  for await (const piece of readPieces(sql, contentId)) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}
