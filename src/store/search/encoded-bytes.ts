/** Bytes in one piece, or a line of them: mail and PEM files have lines of 64 and 76. */
const RUN = /[A-Za-z0-9+/_-]{60,}={0,2}/g;
/** Between the marks of a path or identifier. Bytes have such a mark at one of 32 places. */
const PIECE = /[A-Za-z\d]+/g;
/** As digests go: of SHA-512 in hexadecimal digits. */
const LONGEST_ID = 128;
/** Where neither a word ends nor a capital begins one: `aB`, `a1`, `1A`. Bytes have it at two of five places, words hardly ever. */
const JUMP = /(?:[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[A-Za-z]))/g;
/** Between bytes and names that are written together (`BillingService`: one of six). */
const JUMPS_OF_BYTES = 0.27;
/** A name of a directory. Of 32 pieces of bytes, hardly ever is one all in small letters. */
const NAME = /(?<![A-Za-z\d+])[a-z]{4,}(?![A-Za-z\d+])/g;
const NAMES_OF_PATH = 3;
/** Of letters and digits: bytes have four fifths and more, a path with digests in it hardly any. */
const BYTES_OF_PATH = 0.5;

/**
 * The text with blanks for files that stand in it as base64: nobody asks for their letters, and every piece would be a word of
 * its own (measured: 4 MB took 87 s to index and filled the index with a million words). Hexadecimal digests and paths stay, also
 * paths of digests: they are asked for.
 */
export function withoutEncodedBytes(text: string): string {
  return text.replaceAll(RUN, (run) => (isEncoded(run) ? ' '.repeat(run.length) : run));
}

function isEncoded(run: string): boolean {
  if (countOf(NAME, run) >= NAMES_OF_PATH) return false;
  const pieces = run.match(PIECE) ?? [];
  return pieces.filter(isOfBytes).join('').length > BYTES_OF_PATH * pieces.join('').length;
}

/** A digest has letters of one case. */
function isOfBytes(piece: string): boolean {
  if (piece.length > LONGEST_ID) return true;
  return /[a-z]/.test(piece) && /[A-Z]/.test(piece) && countOf(JUMP, piece) > JUMPS_OF_BYTES * (piece.length - 1);
}

function countOf(pattern: RegExp, text: string): number {
  return text.match(pattern)?.length ?? 0;
}
