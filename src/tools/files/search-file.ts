import type { FileHandle } from 'node:fs/promises';
import { ToolError } from '../errors.ts';
import type { LineMatcher } from './match-lines.ts';

/** Searched in one go: other turns of the worker wait for it. */
const CHUNK_BYTES = 64 * 1_024;

/** Bytes in which a NUL tells a binary file from a text, as git does it. */
const PROBED_BYTES = 8_000;

/** Characters after which a line without end is searched in parts. */
const LONGEST_LINE = 64 * 1_024;

export interface FoundLine {
  /** From 1. */
  readonly line: number;
  /** UTF-16 code unit in the text, from 0. */
  readonly column: number;
  readonly text: string;
}

/**
 * Searches a file of any size with flat memory.
 * @throws ToolError `not_text` for a binary file.
 */
export async function searchFile(
  file: FileHandle,
  matcher: LineMatcher,
  limit: number,
  signal: AbortSignal,
): Promise<readonly FoundLine[]> {
  const decoder = new TextDecoder();
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const found: FoundLine[] = [];
  let line = 1;
  let rest = '';

  function search(text: string): void {
    for (const match of matcher.match(text, limit - found.length)) {
      const at = line + match.line;
      // Another part of a long line that was found already.
      if (found.at(-1)?.line !== at) found.push({ ...match, line: at });
    }
  }

  for (let position = 0; found.length < limit;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    const bytes = chunk.subarray(0, bytesRead);
    if (position === 0 && bytes.subarray(0, PROBED_BYTES).includes(0)) {
      throw new ToolError('not_text', 'The file is binary.');
    }
    if (bytesRead === 0) {
      rest += decoder.decode();
      if (rest !== '') search(rest);
      break;
    }
    position += bytesRead;
    rest += decoder.decode(bytes, { stream: true });
    const complete = rest.length > LONGEST_LINE ? rest.length : rest.lastIndexOf('\n');
    if (complete === -1) continue;
    const whole = rest.slice(0, complete);
    search(whole);
    line += countNewlines(whole) + (rest[complete] === '\n' ? 1 : 0);
    rest = rest.slice(complete + (rest[complete] === '\n' ? 1 : 0));
  }
  return found;
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
