import { numberOf, property } from '../../models/protocols/json.ts';
import type { SessionRecord } from '../session-record.ts';

/** Where the formats keep the time of a line or a message, the first that is there. */
const NAMES = ['timestamp', 'created_at', 'create_time', 'created'] as const;
/** Numbers below count seconds, others milliseconds: in milliseconds it is March 1973, in seconds the year 5138. */
const LEAST_MILLISECONDS = 100_000_000_000;
/** No agent recorded a session before. A clock that was never set says 1970 or 1980. */
const EARLIEST = Date.UTC(1990, 0, 1);
const LATEST = Date.UTC(9999, 0, 1);
/** A date with a time of day; without a zone it is UTC, so that a file means the same on every machine. */
const DATE_AND_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?<zone>Z|[+-]\d{2}:?\d{2})?$/i;

/** When a value of a session file was recorded; `undefined` when it does not say so, or says what is no time. */
export function recordedTime(value: unknown): Date | undefined {
  const found = NAMES.map((name) => property(value, name)).find((each) => each !== undefined && each !== null);
  const milliseconds = typeof found === 'string' ? fromText(found) : fromNumber(numberOf(found));
  if (milliseconds === undefined || !(milliseconds >= EARLIEST && milliseconds < LATEST)) return undefined;
  return new Date(milliseconds);
}

function fromNumber(found: number | undefined): number | undefined {
  if (found === undefined) return undefined;
  return found < LEAST_MILLISECONDS ? found * 1000 : found;
}

function fromText(found: string): number | undefined {
  const text = found.trim();
  const match = DATE_AND_TIME.exec(text);
  if (match === null) return /^\d+(?:\.\d+)?$/.test(text) ? fromNumber(Number(text)) : undefined;
  return Date.parse(`${text.replace(' ', 'T')}${match.groups?.['zone'] === undefined ? 'Z' : ''}`);
}

/** Records with the time of the value that completed them, where the importer knew none of its own. */
export function withTime(records: readonly SessionRecord[], at: Date | undefined): readonly SessionRecord[] {
  return at === undefined ? records : records.map((record) => (record.at === undefined ? { ...record, at } : record));
}
