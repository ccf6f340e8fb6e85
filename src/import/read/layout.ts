import { isRecord } from '../../models/protocols/json.ts';
import { valuesOfLine } from './line-values.ts';
import type { DocumentShape } from './read-document.ts';
import { readLines } from './read-lines.ts';

/** How the values of a file are laid out. */
export type Layout = { readonly kind: 'lines' } | { readonly kind: 'document'; readonly shape: DocumentShape };

/** Lines that are looked at, and the longest one. */
const LOOKED_AT = 200;
const LONGEST_LOOKED_AT = 8 * 1024 * 1024;
/** All of them together. Bytes. */
const MOST_LOOKED_AT = 32 * 1024 * 1024;

/**
 * Most lines of a file of lines are objects; of a document that is spread over lines, hardly any.
 * @param head the first characters of the file
 */
export async function layoutOf(file: string, head: string): Promise<Layout> {
  const text = head.replaceAll('\0', '').trim();
  const shape = shapeOf(text);
  if (shape === null) return { kind: 'lines' };
  let lines = 0;
  let objects = 0;
  let bytes = 0;
  for await (const line of readLines(file, LONGEST_LOOKED_AT)) {
    lines += 1;
    if (line.kind === 'line') {
      bytes += line.bytes.length;
      const { values, damage } = valuesOfLine(line.bytes);
      if (damage === null && isRecord(values[0]?.value)) objects += 1;
    }
    if (lines === LOOKED_AT || bytes > MOST_LOOKED_AT) break;
  }
  return lines > 1 && objects * 2 >= lines ? { kind: 'lines' } : { kind: 'document', shape };
}

/** Of a text that may be a document; `null` for one that is none. */
function shapeOf(text: string): DocumentShape | null {
  const list = /"(?:messages|traj)"\s*:\s*\[/u.exec(text)?.index ?? Infinity;
  if (text.startsWith('{')) return list === Infinity ? null : 'conversation';
  if (!text.startsWith('[')) return null;
  const role = /"role"\s*:/u.exec(text)?.index ?? Infinity;
  return list < role ? 'conversations' : 'messages';
}
