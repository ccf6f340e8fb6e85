import { normalizeText, readPart, unwrapText, withoutMarkup } from './error-text.ts';
import { isRecord } from './json.ts';

/** A failed call as it was received. */
export interface RawError {
  readonly provider: string;
  /** Absent for an error that came as an event of a stream. */
  readonly status: number | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON or text. */
  readonly body: unknown;
  /** The SDK's own message, used when it says more than the body. */
  readonly text: string | undefined;
  readonly streamed: boolean;
}

/** All that a failed call says, wherever in the body it says it. */
export interface ErrorSignals {
  /** HTTP status first, then those found in the body. */
  readonly statuses: readonly number[];
  /** Codes, types and class names, letters and digits only: `contextlengthexceeded`. */
  readonly codes: ReadonlySet<string>;
  /** Readable texts, normalized, each once. */
  readonly texts: readonly string[];
  /** Numbers by the normalized name of their property: `nprompttokens` of llama.cpp. */
  readonly numbers: ReadonlyMap<string, number>;
  /** Names of the properties that were read, for a report without text. */
  readonly shape: string;
}

/** Wrappers nest: proxy, gateway, SDK, vendor. */
const DEEPEST = 8;

/** Of all texts of a body that are read: whoever sends more does not explain, and the rules would take long. Characters. */
const MOST_READ = 8_000;

const CODE_KEYS = /^(?:.*_)?(?:code|type|name|status|reason|exception|class|kind|__type)$|(?:Code|Type|Status|Reason)$/;
const STATUS_KEYS = /^(?:http_?)?(?:status|code|status_?code)$/i;
/** Properties that hold the sentence, not what it is about. */
const MESSAGE_KEYS = /^$|message$|^(?:detail|details|msg|error|errors|description|reason|title|raw|body|text)$/i;
/** What a server quotes of the request may be the conversation, which may talk of anything. */
const ECHO_KEYS = new Set([
  'input',
  'messages',
  'prompt',
  'requestbody',
  'requestbodyvalues',
  'request',
  'stack',
  'traceback',
]);

/** Validators leave out the subject, which is the name of the field: `{"messages": ["is too long"]}`. */
const WITHOUT_SUBJECT = /^(?:is|are|was|were|has|have|must|should|can(?:not|'t)|may not|exceeds?|exceeded) /i;

function complaints(value: unknown): boolean {
  const items = Array.isArray(value) ? value : [value];
  return items.length > 0 && items.every((item) => typeof item === 'string' && WITHOUT_SUBJECT.test(item));
}

/** Gathers the signals of a body of any shape. */
export function gatherSignals(error: RawError): ErrorSignals {
  const found = new Gathering();
  if (error.status !== undefined) found.statuses.push(error.status);
  found.walk(error.body, '', 0);
  if (error.text !== undefined) found.walk(error.text, '', 0);
  return {
    statuses: [...new Set(found.statuses)],
    codes: found.codes,
    texts: [...found.texts],
    numbers: found.numbers,
    shape: [...found.keys].sort().slice(0, 20).join(','),
  };
}

class Gathering {
  readonly statuses: number[] = [];
  readonly codes = new Set<string>();
  readonly texts = new Set<string>();
  readonly numbers = new Map<string, number>();
  readonly keys = new Set<string>();
  #left = MOST_READ;

  walk(value: unknown, key: string, depth: number): void {
    if (depth > DEEPEST) return;
    if (typeof value === 'string') this.#takeText(value, key, depth);
    else if (typeof value === 'number') this.#takeNumber(value, key);
    else if (Array.isArray(value)) for (const item of value.slice(0, 50)) this.walk(item, key, depth + 1);
    else if (isRecord(value)) this.#takeObject(value, depth);
  }

  #takeObject(value: Record<string, unknown>, depth: number): void {
    for (const [key, item] of Object.entries(value)) {
      // A retrying wrapper keeps every attempt; only the last one says how it stands now.
      if (key === 'errors' && 'lastError' in value) continue;
      if (ECHO_KEYS.has(key.toLowerCase().replaceAll('_', '')) && !complaints(item)) continue;
      if (/^[a-z_]{1,40}$/i.test(key)) this.keys.add(key);
      // By field, what is wrong with it: `{"errors": {"Prompt": ["…"]}}` quotes nothing.
      const byField = key === 'errors' && isRecord(item) ? Object.entries(item) : [[key, item] as const];
      for (const [field, complaint] of byField) this.walk(complaint, field, depth + 1);
    }
  }

  #takeNumber(value: number, key: string): void {
    if (STATUS_KEYS.test(key) && value >= 400 && value <= 599) this.statuses.push(value);
    else if (CODE_KEYS.test(key)) this.codes.add(String(value));
    else this.numbers.set(plainCode(key), value);
  }

  #takeText(value: string, key: string, depth: number): void {
    const { words, values } = unwrapText(value);
    for (const inner of values) this.walk(inner, key, depth + 1);
    const text = words.trim();
    if (text === '') return;
    if (key !== '' && /^\d{2,9}$/.test(text) && !CODE_KEYS.test(key)) this.numbers.set(plainCode(key), Number(text));
    if (STATUS_KEYS.test(key) && /^[45]\d\d$/.test(text)) {
      this.statuses.push(Number(text));
      return;
    }
    if (CODE_KEYS.test(key) && /^\S{1,100}$/.test(text)) this.codes.add(plainCode(text));
    else this.#takeWords(WITHOUT_SUBJECT.test(text) && !MESSAGE_KEYS.test(key) ? `${key} ${text}` : text);
  }

  #takeWords(text: string): void {
    if (this.#left <= 0) return;
    const read = readPart(text);
    this.#left -= read.length;
    this.texts.add(normalizeText(read));
  }
}

/** Letters and digits in lower case, so that `ContextWindowExceededError` and `context_window_exceeded` look alike. */
function plainCode(code: string): string {
  return code.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Characters of the vendor's words that a user is shown. */
const LONGEST_VENDOR_MESSAGE = 2_000;

/** The vendor's own words, for the user: the innermost message, else the text as it came. */
export function vendorMessageOf(body: unknown, text: string | undefined): string {
  const message = messageIn(body, 0) ?? (typeof body === 'string' && body.trim() !== '' ? body : text) ?? '';
  const words = /^\s*<(?:!doctype|html|head|body|\?xml)\b/i.test(message) ? withoutMarkup(message) : message;
  return words.trim().slice(0, LONGEST_VENDOR_MESSAGE);
}

function messageIn(value: unknown, depth: number): string | undefined {
  if (depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return value.map((item) => messageIn(item, depth + 1)).find((found) => found !== undefined);
  if (typeof value === 'string') {
    const inner = unwrapText(value).values.map((item) => messageIn(item, depth + 1));
    return inner.find((found) => found !== undefined) ?? (depth === 0 || value.trim() === '' ? undefined : value);
  }
  if (!isRecord(value)) return undefined;
  for (const key of ['error', 'message', 'detail', 'error_message', 'msg', 'description']) {
    const found = messageIn(value[key], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
