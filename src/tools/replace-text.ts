export interface Replacement {
  readonly before: Uint8Array;
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
  /** From 1; a repeated attempt first asks whether an earlier one has already replaced. */
  readonly attempt: number;
}

export type ReplaceResult =
  | { readonly kind: 'replaced'; readonly after: Uint8Array; readonly count: number; readonly firstLine: number }
  /** A repeated attempt finds the new text where the old one was. */
  | { readonly kind: 'already_replaced' }
  | { readonly kind: 'not_found'; readonly onlyWhiteSpaceDiffers: boolean }
  | { readonly kind: 'ambiguous'; readonly lines: readonly number[] };

/**
 * Replaces a text in a file's bytes. Bytes, not a string, so that a file with some invalid UTF-8 keeps it. In a
 * file with Windows line ends, texts written with plain ones are found too. Pure.
 */
export function replaceText(replacement: Replacement): ReplaceResult {
  const exact = replaceExactly(replacement);
  if (exact.kind !== 'not_found' || !usesOtherLineEnds(replacement)) return exact;
  const windows = {
    oldText: withWindowsLineEnds(replacement.oldText),
    newText: withWindowsLineEnds(replacement.newText),
  };
  return replaceExactly({ ...replacement, ...windows });
}

function replaceExactly({ before, oldText, newText, all, attempt }: Replacement): ReplaceResult {
  const content = Buffer.from(before.buffer, before.byteOffset, before.byteLength);
  const oldBytes = Buffer.from(oldText);
  const newBytes = Buffer.from(newText);
  const places = placesOf(content, oldBytes);
  if (attempt > 1 && wasReplaced(content, places, oldBytes, newBytes)) return { kind: 'already_replaced' };
  const [first] = places;
  if (first === undefined)
    return { kind: 'not_found', onlyWhiteSpaceDiffers: appearsApartFromWhiteSpace(content, oldText) };
  if (places.length > 1 && !all) return { kind: 'ambiguous', lines: places.map((place) => lineAt(content, place)) };
  const pieces: Buffer[] = [];
  let from = 0;
  for (const place of places) {
    pieces.push(content.subarray(from, place), newBytes);
    from = place + oldBytes.length;
  }
  pieces.push(content.subarray(from));
  return { kind: 'replaced', after: Buffer.concat(pieces), count: places.length, firstLine: lineAt(content, first) };
}

/**
 * The file shows the traces of this very replacement: the new text is there, and each old text that is left is a
 * part of a new one (`a` replaced by `a, b` leaves an `a`). A deletion leaves no trace but the absence of the old text.
 */
function wasReplaced(content: Buffer, oldPlaces: readonly number[], oldBytes: Buffer, newBytes: Buffer): boolean {
  if (newBytes.length === 0) return oldPlaces.length === 0;
  const newPlaces = placesOf(content, newBytes);
  return (
    newPlaces.length > 0 &&
    oldPlaces.every((old) =>
      newPlaces.some((place) => place <= old && old + oldBytes.length <= place + newBytes.length),
    )
  );
}

function placesOf(content: Buffer, text: Buffer): number[] {
  const places: number[] = [];
  for (let place = content.indexOf(text); place !== -1; place = content.indexOf(text, place + text.length)) {
    places.push(place);
  }
  return places;
}

function lineAt(content: Buffer, place: number): number {
  let line = 1;
  for (let at = content.indexOf(10); at !== -1 && at < place; at = content.indexOf(10, at + 1)) line += 1;
  return line;
}

function usesOtherLineEnds({ before, oldText, newText }: Replacement): boolean {
  return `${oldText}${newText}`.includes('\n') && !oldText.includes('\r') && Buffer.from(before).includes('\r\n');
}

function withWindowsLineEnds(text: string): string {
  return text.replaceAll(/\r?\n/g, '\r\n');
}

function appearsApartFromWhiteSpace(content: Buffer, oldText: string): boolean {
  const wanted = oldText.replaceAll(/\s+/g, '');
  return wanted !== '' && content.toString().replaceAll(/\s+/g, '').includes(wanted);
}
