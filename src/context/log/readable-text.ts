import { parseNestedJson } from './nested-json.ts';

/** How JSON begins that a tool is called with or returns: an object with a name, a list of objects, lists or strings. */
const BEGINS_JSON = /^\s*(?:\{\s*"|\[\s*[[{"])/u;
const UNDECIDED = /^\s*(?:[[{]\s*)?$/u;
/** Between the strings of JSON there is nothing but marks, numbers, `true`, `false` and `null`. */
const NOT_BETWEEN_STRINGS = /[^\s{}[\]:,\d.+\-eEtrufalsn]/u;
/** Ends a run of plain characters in a string, or may not stand there. */
const SPECIAL = /["\\]|(?![\x7f-\x9f])\p{Cc}/gu;
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt]))/uy;
const LONGEST_ESCAPE = 6;
/** At the end of a chunk: the next one has the rest. */
const ESCAPE_BEGUN = /^\\(?:u[0-9A-Fa-f]{0,3})?$/u;
/** Signs for a terminal are none to read. */
const SHORT_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: ' ', f: ' ' };

/**
 * The text as it reads, when it is JSON: its strings without escapes. A word behind `\n` would begin with an n, and one that is written
 * with `\u00fc` would be two. Any other text as it is: in `C:\new` and `\d+\n` nothing is escaped.
 */
export function readableText(text: string): string {
  if (!text.includes('\\')) return text;
  const reader = new ReadableTextReader();
  return reader.read(text) + reader.end();
}

/**
 * Reads texts, one after another, that come in chunks, and knows which character of the originals a character of what it gave was.
 * Nothing is filled up to keep the places: blanks for the four digits of an umlaut would tear its word, and blanks behind the word push
 * a text that is all escapes far away from its place.
 */
export class ReadableTextReader {
  /** `null` before the first chunk of a text. */
  #isJson: boolean | null = null;
  #isInString = false;
  #depth = 0;
  /** Of a chunk that ended within an escape, or before it was known what the text is. */
  #held = '';
  /** Characters given of all texts. */
  #given = 0;
  /** After so many given characters … */
  readonly #places: number[] = [];
  /** … so many of the originals were left out. */
  readonly #leftOut: number[] = [];

  /** What a chunk of the text says, but for what goes on in the next one. */
  read(chunk: string): string {
    const text = this.#held + chunk;
    this.#held = '';
    if (this.#isJson === null && UNDECIDED.test(text)) {
      this.#held = text;
      return '';
    }
    this.#isJson ??= BEGINS_JSON.test(text);
    const said = this.#isJson ? this.#unescaped(text) : text;
    this.#given += said.length;
    return said;
  }

  /** What is left of the text. The next chunk begins another one. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    this.#isJson = null;
    this.#isInString = false;
    this.#depth = 0;
    this.#given += rest.length;
    return rest;
  }

  /** How many characters of the originals stand before a character that was given. */
  originalOffset(offset: number): number {
    let [from, to] = [0, this.#places.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#places[middle] ?? 0) <= offset) from = middle + 1;
      else to = middle;
    }
    return offset + (this.#leftOut[from - 1] ?? 0);
  }

  /** What is no escape of JSON tells that there are none: then all of it stays as it is, and what follows too. */
  #unescaped(text: string): string {
    const known = this.#places.length;
    let said = '';
    let done = 0;
    let at = 0;
    while (at < text.length && this.#isJson === true) {
      at = this.#isInString ? this.#specialIn(text, at) : this.#afterOpeningQuote(text, at);
      if (!this.#isInString || text[at] !== '\\') continue;
      const escape = escapeAt(text, at);
      if (escape === null && ESCAPE_BEGUN.test(text.slice(at, at + LONGEST_ESCAPE))) {
        this.#held = text.slice(at);
        return said + text.slice(done, at);
      }
      if (escape === null) {
        this.#isJson = false;
        this.#places.length = known;
        this.#leftOut.length = known;
        return text;
      }
      said += text.slice(done, at) + escape.character;
      at += escape.length;
      done = at;
      this.#places.push(this.#given + said.length);
      this.#leftOut.push((this.#leftOut.at(-1) ?? 0) + escape.length - 1);
    }
    return said + text.slice(done);
  }

  /** The place of the next escape, or of what follows the string. */
  #specialIn(text: string, from: number): number {
    SPECIAL.lastIndex = from;
    const special = SPECIAL.exec(text);
    if (special === null) return text.length;
    if (special[0] === '\\') return special.index;
    this.#isInString = false;
    // A line end as it is stands in no string of JSON: the text was cut there.
    this.#isJson = special[0] === '"';
    return special.index + 1;
  }

  /** Behind a whole value any text may follow, also in quotation marks. */
  #afterOpeningQuote(text: string, from: number): number {
    const quote = text.indexOf('"', from);
    const between = quote === -1 ? text.slice(from) : text.slice(from, quote);
    this.#depth += (between.match(/[{[]/gu)?.length ?? 0) - (between.match(/[}\]]/gu)?.length ?? 0);
    this.#isJson = !NOT_BETWEEN_STRINGS.test(between) && (quote === -1 || this.#depth > 0);
    this.#isInString = quote !== -1;
    return from + between.length + 1;
  }
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
