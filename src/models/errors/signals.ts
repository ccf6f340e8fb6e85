import { isRecord, parseJson } from '../protocols/json.ts';
import { normalizeText, readPart, withoutMarkup } from './normalize-text.ts';

export interface RawError {
  readonly provider: string;
  /** Absent for an error that came as an event of a stream. */
  readonly status: number | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The SDK's own message. */
  readonly text: string | undefined;
  readonly streamed: boolean;
}

export interface ErrorSignals {
  /** HTTP status first, then those found in the body. */
  readonly statuses: readonly number[];
  /** Codes, types and class names, as words: `ContextLengthExceeded` and `context_length_exceeded` are `context length exceeded`. */
  readonly codes: ReadonlySet<string>;
  /** All readable texts, normalized, one a line; a number that is a property with its name (`n_prompt_tokens` of llama.cpp). */
  readonly text: string;
  /** Headers of the answer, and those that a router quotes in its body (OpenRouter's `metadata.headers`). */
  readonly headers: Readonly<Record<string, string>>;
}

const DEEPEST = 8;
/** Of all texts of a body that are read: a longer body is a page or a stack. Characters. */
const MOST_READ = 8_000;

const CODE_KEYS = /^(?:.*_)?(?:code|type|name|status|reason|exception|class|kind|__type)$|(?:Code|Type|Status|Reason)$/;
const STATUS_KEYS = /^(?:http_?)?(?:status|code|status_?code)$/i;
const MESSAGE_KEYS = /^(?:error|message|detail|error_message|msg|description)$/;
/** A server may quote the request, and the conversation in it may talk of anything. */
const ECHO_KEYS = /^(?:input|prompt|request|request_?body(?:_?values)?|stack|traceback)$/i;

export function gatherSignals(error: RawError): ErrorSignals {
  const found = new Gathering();
  if (error.status !== undefined) found.statuses.push(error.status);
  found.walk(error.body, '', 0);
  if (error.text !== undefined) found.walk(error.text, '', 0);
  return {
    statuses: [...new Set(found.statuses)],
    codes: found.codes,
    text: [...found.texts].join('\n'),
    headers: { ...found.headers, ...error.headers },
  };
}

class Gathering {
  readonly statuses: number[] = [];
  readonly codes = new Set<string>();
  readonly texts = new Set<string>();
  readonly headers: Record<string, string> = {};
  /** The innermost message. */
  told: { readonly text: string; readonly depth: number } | undefined;
  #left = MOST_READ;

  walk(value: unknown, key: string, depth: number): void {
    if (depth > DEEPEST) return;
    if (typeof value === 'string') this.#takeText(value, key, depth);
    else if (typeof value === 'number') this.#takeText(String(value), key, depth);
    else if (Array.isArray(value)) for (const item of value.slice(0, 50)) this.walk(item, key, depth + 1);
    else if (isRecord(value)) this.#takeObject(value, key, depth);
  }

  #takeObject(value: Record<string, unknown>, parent: string, depth: number): void {
    if ('role' in value) return;
    for (const [key, item] of Object.entries(value)) {
      // A retrying wrapper keeps every attempt; only the last one says what is wrong now.
      if (key === 'errors' && 'lastError' in value) continue;
      if (parent === 'headers' && typeof item === 'string') this.headers[key.toLowerCase()] = item;
      if (ECHO_KEYS.test(key) && parent !== 'errors') continue;
      this.walk(item, key, depth + 1);
    }
  }

  #takeText(value: string, key: string, depth: number): void {
    const { words, inner } = unwrapJson(value);
    if (inner !== undefined) this.walk(inner, key, depth + 1);
    const text = words.trim();
    if (text === '') return;
    if (MESSAGE_KEYS.test(key) && /\D/.test(text) && depth > (this.told?.depth ?? 0)) this.told = { text, depth };
    if (STATUS_KEYS.test(key) && /^[45]\d\d$/.test(text)) this.statuses.push(Number(text));
    else if ((CODE_KEYS.test(key) || /^[a-z]+(?:_[a-z]+)+$/i.test(text)) && /^\S{1,100}$/.test(text))
      this.codes.add(normalizeText(text.replaceAll(/[^\p{L}\p{N}]+/gu, ' ')));
    else this.#read(/^[\d.]+$/.test(text) ? `${key} ${text}` : text);
  }

  #read(text: string): void {
    if (this.#left <= 0) return;
    const read = readPart(text);
    this.#left -= read.length;
    this.texts.add(normalizeText(read));
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

/** The vendor's own words, for the user: the innermost message, else the text as it came. 2,000 characters at most. */
export function vendorMessageOf(body: unknown, text: string | undefined): string {
  const found = new Gathering();
  found.walk(body, '', 0);
  const message = found.told?.text ?? (typeof body === 'string' && body.trim() !== '' ? body : text) ?? '';
  const words = /^\s*<(?:!doctype|html|head|body|\?xml)\b/i.test(message) ? withoutMarkup(message) : message;
  return words.trim().slice(0, 2_000);
}
