import { toEnglishWords } from './error-lexicon.ts';
import { isRecord, parseJson } from './json.ts';

/** Of a long text (a page, a stack) beginning and end are read: the rest explains nothing, and takes long to match. Characters. */
const HEAD_READ = 3_000;
const TAIL_READ = 1_000;

/** As much of a text as the rules read. */
export function readPart(text: string): string {
  return text.length <= HEAD_READ + TAIL_READ ? text : `${text.slice(0, HEAD_READ)} … ${text.slice(-TAIL_READ)}`;
}

/** Names of signs and spaces that stand beside numbers and words, each with its character. */
const ENTITIES: ReadonlyMap<string, string> = new Map(
  [
    `lt< gt> amp& quot" apos' le≤ ge≥ lsquo' rsquo' ldquo" rdquo" num# plus+ equals= sol/ lowbar_`,
    'comma, period. colon: semi; lpar( rpar) lsqb[ rsqb] ndash– mdash— hellip… szligß',
  ]
    .flatMap((line) => line.split(' '))
    .map((pair) => [pair.slice(0, -1), pair.slice(-1)] as const),
);
/** `&nbsp;`, `&thinsp;`, `&emsp13;`. */
const SPACE_ENTITY = /^(?:nb|en|em|num|punc|thin|hair)sp\d*$/i;

/** `&uuml;` is a letter and its mark. */
const MARKS: Readonly<Record<string, string>> = {
  uml: '\u0308',
  acute: '\u0301',
  grave: '\u0300',
  circ: '\u0302',
  tilde: '\u0303',
  cedil: '\u0327',
  ring: '\u030A',
  caron: '\u030C',
};
const MARKED_LETTER = /^([a-z])(uml|acute|grave|circ|tilde|cedil|ring|caron)$/i;

/**
 * Text as the word families read it: lower case, one kind of space, quote and digit, no markup, no
 * addresses (they hold words such as `rate-limits`), known words of other languages in English.
 */
export function normalizeText(text: string): string {
  const plain = textOfMarkup(text)
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, hexadecimal: string) => String.fromCharCode(Number.parseInt(hexadecimal, 16)))
    .replaceAll(/https?:\/\/[^\s"'<>)\]]+/gi, ' ')
    .normalize('NFKC')
    .replaceAll(/[\u2018\u2019\u201B\u02BC]/g, "'")
    .replaceAll(/[\u201C\u201D\u201E«»「」『』]/g, '"')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\\[nrt]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .toLowerCase()
    // The small form of the Turkish İ.
    .replaceAll('i\u0307', 'i')
    .trim();
  return toEnglishWords(plain);
}

/** The words of a page, for a person. */
export function withoutMarkup(page: string): string {
  return textOfMarkup(page).replaceAll(/\s+/g, ' ').trim();
}

function textOfMarkup(text: string): string {
  return readPart(text)
    .replaceAll(/<(?:script|style)\b[^]*?<\/(?:script|style)>/gi, ' ')
    .replaceAll(/<[/?]?[a-z!][^<>]{0,500}>/gi, ' ')
    .replaceAll(/&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|([a-z]{2,6}\d{0,2}));/gi, (whole, decimal, hexadecimal, name) => {
      if (decimal) return String.fromCodePoint(Number(decimal));
      if (hexadecimal) return String.fromCodePoint(Number.parseInt(hexadecimal, 16));
      return namedCharacter(String(name)) ?? whole;
    });
}

function namedCharacter(name: string): string | undefined {
  const [, letter, mark] = MARKED_LETTER.exec(name) ?? [];
  if (letter !== undefined && mark !== undefined) return `${letter}${MARKS[mark.toLowerCase()] ?? ''}`;
  return SPACE_ENTITY.test(name) ? ' ' : ENTITIES.get(name.toLowerCase());
}

/** JSON values that a text holds, wholly or inside other words, and the words around them. */
export interface UnwrappedText {
  readonly words: string;
  readonly values: readonly unknown[];
}

/**
 * Takes JSON out of a text: the text itself, an object among words (`Error code: 400 - {…}`), a
 * server-sent event, Python's `b'…'` (LiteLLM) and the printed form of its dictionaries.
 */
export function unwrapText(text: string): UnwrappedText {
  const trimmed = text.trim();
  const whole = structured(trimmed);
  if (whole !== undefined) return { words: '', values: [whole] };
  const bytes = /\bb'((?:[^'\\]|\\.)*)'|\bb"((?:[^"\\]|\\.)*)"/.exec(trimmed);
  if (bytes !== null) {
    const inner = unescapePython(bytes[1] ?? bytes[2] ?? '');
    return { words: trimmed.replace(bytes[0], ' '), values: [inner] };
  }
  const start = trimmed.search(/[{[]/);
  const end = Math.max(trimmed.lastIndexOf('}'), trimmed.lastIndexOf(']'));
  if (start === -1 || end <= start) return { words: trimmed, values: [] };
  const inside = structured(trimmed.slice(start, end + 1));
  if (inside === undefined) return { words: trimmed, values: [] };
  return { words: `${trimmed.slice(0, start)} ${trimmed.slice(end + 1)}`, values: [inside] };
}

/** An object, a list that holds one, or a text in JSON quotes. */
function structured(text: string): unknown {
  const value = parseJson(text) ?? parseJson(fromPython(text));
  if (isRecord(value) || typeof value === 'string') return value;
  return Array.isArray(value) && value.some((item) => typeof item !== 'number') ? value : undefined;
}

/** `{'error': {'message': "it's"}, 'param': None}` as JSON; other text comes back as nonsense that does not parse. */
function fromPython(text: string): string {
  if (!/^[{[]/.test(text) || !text.includes("'")) return '';
  return text.replaceAll(
    // A text that is not closed is read to the end once, not again from each of its quotes.
    /'((?:[^'\\]|\\.)*)(?:'|\\?$)|"(?:[^"\\]|\\.)*(?:"|\\?$)|\b(?:None|True|False)\b/gs,
    (whole, single: string | undefined) => {
      if (single !== undefined) return JSON.stringify(unescapePython(single));
      if (whole === 'None') return 'null';
      return whole === 'True' || whole === 'False' ? whole.toLowerCase() : whole;
    },
  );
}

function unescapePython(text: string): string {
  return text.replaceAll(
    /\\(['"\\nrt])/g,
    (_, character: string) => ({ n: '\n', r: '\r', t: '\t' })[character] ?? character,
  );
}
