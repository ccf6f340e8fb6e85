/** Drops half of a surrogate pair that a cut left at either end of a text. */
export function wholeCharacters(text: string): string {
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  return text.slice(isSecondHalf(first) ? 1 : 0, isFirstHalf(last) ? -1 : text.length);
}

export interface TextPage {
  /** Of its first code unit. */
  readonly from: number;
  readonly text: string;
}

/**
 * So many code units of a text from a place on, but no half of a surrogate pair: it begins and ends before the pair that it would cut, or
 * behind it where nothing would be left. Pages that begin where the one before ended are the text.
 */
export function wholePage(text: string, offset: number, limit: number): TextPage {
  const from = isWithinPair(text, offset) ? offset - 1 : offset;
  const end = offset + limit;
  if (!isWithinPair(text, end)) return { from, text: text.slice(from, end) };
  return { from, text: text.slice(from, end - 1 > from ? end - 1 : end + 1) };
}

function isWithinPair(text: string, place: number): boolean {
  return isFirstHalf(text.charCodeAt(place - 1)) && isSecondHalf(text.charCodeAt(place));
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isSecondHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/**
 * Turns the texts that a tool writes into bytes without losing anything: a surrogate pair split between two
 * writes is joined, and a lone surrogate, which UTF-8 cannot hold, gets its three bytes as WTF-8 does
 * (https://simonsapin.github.io/wtf-8/). Shown as text, such bytes appear as replacement characters.
 */
interface TextEncoding {
  encode(text: string): Uint8Array;
  /** A high surrogate that still waited for its partner. */
  end(): Uint8Array;
}

export function createTextEncoding(): TextEncoding {
  let waiting = '';
  return {
    encode(text) {
      const whole = waiting + text;
      const last = whole.charCodeAt(whole.length - 1);
      waiting = last >= 0xd800 && last <= 0xdbff ? whole.slice(-1) : '';
      return encodeWhole(waiting === '' ? whole : whole.slice(0, -1));
    },
    end() {
      const rest = waiting;
      waiting = '';
      return encodeWhole(rest);
    },
  };
}

function encodeWhole(text: string): Uint8Array {
  // In a pattern with the flag u, \p{Surrogate} matches lone surrogates only.
  if (!/\p{Surrogate}/u.test(text)) return Buffer.from(text);
  const pieces = text.split(/(\p{Surrogate})/u);
  return Buffer.concat(
    pieces.map((piece) => (/^\p{Surrogate}$/u.test(piece) ? loneSurrogate(piece) : Buffer.from(piece))),
  );
}

function loneSurrogate(unit: string): Buffer {
  const code = unit.charCodeAt(0);
  return Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]);
}

/** A number with its unit, as English wants it: `1 line`, `2 lines`. */
export function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
