import { parseNestedJson } from './nested-json.ts';

/** How JSON begins that a tool is called with or returns: an object with a name, a list of objects, lists or strings. */
const BEGINS_JSON = /^\s*(?:\{\s*"|\[\s*[[{"])/u;
/** Between the strings of JSON there is nothing but marks, numbers, `true`, `false` and `null`. */
const NOT_BETWEEN_STRINGS = /[^\s{}[\]:,\d.+\-eEtrufalsn]/u;
/** Ends a run of plain characters in a string, or may not stand there. */
const SPECIAL = /["\\]|(?![\x7f-\x9f])\p{Cc}/gu;
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt]))/uy;
/** Where the text was cut. */
const ESCAPE_BEGUN = /^\\(?:u[0-9A-Fa-f]{0,3})?$/u;
/** Signs for a terminal are none to read. */
const SHORT_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: ' ', f: ' ' };

/**
 * The text as it reads, when it is JSON: its strings without escapes. A word behind `\n` would begin with an n, and one that is written
 * with `\u00fc` would be two. Any other text as it is: in `C:\new` and `\d+\n` nothing is escaped.
 */
export function readableText(text: string): string {
  return unescaped(text).said;
}

/**
 * Texts as they read, one after another, and how many characters of the originals stand before a character of that.
 * Nothing is filled up to keep the places: blanks for the four digits of an umlaut would tear its word, and blanks behind the word push
 * a text that is all escapes far away from its place.
 */
export function readableTexts(texts: readonly string[]): {
  readonly text: string;
  readonly originalOffset: (offset: number) => number;
} {
  /** After so many characters so many of the originals were left out. */
  const places: (readonly [after: number, leftOut: number])[] = [];
  let all = '';
  for (const { said, escapes } of texts.map(unescaped)) {
    for (const [after, leftOut] of escapes) places.push([all.length + after, (places.at(-1)?.[1] ?? 0) + leftOut]);
    all += said;
  }
  const originalOffset = (offset: number): number => {
    let [from, to] = [0, places.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((places[middle]?.[0] ?? 0) <= offset) from = middle + 1;
      else to = middle;
    }
    return offset + (places[from - 1]?.[1] ?? 0);
  };
  return { text: all, originalOffset };
}

interface Unescaped {
  readonly said: string;
  /** After how many characters of `said` an escape ended, and by how much it was longer than what it says. */
  readonly escapes: readonly (readonly [after: number, longer: number])[];
}

/** What is no escape of JSON tells that there are none: then all of it stays as it is. */
function unescaped(text: string): Unescaped {
  const asItIs = { said: text, escapes: [] };
  if (!text.includes('\\') || !BEGINS_JSON.test(text)) return asItIs;
  const escapes: (readonly [number, number])[] = [];
  let said = '';
  let done = 0;
  let depth = 0;
  for (let at = 0; ;) {
    const quote = text.indexOf('"', at);
    const between = text.slice(at, quote);
    depth += (between.match(/[{[]/gu)?.length ?? 0) - (between.match(/[}\]]/gu)?.length ?? 0);
    // Behind a whole value any text may follow, also in quotation marks.
    if (quote === -1 || depth <= 0 || NOT_BETWEEN_STRINGS.test(between)) break;
    at = specialFrom(text, quote + 1);
    for (; text[at] === '\\'; at = specialFrom(text, at)) {
      const escape = escapeAt(text, at);
      if (escape === null && ESCAPE_BEGUN.test(text.slice(at, at + 6))) break;
      if (escape === null) return asItIs;
      said += text.slice(done, at) + escape.character;
      escapes.push([said.length, escape.length - 1]);
      at += escape.length;
      done = at;
    }
    // A line end as it is stands in no string of JSON: the text was cut there.
    if (text[at] !== '"') break;
    at += 1;
  }
  return { said: said + text.slice(done), escapes };
}

/** Place of the next character that ends a string, begins an escape, or stands in no string; the length where there is none. */
function specialFrom(text: string, from: number): number {
  SPECIAL.lastIndex = from;
  return SPECIAL.exec(text)?.index ?? text.length;
}

function escapeAt(text: string, at: number): { readonly character: string; readonly length: number } | null {
  ESCAPE.lastIndex = at;
  const found = ESCAPE.exec(text);
  if (found === null) return null;
  const [{ length }, digits, short = ''] = found;
  if (digits === undefined) return { character: SHORT_ESCAPES[short] ?? short, length };
  const character = String.fromCharCode(Number.parseInt(digits, 16));
  return { character: /[^\P{Cc}\n\r\t]/u.test(character) ? ' ' : character, length };
}

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

/** What a text names so exactly that a wrong character makes it useless; looked for in each of its names. */
const IDENTIFIERS: readonly RegExp[] = [
  /\bhttps?:\/\/.+/gi,
  /\b[\w.+-]+@[\w-]+\.[\w.-]*\w/g,
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/g,
  /\b[A-Z][A-Z0-9]{1,9}-\d+\b/g,
  /#\d{2,}\b/g,
  /\b\d{6,}\b/g,
];

const PATH_KEY = /^(?:.*_)?(?:path|paths|file|files|filename|uri|url|target|source|destination)$/i;

/** Neither a part of an identifier, nor between its parts. */
const BETWEEN_NAMES = /[\s<>"')\]]+/u;
/** What addresses hold and other identifiers do not. */
const BETWEEN_SHORT_NAMES = /[^\w.+@#-]+/u;

/** A longer one is data. Characters. */
const LONGEST_NAME = 2_000;
/** Of an address of mail, a UUID, a commit (RFC 5321 allows 254). Characters. */
const LONGEST_SHORT_NAME = 300;

/**
 * Identifiers in order of their first appearance, each once. Patterns see one name at a time: over a long text without blanks their
 * time would grow with its square.
 */
export function identifiersIn(text: string): string[] {
  return [...new Set(namesIn(text).flatMap(identifiersInName))];
}

function namesIn(text: string): string[] {
  return text.split(BETWEEN_NAMES).flatMap((name) => {
    const isAddress = name.length <= LONGEST_NAME && name.includes('://');
    return isAddress ? [name] : name.split(BETWEEN_SHORT_NAMES).filter((each) => each.length <= LONGEST_SHORT_NAME);
  });
}

function identifiersInName(name: string): string[] {
  const found = IDENTIFIERS.flatMap((pattern) =>
    [...name.matchAll(pattern)].map((match) => ({ at: match.index, value: match[0].replace(/[.,;:]+$/, '') })),
  );
  return found.sort((left, right) => left.at - right.at).map(({ value }) => value);
}

export function pathsInArguments(argumentsText: string): string[] {
  return fileArguments(argumentsText).filter((value) => /[./\\]/.test(value));
}

/** Values of arguments that are called after paths or files, whatever they look like. */
export function fileArguments(argumentsText: string): string[] {
  const value = parseNestedJson(argumentsText);
  // Arguments that are not JSON name no file that could be trusted.
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]: [string, unknown]) =>
    PATH_KEY.test(key) ? stringsOf(item).filter(isName) : [],
  );
}

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function isName(text: string): boolean {
  return text.length > 1 && text.length <= 300 && !/[\n\r]/.test(text);
}
