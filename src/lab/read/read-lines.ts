import { createReadStream } from 'node:fs';

/** A longer line cannot be one string of JSON that anybody could work with. Bytes. */
export const LONGEST_LINE_BYTES = 128 * 1024 * 1024;

export type ReadLine =
  | {
      readonly kind: 'line';
      /** From 1. */
      readonly number: number;
      readonly text: string;
      /** False for what stands behind the last line end: a line that may still be written. */
      readonly ended: boolean;
    }
  /** Passed over, its bytes never held together. */
  | { readonly kind: 'too_long'; readonly number: number };

const LINE_END = 10;

/** The lines of a file that are not blank, holding one line at a time. */
export async function* readLines(file: string, longest = LONGEST_LINE_BYTES): AsyncGenerator<ReadLine> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let number = 1;
  const take = (ended: boolean): ReadLine | null => {
    const line = pieces;
    const isTooLong = bytes > longest;
    pieces = [];
    bytes = 0;
    if (isTooLong) return { kind: 'too_long', number };
    const text = Buffer.concat(line)
      .toString('utf8')
      .replace(/^\uFEFF/u, '');
    return text.trim() === '' ? null : { kind: 'line', number, text, ended };
  };
  const keep = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes <= longest) pieces.push(piece);
    else pieces = [];
  };
  const chunks: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: 256 * 1024 });
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, start)) {
      keep(chunk.subarray(start, end));
      const line = take(true);
      if (line !== null) yield line;
      number += 1;
      start = end + 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }
  const last = take(false);
  if (last !== null) yield last;
}
