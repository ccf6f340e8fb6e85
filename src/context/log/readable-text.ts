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
