import { parseNestedJson } from './nested-json.ts';

/** How JSON begins that a tool is called with or returns: an object with a name, a list of objects, strings or rows. */
const BEGINS_JSON = /^\s*(?:\{\s*"|(?:\[\s*)+[{"]|(?:\[\s*){2,}[\d-])/u;
/** An escape of JSON, one that was cut at the end of a line, or, by its third group, what is none. */
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt])|(?:u[0-9A-Fa-f]{0,3})?$|())/gmu;
const SHORT_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: ' ', f: ' ' };

/**
 * The text as it reads, when it is JSON: without escapes. A word behind `\n` would begin with an n, and one that is written with `\u00fc`
 * would be two. Any other text as it is: in `C:\new` and `\d+\n` nothing is escaped.
 */
export function readableText(text: string): string {
  return readableTexts([text]).text;
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
  for (const text of texts) {
    let done = 0;
    for (const { at, length, character } of escapesIn(text)) {
      all += text.slice(done, at) + character;
      done = at + length;
      places.push([all.length, (places.at(-1)?.[1] ?? 0) + length - 1]);
    }
    all += text.slice(done);
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

interface Escape {
  readonly at: number;
  readonly length: number;
  readonly character: string;
}

/** None in a text that has something else behind a backslash: it is no JSON. */
function escapesIn(text: string): readonly Escape[] {
  const escapes: Escape[] = [];
  if (!text.includes('\\') || !BEGINS_JSON.test(text)) return escapes;
  for (const { 0: escape, 1: digits, 2: short, 3: other, index: at } of text.matchAll(ESCAPE)) {
    if (other !== undefined) return [];
    const { length } = escape;
    if (short !== undefined) escapes.push({ at, length, character: SHORT_ESCAPES[short] ?? short });
    if (digits !== undefined) escapes.push({ at, length, character: readableCharacter(digits) });
  }
  return escapes;
}

/** Signs for a terminal are none to read. */
function readableCharacter(digits: string): string {
  const character = String.fromCharCode(Number.parseInt(digits, 16));
  return /[^\P{Cc}\n\r\t]/u.test(character) ? ' ' : character;
}

/** A line of encoded data, as mail and PEM files have them, or a part of a longer one: without a bound the pattern fails on millions. */
const LINE = /[\w+/=-]{60,10000}/g;
/** Characters of encoded data that are left out. */
const LEAST = 2_000;
/** Data has letters of both cases and digits among its first characters; a line of dashes has not. */
const ALPHABETS = [/[a-z]/, /[A-Z]/, /[0-9]/];
const SAMPLE = 500;
const SHOWN = 60;

/**
 * The text with a mark in the place of base64 and the like, in one run or in lines: a model cannot read it, and pays more for each
 * character than for prose.
 */
export function withoutEncodedData(text: string): string {
  const stretches: { readonly start: number; end: number }[] = [];
  for (const { 0: line, index: start } of text.matchAll(LINE)) {
    const before = stretches.at(-1);
    const end = start + line.length;
    if (before !== undefined && /^(?:\r?\n)?$/.test(text.slice(before.end, start))) before.end = end;
    else stretches.push({ start, end });
  }
  let kept = '';
  let done = 0;
  for (const { start, end } of stretches) {
    if (end - start < LEAST || !isData(text.slice(start, start + SAMPLE))) continue;
    kept += text.slice(done, start) + markOf(text.slice(start, end));
    done = end;
  }
  return kept + text.slice(done);
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
