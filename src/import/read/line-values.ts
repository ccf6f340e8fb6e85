import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../models/protocols/json.ts';
import { formatOf } from './detect-format.ts';

/** What a line of a session file says. A line that is whole has one value. */
export interface LineValues {
  readonly values: readonly LineValue[];
  /** What of the line could not be read, as far as it is text; `null`: all could. */
  readonly damage: string | null;
  /** Bytes that are no UTF-8 were read as U+FFFD. */
  readonly isUtf8: boolean;
}

export interface LineValue {
  readonly value: unknown;
  /** Found behind something that could not be read: it counts only where it is a record of the file's format. */
  readonly isSalvaged: boolean;
}

/**
 * A program that was killed leaves a cut line, to which the next one appends; a file system that lost power fills what was
 * not written with NUL. Whole records before and behind such a place are read.
 */
export function valuesOfLine(bytes: Buffer): LineValues {
  const text = bytes.toString('utf8');
  const of = { isUtf8: isUtf8(bytes) };
  // JSON has no NUL outside of escapes; `trim` takes a byte order mark away too.
  const pieces = text.split(/\0+/u).flatMap((piece) => (piece.trim() === '' ? [] : [piece.trim()]));
  const [first] = pieces;
  if (first === undefined) return { ...of, values: [], damage: text.includes('\0') ? '' : null };
  const only = pieces.length === 1 ? parseJson(first) : undefined;
  if (only !== undefined) return { ...of, values: [{ value: only, isSalvaged: false }], damage: null };
  const found = pieces.map((piece, index) => recordsIn(piece, index === 0));
  const rests = found.flatMap(({ rest }) => (rest === '' ? [] : [rest]));
  return {
    ...of,
    values: found.flatMap(({ records }) => records),
    damage: rests.length === 0 ? null : rests.join('\n'),
  };
}

interface Records {
  readonly records: readonly LineValue[];
  /** What is none. */
  readonly rest: string;
}

/** The objects that a line begins with, and those that a text ends with. Each character is looked at a fixed number of times. */
function recordsIn(text: string, isLineStart: boolean): Records {
  const before: LineValue[] = [];
  const behind: LineValue[] = [];
  let rest = text;
  for (let end = isLineStart ? endOfObject(rest) : -1; end !== -1; end = endOfObject(rest)) {
    const value = parseJson(rest.slice(0, end));
    if (value === undefined) break;
    before.push({ value, isSalvaged: false });
    rest = rest.slice(end).trim();
  }
  for (;;) {
    const start = startOfObject(rest);
    const value = start === -1 ? undefined : parseJson(rest.slice(start));
    if (value === undefined || isPartOfAnother(value, rest.slice(0, start))) break;
    behind.unshift({ value, isSalvaged: true });
    rest = rest.slice(0, start).trim();
  }
  return { records: [...before, ...behind], rest };
}

/** A message looks the same as a line of its own and within the list of a conversation that was cut off. */
function isPartOfAnother(value: unknown, before: string): boolean {
  return formatOf(value) === 'openai-messages' && '[,:'.includes(before.trimEnd().at(-1) ?? ' ');
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function isOpening(code: number): boolean {
  return code === 0x7b || code === 0x5b;
}

function isClosing(code: number): boolean {
  return code === 0x7d || code === 0x5d;
}

/** Where the object ends with which a text begins; -1 when there is none, or it does not end. */
function endOfObject(text: string): number {
  if (!text.startsWith('{')) return -1;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString && code === BACKSLASH) index += 1;
    else if (code === QUOTE) inString = !inString;
    else if (!inString && isOpening(code)) depth += 1;
    else if (!inString && isClosing(code)) depth -= 1;
    if (depth === 0) return index + 1;
  }
  return -1;
}

/** Where the object begins with which a text ends; -1 when there is none. Read backwards, what stands before cannot mislead. */
function startOfObject(text: string): number {
  if (!text.endsWith('}')) return -1;
  let depth = 0;
  let inString = false;
  for (let index = text.length - 1; index >= 0; index -= 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE && !isEscaped(text, index)) inString = !inString;
    else if (!inString && isClosing(code)) depth += 1;
    else if (!inString && isOpening(code)) depth -= 1;
    if (depth === 0) return text[index] === '{' ? index : -1;
  }
  return -1;
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(index - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
