import { createReadStream } from 'node:fs';

/** A longer line cannot be one string of JSON that anybody could work with. Bytes. */
export const LONGEST_LINE_BYTES = 128 * 1024 * 1024;

export type ReadLine =
  | {
      readonly kind: 'line';
      /** From 1. */
      readonly number: number;
      /** Without its line end; never empty. */
      readonly bytes: Buffer;
      /** False for what stands behind the last line end: a line that may still be written. */
      readonly ended: boolean;
    }
  /** Passed over, its bytes never held together. */
  | { readonly kind: 'too_long'; readonly number: number };

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** The lines of a file that are not empty, holding one at a time. They end at LF or CR LF. */
export async function* readLines(file: string, longest = LONGEST_LINE_BYTES): AsyncGenerator<ReadLine> {
  const chunks: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: 256 * 1024 });
  let [pieces, length, number]: [Buffer[], number, number] = [[], 0, 1];
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > longest) pieces = [];
    else pieces.push(piece);
  };
  const read = (ended: boolean): ReadLine[] => {
    const whole = Buffer.concat(pieces);
    const bytes = whole.at(-1) === CARRIAGE_RETURN ? whole.subarray(0, -1) : whole;
    const line: ReadLine[] = bytes.length === 0 ? [] : [{ kind: 'line', number, bytes, ended }];
    const lines: ReadLine[] = length > longest ? [{ kind: 'too_long', number }] : line;
    [pieces, length, number] = [[], 0, number + 1];
    return lines;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      take(chunk.subarray(start, end));
      yield* read(true);
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  yield* read(false);
}
