import type { ContentPart } from '../../context/log/content.ts';
import { readableText } from '../../context/log/readable-text.ts';
import { openDecoder, readPieces } from './content-pieces.ts';
import type { Queries } from '../database/database.ts';

/**
 * What an entry says, as one text: what recall opens, and where search says that it found something, so that an offset means the same
 * in both. Reasoning is left out; it is the model's own and never shown as memory.
 */
export function entryText(content: readonly ContentPart[]): string {
  return entryPieces(content).join('');
}

/** The same as it reads: for looking for words and facts, which stand behind escapes in JSON. Its offsets are others. */
export function readableEntryText(content: readonly ContentPart[]): string {
  return entryPieces(content).map(readableText).join('');
}

/** The text of an entry in pieces, each of which is JSON or not: the arguments of a call stand apart from its name. */
export function entryPieces(content: readonly ContentPart[]): string[] {
  return content.flatMap(lineOfPieces).slice(1);
}

function lineOfPieces(part: ContentPart): string[] {
  switch (part.type) {
    case 'text':
      return ['\n', part.text];
    case 'tool_call':
      return ['\n', `${part.name} `, part.arguments];
    case 'file':
      return ['\n', `[file ${part.name}, ${part.pages} pages]`];
    case 'image':
      return ['\n', `[image ${part.width} × ${part.height}]`];
    case 'thinking':
      return [];
  }
}

export async function* originalText(sql: Queries, contentId: string): AsyncGenerator<string, void, undefined> {
  const decoder = openDecoder();
  for await (const piece of readPieces(sql, contentId)) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}
