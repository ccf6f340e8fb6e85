/**
 * Turns the texts that a tool writes into bytes without losing anything: a surrogate pair split between two
 * writes is joined, and a lone surrogate, which UTF-8 cannot hold, gets its three bytes as WTF-8 does
 * (https://simonsapin.github.io/wtf-8/). Shown as text, such bytes appear as replacement characters.
 */
export interface TextEncoding {
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
