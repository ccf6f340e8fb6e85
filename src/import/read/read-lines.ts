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

/** The lines of a file that are not empty, holding one at a time. They end at LF, CR LF or CR. */
export async function* readLines(file: string, longest = LONGEST_LINE_BYTES): AsyncGenerator<ReadLine> {
  const chunks: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: 256 * 1024 });
  const line = new OpenLine(longest);
  for await (const chunk of chunks) {
    let start = 0;
    // Each search goes on from its own last find, so a file that has none of one kind is searched once for it.
    let lineFeed = chunk.indexOf(LINE_FEED);
    let carriageReturn = chunk.indexOf(CARRIAGE_RETURN);
    while (lineFeed !== -1 || carriageReturn !== -1) {
      const isLineFeed = carriageReturn === -1 || (lineFeed !== -1 && lineFeed < carriageReturn);
      const end = isLineFeed ? lineFeed : carriageReturn;
      line.take(chunk.subarray(start, end));
      const ended = line.end(isLineFeed);
      if (ended !== null) yield ended;
      start = end + 1;
      if (isLineFeed) lineFeed = chunk.indexOf(LINE_FEED, start);
      else carriageReturn = chunk.indexOf(CARRIAGE_RETURN, start);
    }
    line.take(chunk.subarray(start));
  }
  const last = line.read(false);
  if (last !== null) yield last;
}

class OpenLine {
  private pieces: Buffer[] = [];
  private length = 0;
  private number = 1;
  /** The line before ended with a carriage return, whose line feed may follow. */
  private isHalfEnded = false;
  private readonly longest: number;

  constructor(longest: number) {
    this.longest = longest;
  }

  take(piece: Buffer): void {
    this.length += piece.length;
    if (this.length > this.longest) this.pieces = [];
    else if (piece.length > 0) this.pieces.push(piece);
  }

  end(isLineFeed: boolean): ReadLine | null {
    const isSecondHalf = isLineFeed && this.isHalfEnded && this.length === 0;
    const ended = this.read(true);
    if (!isSecondHalf) this.number += 1;
    this.isHalfEnded = !isLineFeed;
    this.pieces = [];
    this.length = 0;
    return ended;
  }

  read(ended: boolean): ReadLine | null {
    const { length, number } = this;
    if (length > this.longest) return { kind: 'too_long', number };
    return length === 0 ? null : { kind: 'line', number, bytes: Buffer.concat(this.pieces), ended };
  }
}
