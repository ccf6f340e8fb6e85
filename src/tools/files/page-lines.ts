import type { FileHandle } from 'node:fs/promises';
import { wholeCharacters } from './text.ts';

const CHUNK_BYTES = 64 * 1_024;
const NEWLINE = 10;

export interface LinePageRequest {
  /** First line, from 1. */
  readonly offset: number;
  /** Lines at most. */
  readonly lines: number;
  /** Characters of text at most, line numbers included. */
  readonly characters: number;
  /** First character of the first line, from 1. */
  readonly column: number;
  /** Bytes after which lines are no longer counted. */
  readonly countedBytes: number;
  readonly signal: AbortSignal;
}

export interface LinePage {
  readonly text: string;
  /** Last line shown; `offset - 1` when none was. */
  readonly lastLine: number;
  /** Lines of the file, or a lower bound. */
  readonly lineCount: number;
  readonly counted: boolean;
  /** The only line shown was cut: the column where it goes on. */
  readonly nextColumn: number | null;
}

/**
 * Reads one page of lines from a file of any size with flat memory: bytes outside the page are only searched for
 * line ends. A line longer than the page is shown in parts, by column.
 */
export async function pageLines(file: FileHandle, request: LinePageRequest): Promise<LinePage> {
  const page = createPage(request);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let line = 1;
  let position = 0;
  let openLine = false;
  for (;;) {
    request.signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    for (let from = 0; from < bytesRead;) {
      const end = chunk.subarray(0, bytesRead).indexOf(NEWLINE, from);
      const until = end === -1 ? bytesRead : end;
      if (page.wants(line)) page.add(chunk.subarray(from, until));
      openLine = end === -1;
      from = until + 1;
      if (end === -1) continue;
      if (page.wants(line)) page.endLine(line);
      line += 1;
    }
    if (page.isFull() && position >= request.countedBytes) {
      return { ...page.result(), lineCount: line, counted: false };
    }
  }
  if (openLine && page.wants(line)) page.endLine(line);
  return { ...page.result(), lineCount: openLine ? line : line - 1, counted: true };
}

function createPage(request: LinePageRequest) {
  const { offset, lines: lineLimit, characters, column } = request;
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const lines: string[] = [];
  let used = 0;
  let full = false;
  let nextColumn: number | null = null;
  let current = '';
  let currentLength = 0;

  function take(text: string): void {
    // Of a line of any length no more than a page is held.
    const skip = lines.length === 0 ? Math.max(0, column - 1 - currentLength) : 0;
    currentLength += text.length;
    current += text.slice(skip, skip + characters + 2 - current.length);
  }

  return {
    wants: (line: number) => line >= offset && !full,
    add: (bytes: Uint8Array) => take(decoder.decode(bytes, { stream: true })),
    endLine(line: number) {
      take(decoder.decode());
      const shown = `${line}\t${current.replace(/\r$/, '')}`;
      const room = characters - used;
      if (shown.length + 1 <= room) {
        lines.push(shown);
        used += shown.length + 1;
        full = lines.length >= lineLimit;
      } else {
        full = true;
        if (lines.length === 0) {
          const cut = wholeCharacters(shown.slice(0, room));
          lines.push(cut);
          nextColumn = column + cut.length - `${line}\t`.length;
        }
      }
      current = '';
      currentLength = 0;
    },
    isFull: () => full,
    result: () => ({ text: lines.join('\n'), lastLine: offset + lines.length - 1, nextColumn }),
  };
}
