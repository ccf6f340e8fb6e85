const CARRIAGE_RETURN = 0x0d;

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

/** Bytes of a file, `to` exclusive. */
interface Place {
  readonly from: number;
  readonly to: number;
}

/**
 * Replaces a text in a file's bytes. Bytes, not a string, so that a file with some invalid UTF-8 keeps it. Line ends
 * are compared without their kind, and the new text gets the kind that the file has around the place; only a
 * replacement that changes nothing but line ends is taken as it is written. Pure.
 */
export function replaceText({ before, oldText, newText, all, attempt }: Replacement): ReplaceResult {
  const content = Buffer.from(before.buffer, before.byteOffset, before.byteLength);
  const convertsLineEnds = withPlainLineEnds(oldText) === withPlainLineEnds(newText);
  const find = convertsLineEnds ? exactPlaces : placesOfLines;
  const places = find(content, oldText);
  if (attempt > 1 && wasReplaced(places, newText === '' ? null : find(content, newText))) {
    return { kind: 'already_replaced' };
  }
  const [first] = places;
  if (first === undefined) {
    return { kind: 'not_found', onlyWhiteSpaceDiffers: appearsApartFromWhiteSpace(content, oldText) };
  }
  if (places.length > 1 && !all) {
    return { kind: 'ambiguous', lines: linesOf(content, places) };
  }
  const pieces: Buffer[] = [];
  let kept = 0;
  for (const place of places) {
    const text = convertsLineEnds ? newText : withLineEndsAround(content, place, newText);
    pieces.push(content.subarray(kept, place.from), Buffer.from(text));
    kept = place.to;
  }
  pieces.push(content.subarray(kept));
  return {
    kind: 'replaced',
    after: Buffer.concat(pieces),
    count: places.length,
    firstLine: linesOf(content, [first])[0] ?? 1,
  };
}

/**
 * The file shows the traces of this very replacement: the new text is there, and each old text that is left is a
 * part of a new one (`a` replaced by `a, b` leaves an `a`). A deletion leaves no trace but the absence of the old text.
 */
function wasReplaced(oldPlaces: readonly Place[], newPlaces: readonly Place[] | null): boolean {
  if (newPlaces === null) return oldPlaces.length === 0;
  let behind = 0;
  return (
    newPlaces.length > 0 &&
    oldPlaces.every((old) => {
      while ((newPlaces[behind]?.to ?? Infinity) < old.to) behind += 1;
      return (newPlaces[behind]?.from ?? Infinity) <= old.from;
    })
  );
}

function exactPlaces(content: Buffer, text: string): Place[] {
  const bytes = Buffer.from(text);
  const places: Place[] = [];
  for (let from = content.indexOf(bytes); from !== -1; from = content.indexOf(bytes, from + bytes.length)) {
    places.push({ from, to: from + bytes.length });
  }
  return places;
}

/** Places of a text with line ends of one kind or the other, in order and apart from one another. */
function placesOfLines(content: Buffer, text: string): Place[] {
  const plain = withPlainLineEnds(text);
  if (!plain.includes('\n')) return exactPlaces(content, plain);
  // A line end that stands first in the text may not be the half of one in the file.
  const plainPlaces = exactPlaces(content, plain).filter(
    ({ from }) => !plain.startsWith('\n') || content[from - 1] !== CARRIAGE_RETURN,
  );
  const places = [...plainPlaces, ...exactPlaces(content, plain.replaceAll('\n', '\r\n'))];
  let end = 0;
  return places
    .sort((one, other) => one.from - other.from)
    .filter((place) => {
      if (place.from < end) return false;
      end = place.to;
      return true;
    });
}

/** The kind of the first line end in the place, else of the next behind it, else of the last before it. */
export function withLineEndsAround(content: Buffer, { from }: Pick<Place, 'from'>, text: string): string {
  const next = content.indexOf('\n', from);
  const near = next === -1 ? content.lastIndexOf('\n', from) : next;
  if (near === -1) return text;
  return withPlainLineEnds(text).replaceAll('\n', near > 0 && content[near - 1] === CARRIAGE_RETURN ? '\r\n' : '\n');
}

function withPlainLineEnds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Lines of places, which come in their order; the content is gone through once. */
function linesOf(content: Buffer, places: readonly Place[]): number[] {
  let line = 1;
  let lineEnd = content.indexOf(10);
  return places.map(({ from }) => {
    for (; lineEnd !== -1 && lineEnd < from; lineEnd = content.indexOf(10, lineEnd + 1)) line += 1;
    return line;
  });
}

function appearsApartFromWhiteSpace(content: Buffer, oldText: string): boolean {
  const wanted = oldText.replaceAll(/\s+/g, '');
  return wanted !== '' && content.toString().replaceAll(/\s+/g, '').includes(wanted);
}
