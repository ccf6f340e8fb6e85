/**
 * Base64 and the like: a model cannot read it, and pays more for each character than for prose. One run, or lines of 60 characters and
 * more, as mail and PEM files have them.
 */
const ENCODED = /[A-Za-z0-9+/=_-]{2000,}|(?:[A-Za-z0-9+/=_-]{60,}\r?\n){30,}/g;
/** Data has letters of both cases and digits among its first characters; a line of dashes has not. */
const ALPHABETS = [/[a-z]/, /[A-Z]/, /[0-9]/];
const SAMPLE = 500;
/** Characters that tell what it is. */
const SHOWN = 60;

/** The text with a mark in the place of encoded data. */
export function withoutEncodedData(text: string): string {
  return text.replaceAll(ENCODED, (data) => {
    if (!ALPHABETS.every((letters) => letters.test(data.slice(0, SAMPLE)))) return data;
    const omitted = new Intl.NumberFormat('en-US').format(data.length - SHOWN);
    return `${data.slice(0, SHOWN)}[… ${omitted} characters of encoded data left out …]`;
  });
}

/** Characters of encoded data from which on a content is taken to be mostly that. */
const LARGE = 20_000;

/** Whether a content of so many characters, of which so many stand in dense runs, is mostly encoded data. */
export function isEncodedData(dense: number, characters: number): boolean {
  return dense >= LARGE && dense >= characters / 2;
}
