import type { FileHandle } from 'node:fs/promises';
import { readLines } from './read-lines.ts';
import { wholeCharacters } from './text.ts';

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

/** Reads one page of lines from a file of any size. A line longer than the page is shown in parts, by column. */
export async function pageLines(file: FileHandle, request: LinePageRequest): Promise<LinePage> {
  const page = createPage(request);
  let lineCount = 0;
  // Of the last line, which has no end yet.
  let openLength = 0;
  for await (const { line, texts, position } of readLines(file, request.signal)) {
    lineCount = line + texts.length - 1;
    openLength = (texts.length === 1 ? openLength : 0) + (texts.at(-1)?.length ?? 0);
    for (let index = Math.max(0, request.offset - line); index < texts.length && !page.isFull(); index += 1) {
      page.add(texts[index] ?? '');
      if (index < texts.length - 1) page.endLine(line + index);
    }
    if (page.isFull() && position >= request.countedBytes) return { ...page.result(), lineCount, counted: false };
  }
  if (openLength === 0) return { ...page.result(), lineCount: lineCount - 1, counted: true };
  if (lineCount >= request.offset && !page.isFull()) page.endLine(lineCount);
  return { ...page.result(), lineCount, counted: true };
}

function createPage({ offset, lines: lineLimit, characters, column }: LinePageRequest) {
  const lines: string[] = [];
  let used = 0;
  let full = false;
  let nextColumn: number | null = null;
  let current = '';
  let toSkip = column - 1;

  return {
    isFull: () => full,
    /** Of a line of any length no more than a page is held. */
    add(text: string) {
      current += text.slice(toSkip, toSkip + characters + 2 - current.length);
      toSkip = Math.max(0, toSkip - text.length);
    },
    endLine(line: number) {
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
      toSkip = 0;
    },
    result: () => ({ text: lines.join('\n'), lastLine: offset + lines.length - 1, nextColumn }),
  };
}
