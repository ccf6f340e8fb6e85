import { parseNestedJson } from '../../context/log/nested-json.ts';
import { isRecord } from './json.ts';

/** Replaces what vendors refuse or cut a request at; one character for one, so that offsets stay. */
const REPLACEMENT = '\uFFFD';

/** NUL, and surrogates without their other half: JSON can carry them, UTF-8 and most servers cannot. */
// oxlint-disable-next-line no-control-regex -- NUL is what is looked for
const UNSENDABLE = /\u0000|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** The same characters as escapes inside JSON text. */
const ESCAPED_UNSENDABLE = /\\u(?:0000|d[89a-f])/i;

/** The text with NUL and lone surrogates replaced. The stored original keeps them. */
export function repairText(text: string): string {
  return text.replace(UNSENDABLE, REPLACEMENT);
}

/**
 * Tool arguments as every server accepts them: the text of a JSON object. Valid text comes back
 * unchanged, so that prompt caches stay warm. Text that is no JSON object (cut off, malformed, a
 * bare string) or nested too deep is wrapped, because Anthropic wants an object and chat templates iterate over one.
 */
export function sendableArguments(text: string): { readonly text: string; readonly value: Record<string, unknown> } {
  const trimmed = text.trim();
  if (trimmed === '') return { text: '{}', value: {} };
  const parsed = parseObject(trimmed);
  if (parsed === undefined) {
    const value = { invalid_arguments: repairText(text) };
    return { text: JSON.stringify(value), value };
  }
  if (!ESCAPED_UNSENDABLE.test(trimmed)) return { text: repairText(text), value: parsed };
  const value = Object.fromEntries(Object.entries(parsed).map(([key, item]) => [repairText(key), repairValue(item)]));
  return { text: JSON.stringify(value), value };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseNestedJson(repairText(text));
  return isRecord(value) ? value : undefined;
}

function repairValue(value: unknown): unknown {
  if (typeof value === 'string') return repairText(value);
  if (Array.isArray(value)) return value.map(repairValue);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [repairText(key), repairValue(item)]));
}
