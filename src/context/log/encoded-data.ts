/** Characters of a line of encoded data at least, as mail and PEM files have them. */
const LINE = 60;
/** Characters of encoded data that are left out. */
const LEAST = 2_000;
/** Data has letters of both cases and digits among its first characters; a line of dashes has not. */
const ALPHABETS = [/[a-z]/, /[A-Z]/, /[0-9]/];
const SAMPLE = 500;
const SHOWN = 60;

/**
 * The text with a mark in the place of base64 and the like, in one run or in lines: a model cannot read it, and pays more for each
 * character than for prose. Read once from left to right: a pattern that goes back fails on a run of millions of characters.
 */
export function withoutEncodedData(text: string): string {
  const kept: string[] = [];
  let keptThrough = 0;
  // Of a stretch of such characters, of its last line, and where its last whole line ends.
  let [start, lineStart, end] = [0, 0, 0];
  for (let at = 0; at <= text.length; at += 1) {
    if (isEncoded(text.charCodeAt(at))) continue;
    const isLine = at - lineStart >= LINE;
    if (isLine) end = at;
    if (isLine && text.startsWith('\r\n', at)) at += 1;
    if (isLine && text[at] === '\n') {
      lineStart = at + 1;
      continue;
    }
    if (end - start >= LEAST && isData(text.slice(start, start + SAMPLE))) {
      kept.push(text.slice(keptThrough, start), markOf(text.slice(start, end)));
      keptThrough = end;
    }
    [start, lineStart, end] = [at + 1, at + 1, at + 1];
  }
  return keptThrough === 0 ? text : kept.join('') + text.slice(keptThrough);
}

function isEncoded(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x2f && code <= 0x39) ||
    code === 0x2b ||
    code === 0x3d ||
    code === 0x5f ||
    code === 0x2d
  );
}

function isData(sample: string): boolean {
  return ALPHABETS.every((letters) => letters.test(sample));
}

function markOf(data: string): string {
  const omitted = new Intl.NumberFormat('en-US').format(data.length - SHOWN);
  return `${data.slice(0, SHOWN)}[… ${omitted} characters of encoded data left out …]`;
}

/** Characters of encoded data from which on a content is taken to be mostly that. */
const LARGE = 20_000;

/** Whether a content of so many characters, of which so many stand in dense runs, is mostly encoded data. */
export function isEncodedData(dense: number, characters: number): boolean {
  return dense >= LARGE && dense >= characters / 2;
}
