import { isRecord, parseJson } from '../../../models/protocols/json.ts';
import { formatCount } from '../text/numbers.ts';
import { safeLine } from '../text/safe-text.ts';
import { truncate } from '../text/text-width.ts';

/** Columns of one value among several. */
const VALUE_COLUMNS = 48;

/**
 * A tool call's arguments on one line: the first value bare, since it says what the call is about
 * (`src/a.ts limit=20`), long texts by their length. Text that is no JSON object is shown as it is.
 */
export function shortArguments(json: string, columns: number): string {
  const values = parseObject(json);
  if (values === null) return truncate(safeLine(json), columns);
  const shown = Object.entries(values).map(([name, value], position) => {
    const text = shortValue(value);
    return position === 0 && typeof value === 'string' && value.length <= 400 ? text : `${safeLine(name)}=${text}`;
  });
  return truncate(shown.join(' '), columns);
}

function shortValue(value: unknown): string {
  if (typeof value === 'string') {
    // A file's content: how much it is tells more than how it begins.
    if (value.length > 400 || value.split('\n', 4).length > 3) return `‹${formatCount(value.length)} characters›`;
    return truncate(safeLine(value), VALUE_COLUMNS);
  }
  if (Array.isArray(value)) return `[${formatCount(value.length)}]`;
  if (typeof value === 'object' && value !== null) return '{…}';
  return String(value);
}

function parseObject(json: string): Record<string, unknown> | null {
  const parsed = parseJson(json);
  return isRecord(parsed) ? parsed : null;
}
