import { isUtf8 } from 'node:buffer';
import { isRecord, parseJson } from '../../models/protocols/json.ts';
import { formatOf } from './detect-format.ts';

/** What a line of a session file says. A line that is whole has one value. */
export interface LineValues {
  readonly values: readonly LineValue[];
  /** Something of the line could not be read. */
  readonly isDamaged: boolean;
  /** Bytes that are no UTF-8 were read as U+FFFD. */
  readonly isUtf8: boolean;
}

export interface LineValue {
  readonly value: unknown;
  /** Found beside something that could not be read: it counts only where it is a record of the file's format. */
  readonly isSalvaged: boolean;
}

/** A file system that lost power fills what was not written with NUL: what stands before and behind it is read. */
export function valuesOfLine(bytes: Buffer): LineValues {
  // JSON has no NUL outside of escapes; `trim` takes a byte order mark away too.
  const pieces = bytes
    .toString('utf8')
    .split(/\0+/u)
    .flatMap((piece) => piece.trim() || []);
  const found = pieces.map((piece) => parseJson(piece));
  const values = found.map((value, index) => value ?? recordAtEnd(pieces[index] ?? ''));
  return {
    values: values.flatMap((value, index) =>
      value === undefined ? [] : [{ value, isSalvaged: pieces.length > 1 || found[index] === undefined }],
    ),
    isDamaged: found.includes(undefined) || (pieces.length === 0 && bytes.includes(0)),
    isUtf8: isUtf8(bytes),
  };
}

/** The object with which a text ends: a program that was killed leaves a cut line, to which the next one appends. */
function recordAtEnd(text: string): unknown {
  for (const { index } of text.matchAll(/\{"/gu)) {
    const value = parseJson(text.slice(index));
    if (isRecord(value)) return isPartOfAnother(value, text.slice(0, index)) ? undefined : value;
  }
  return undefined;
}

/** A message looks the same as a line of its own and within the list of a conversation that was cut off. */
function isPartOfAnother(value: unknown, before: string): boolean {
  return formatOf(value) === 'openai-messages' && '[,:'.includes(before.trimEnd().at(-1) ?? ' ');
}
