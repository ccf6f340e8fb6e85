import { createHash } from 'node:crypto';
import { isRecord, parseJson } from '../../models/protocols/json.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { isFileTable } from './format.ts';
import type { FileTable } from './format.ts';

export const CONVERSATION_FORMAT = 'holdfast-conversation';
export const CONVERSATION_FORMAT_VERSION = 1;

/** A line between the first and the last. */
export interface FileRow {
  readonly table: FileTable;
  readonly row: Readonly<Record<string, unknown>>;
  /** Number of its line. */
  readonly line: number;
}

/** Whether a file begins as `exportConversation` begins one. */
export function isConversationFile(firstLine: string): boolean {
  return parseObject(firstLine)['format'] === CONVERSATION_FORMAT;
}

/** The line's number, never its text. */
export function invalid(line: number, problem: string): StoreError {
  return new StoreError('conversation_file_invalid', `line ${line} of the file: ${problem}`);
}

/** @returns the conversation's id. @throws StoreError `conversation_file_invalid` */
export function readHeader(header: string): string {
  const { format, version, conversationId } = parseObject(header);
  if (format !== CONVERSATION_FORMAT) throw invalid(1, 'it does not begin as `holdfast export` begins a file');
  if (version !== CONVERSATION_FORMAT_VERSION) {
    throw invalid(1, `version ${JSON.stringify(version)} of the format is not known here: update Holdfast`);
  }
  if (typeof conversationId !== 'string' || !isId(conversationId)) throw invalid(1, 'it names no conversation');
  return conversationId;
}

/**
 * Reads the lines behind the header. Tells of each what does not depend on a database: that it is a row, that none is missing, and that
 * nothing was changed. All of a file is known to be whole only when its rows have ended.
 * @throws StoreError `conversation_file_invalid`
 */
export async function* readRows(header: string, lines: AsyncIterable<string>): AsyncGenerator<FileRow> {
  const checksum = createHash('sha256').update(`${header}\n`);
  let [line, isWhole] = [1, false];
  for await (const text of lines) {
    line += 1;
    if (isWhole) throw invalid(line, 'something stands after its end');
    const { sha256, table, row } = parseObject(text);
    if (typeof sha256 === 'string') {
      isWhole = sha256 === checksum.digest('hex');
      if (!isWhole) throw invalid(line, 'its SHA-256 is not that of the lines before: one was lost, changed or moved');
      continue;
    }
    if (typeof table !== 'string' || !isRecord(row))
      throw invalid(line, 'it is no row of a table; the file may have been cut off');
    if (!isFileTable(table)) throw invalid(line, `there is no table ${JSON.stringify(table)} in such a file`);
    checksum.update(`${text}\n`);
    yield { table, row, line };
  }
  if (!isWhole) throw invalid(line, 'its end is missing; the file was cut off');
}

function parseObject(line: string): Record<string, unknown> {
  const value = parseJson(line);
  return isRecord(value) ? value : {};
}
