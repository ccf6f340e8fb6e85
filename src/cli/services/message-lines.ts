import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';

/** Bytes of the longest line: the SDKs end the connection at a longer one. */
const LONGEST_LINE = 32 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * Lines of JSON-RPC on standard input, each with its end. A line that is too long or is no UTF-8 is answered with a parse error and left
 * out: decoded, its bytes would become other characters.
 */
export function messageLines(): Readable {
  return Readable.from(readLines(process.stdin));
}

/** Answers a line whose id cannot be read, as JSON-RPC wants it. */
export function answerUnreadable(code: -32_700 | -32_600, message: string): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`);
}

async function* readLines(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const add = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > LONGEST_LINE) pieces = [];
    else pieces.push(piece);
  };
  const takeLine = (): Buffer[] => {
    const line = Buffer.concat([...pieces, Buffer.of(NEWLINE)]);
    const problem = bytes > LONGEST_LINE ? `is longer than ${LONGEST_LINE} bytes` : isUtf8(line) ? null : 'is no UTF-8';
    pieces = [];
    bytes = 0;
    if (problem === null) return [line];
    answerUnreadable(-32_700, `Parse error: the line ${problem}`);
    return [];
  };
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end));
      from = end + 1;
      yield* takeLine();
    }
    add(chunk.subarray(from));
  }
  if (bytes > 0) yield* takeLine();
}
