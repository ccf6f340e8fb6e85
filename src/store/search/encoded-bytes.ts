/** Bytes in one piece: longer than any digest or identifier that is asked for. A path of them may be as long. */
const LONG_RUN = /[A-Za-z0-9+/_-]{200,}={0,2}/g;
/** Lines as base64 is broken into in mail and PEM files, and as digests and paths may come too. The last one is shorter. */
const LINES = /(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{60,80}\r?\n){3,}(?:[A-Za-z0-9+/]+={0,2}(?![^\r\n]))?/g;
const LINE = /[A-Za-z0-9+/]+={0,2}/g;
const SHORTEST_LINE = 60;
const FEWEST_LINES = 3;

/** Where neither a word ends nor a capital begins one: `aB`, `a1`, `1A`. Bytes have it at two of five places, words hardly ever. */
const JUMP = /(?:[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[A-Za-z]))/g;
/** Two signs of a word, or of bytes; what separates words counts for neither. */
const PAIR = /[A-Za-z\d](?=[A-Za-z\d])/g;
/** Of pairs: between bytes and names that are written together (`BillingService`: one of six). */
const JUMPS_OF_BYTES = 0.27;
/** Enough among lines of bytes, of which one in five hundred has fewer by chance. */
const JUMPS_BESIDE_BYTES = 0.12;

/** Between the marks of a path or identifier. Bytes have such a mark at one of 32 places. */
const PIECE = /[A-Za-z\d]+/g;
/** As digests go: of SHA-512 in hexadecimal digits. */
const LONGEST_ID = 128;
/** A name of a directory. Of 32 pieces of bytes, hardly ever is one all in small letters. */
const NAME = /(?<![A-Za-z\d+])[a-z]{4,}(?![A-Za-z\d+])/g;
const NAMES_OF_PATH = 3;
/** Of letters and digits, in pieces of bytes: bytes have four fifths and more, a path with digests in it hardly any. */
const BYTES_OF_PATH = 0.5;

/**
 * The text with blanks for files that stand in it as base64: nobody asks for their letters, and every piece would be a word of
 * its own (measured: 4 MB took 87 s to index and filled the index with a million words). Digests, one a line, and paths stay, also
 * those of digests: they are asked for.
 */
export function withoutEncodedBytes(text: string): string {
  return text
    .replaceAll(LONG_RUN, (run) => (jumpsOf(run) > JUMPS_OF_BYTES && !isPath(run) ? blanks(run) : run))
    .replaceAll(LINES, withoutLines);
}

function withoutLines(block: string): string {
  const lines = block.match(LINE) ?? [];
  const encoded = lines.filter((line) => line.length >= SHORTEST_LINE && isEncoded(line, JUMPS_OF_BYTES)).length;
  if (encoded < FEWEST_LINES) return block;
  return block.replaceAll(LINE, (line) => (isEncoded(line, JUMPS_BESIDE_BYTES) ? blanks(line) : line));
}

/** A digest has letters of one case; so has a word that stands alone below the bytes, its first letter apart. */
function isEncoded(line: string, jumps: number): boolean {
  return line.endsWith('=') || (/[a-z]/.test(line) && /[A-Z]/.test(line) && jumpsOf(line) > jumps);
}

function isPath(run: string): boolean {
  if (countOf(NAME, run) >= NAMES_OF_PATH) return true;
  const pieces = run.match(PIECE) ?? [];
  const bytes = pieces.filter((piece) => piece.length > LONGEST_ID || isEncoded(piece, JUMPS_OF_BYTES));
  return bytes.join('').length <= BYTES_OF_PATH * pieces.join('').length;
}

/** Share of the pairs. */
function jumpsOf(run: string): number {
  return countOf(JUMP, run) / Math.max(1, countOf(PAIR, run));
}

function countOf(pattern: RegExp, text: string): number {
  return text.match(pattern)?.length ?? 0;
}

function blanks(text: string): string {
  return ' '.repeat(text.length);
}
