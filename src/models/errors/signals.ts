import { isRecord, parseJson } from '../protocols/json.ts';

export interface RawError {
  /** Absent for an error that came as an event of a stream. */
  readonly status: number | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly streamed: boolean;
}

const DEEPEST = 8;
/** Of all texts of a body that are read: a longer body is a page or a stack. Characters. */
const MOST_READ = 8_000;

const CODE_KEYS = /^(?:.*_)?(?:code|type|name|status|reason|exception|class|kind|__type)$|(?:Code|Type|Status|Reason)$/;
const STATUS_KEYS = /^(?:http_?)?(?:status|code|status_?code)$/i;
const MESSAGE_KEYS = /^(?:error|message|detail|error_message|msg|description)$/;
/** A server may quote the request, and the conversation in it may talk of anything. */
const ECHO_KEYS = /^(?:input|prompt|request|request_?body(?:_?values)?|stack|traceback)$/i;

/** What a failed call tells: all texts are one, one a line. */
export function gatherSignals(error: RawError) {
  const found = new Gathering();
  found.walk(error.status, 'status', 0);
  found.walk(error.body, '', 0);
  const { statuses, codes, texts, headers } = found;
  return { statuses: [...statuses], codes, text: [...texts].join('\n'), headers: { ...headers, ...error.headers } };
}

class Gathering {
  /** HTTP status first, then those found in the body. */
  readonly statuses = new Set<number>();
  /** Codes, types and class names, as words: `ContextLengthExceeded` and `context_length_exceeded` are `context length exceeded`. */
  readonly codes = new Set<string>();
  /** All readable texts, normalized; a number that is a property with its name (`n_prompt_tokens` of llama.cpp). */
  readonly texts = new Set<string>();
  /** Those that a router quotes in its body (OpenRouter's `metadata.headers`). */
  readonly headers: Record<string, string> = {};
  /** The innermost message. */
  told: { readonly text: string; readonly depth: number } | undefined;
  #left = MOST_READ;

  walk(value: unknown, key: string, depth: number): void {
    if (depth > DEEPEST) return;
    if (typeof value === 'string' || typeof value === 'number') this.#takeText(String(value), key, depth);
    else if (Array.isArray(value)) for (const item of value.slice(0, 50)) this.walk(item, key, depth + 1);
    else if (isRecord(value) && !('role' in value)) this.#takeObject(value, key, depth);
  }

  #takeObject(value: Record<string, unknown>, parent: string, depth: number): void {
    for (const [key, item] of Object.entries(value)) {
      // A retrying wrapper keeps every attempt; only the last one says what is wrong now.
      if (key === 'errors' && 'lastError' in value) continue;
      if (parent === 'headers' && typeof item === 'string') this.headers[key.toLowerCase()] = item;
      if (!ECHO_KEYS.test(key) || parent === 'errors') this.walk(item, key, depth + 1);
    }
  }

  #takeText(value: string, key: string, depth: number): void {
    const { words, inner } = unwrapJson(value);
    if (inner !== undefined) this.walk(inner, key, depth + 1);
    const text = words.trim();
    if (text === '') return;
    if (MESSAGE_KEYS.test(key) && /\D/.test(text) && depth > (this.told?.depth ?? 0)) this.told = { text, depth };
    if (STATUS_KEYS.test(key) && /^[1-5]\d\d$/.test(text)) this.statuses.add(Number(text));
    else if ((CODE_KEYS.test(key) || /^[a-z]+(?:_[a-z]+)+$/i.test(text)) && /^\S{1,100}$/.test(text))
      this.codes.add(normalizeText(text.replaceAll(/[^\p{L}\p{N}]+/gu, ' ')));
    else if (this.#left > 0) {
      const read = readPart(/^[\d.]+$/.test(text) ? `${key} ${text}` : text);
      this.#left -= read.length;
      this.texts.add(normalizeText(read));
    }
  }
}

const CLOSES: Readonly<Record<string, string>> = { '{': '}', '[': ']', '"': '"' };

/** The JSON value that a text is or holds (`Error code: 400 - {…}`), and the words around it. */
function unwrapJson(text: string): { readonly words: string; readonly inner: unknown } {
  const start = text.search(/[{[]|^\s*"/);
  const end = text.lastIndexOf(CLOSES[text.slice(start).trimStart()[0] ?? ''] ?? '}');
  const inner = start === -1 || end <= start ? undefined : parseJson(text.slice(start, end + 1));
  const isList = Array.isArray(inner) && inner.some((item) => typeof item !== 'number');
  return isRecord(inner) || typeof inner === 'string' || isList
    ? { words: `${text.slice(0, start)} ${text.slice(end + 1)}`, inner }
    : { words: text, inner: undefined };
}

/** Of a long text (a page, a stack) beginning and end are read: the rest explains nothing. Characters. */
const HEAD_READ = 3_000;
const TAIL_READ = 1_000;

/** 128,000 · 128.000 · 128 000 · 128'000 · 128_000, the same separator each time; not a version nor a decimal. */
const GROUPED = /(?<![\w.,'-])\d{1,3}(?:([ ,.'_])\d{3}(?:\1\d{3})*|(?:,\d\d)+,\d{3})(?!\d|[.,'_]\d)/g;
/** 128k, 1.2M, 140 Ki, 12.8万, 128 thousand; not the 32k of `gpt-4-32k`. */
const SCALED =
  /(?<![a-z0-9_./-])(\d+(?:[.,]\d+)?) ?(k|ki|m|thousand|tsd\.?|mille?|тыс\.?|tys\.?|万|million)(?:(?![\p{L}\d])|(?=tok))/gu;
const SCALES: Readonly<Record<string, number>> = { ki: 1_024, 万: 1e4, m: 1e6, million: 1e6 };

/** As much of a text as the rules read. */
function readPart(text: string): string {
  return text.length <= HEAD_READ + TAIL_READ ? text : `${text.slice(0, HEAD_READ)} … ${text.slice(-TAIL_READ)}`;
}

/** Text as the rules read it: lower case, one kind of space and quote, no markup, addresses or ids, numbers as bare digits. */
function normalizeText(text: string): string {
  return withoutMarkup(text)
    .replaceAll(/https?:\/\/[^\s"'<>)\]]+/gi, ' ')
    .replaceAll(/(?:\b(?:\w+[_ -])?(?:id|Id|ID)|[a-z]Id)['"]?[:=] ?['"]?(?=[\w-]*\d)[\w-]{8,}/g, ' ')
    .normalize('NFKC')
    .replaceAll(/[\u2018\u2019\u201B\u02BC]/g, "'")
    .replaceAll(/[\u201C\u201D\u201E«»「」『』]/g, '"')
    .replaceAll(/[`*]|\\[nrt]/g, ' ')
    .replaceAll(/(?<=[a-z\d])(?=[A-Z][a-z])/g, ' ')
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(GROUPED, (digits) => digits.replaceAll(/\D/g, ''))
    .replaceAll(SCALED, (_, digits: string, unit: string) =>
      String(Math.round(Number(digits.replace(',', '.')) * (SCALES[unit] ?? 1e3))),
    )
    .trim();
}

/** The words of a page, for a person. */
function withoutMarkup(page: string): string {
  return readPart(page)
    .replaceAll(/<(?:script|style)\b[^]*?<\/(?:script|style)>/gi, ' ')
    .replaceAll(/<[/?]?[a-z!][^<>]{0,500}>/gi, ' ')
    .replaceAll(/&(?:#\d{1,6}|[a-z\d]{2,7});/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** The vendor's own words, for the user: the innermost message, else the text as it came. 2,000 characters at most. */
export function vendorMessageOf(body: unknown): string {
  const found = new Gathering();
  found.walk(body, '', 0);
  const message = found.told?.text ?? (typeof body === 'string' ? body : '');
  const words = /^\s*<(?:!doctype|html|head|body|\?xml)\b/i.test(message) ? withoutMarkup(message) : message;
  return words.trim().slice(0, 2_000);
}
