import { createHash } from 'node:crypto';
import type { z } from 'zod';
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
  return parseObject(firstLine)?.['format'] === CONVERSATION_FORMAT;
}

/** The line's number, never its text. */
export function invalid(line: number, problem: string): StoreError {
  return new StoreError('conversation_file_invalid', `line ${line} of the file: ${problem}`);
}

/**
 * Reads the first line of a file; its rows are read as they are asked for. Tells of each line what does not depend on a database:
 * that it is a row, that none is missing, and that nothing was changed. All of a file is known to be whole only when its rows have ended.
 * @throws StoreError `conversation_file_invalid`, as the rows do
 */
export async function readConversationFile(
  lines: AsyncIterable<string>,
): Promise<{ readonly conversationId: string; readonly rows: AsyncIterable<FileRow> }> {
  const opened = each(lines);
  const { value: header = '' } = await opened.next();
  try {
    return { conversationId: conversationOf(header), rows: rowsBehind(header, opened) };
  } catch (error) {
    await opened.return(undefined);
    throw error;
  }
}

async function* each(lines: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  yield* lines;
}

async function* rowsBehind(header: string, lines: AsyncIterable<string>): AsyncGenerator<FileRow> {
  const checksum = createHash('sha256').update(`${header}\n`);
  let [line, isWhole] = [1, false];
  for await (const text of lines) {
    line += 1;
    if (isWhole) throw invalid(line, 'something stands after its end');
    const parsed = parseObject(text);
    if (parsed === null) throw invalid(line, 'it is no JSON object; the file may have been cut off');
    const { sha256, table, row } = parsed;
    if (typeof sha256 === 'string') {
      isWhole = sha256 === checksum.digest('hex');
      if (!isWhole) throw invalid(line, 'its SHA-256 is not that of the lines before: one was lost, changed or moved');
      continue;
    }
    if (typeof table !== 'string' || !isRecord(row)) throw invalid(line, 'it is no row of a table');
    if (!isFileTable(table)) throw invalid(line, `there is no table ${JSON.stringify(table)} in such a file`);
    checksum.update(`${text}\n`);
    yield { table, row, line };
  }
  if (!isWhole) throw invalid(line, 'its end is missing; the file was cut off');
}

function conversationOf(header: string): string {
  const { format, version, conversationId } = parseObject(header) ?? {};
  if (format !== CONVERSATION_FORMAT) throw invalid(1, 'it does not begin as `holdfast export` begins a file');
  if (version !== CONVERSATION_FORMAT_VERSION) {
    throw invalid(1, `version ${JSON.stringify(version)} of the format is not known here: update Holdfast`);
  }
  if (typeof conversationId !== 'string' || !isId(conversationId)) throw invalid(1, 'it names no conversation');
  return conversationId;
}

function parseObject(line: string): Record<string, unknown> | null {
  const value = parseJson(line);
  return isRecord(value) ? value : null;
}

/** @throws StoreError `conversation_file_invalid` for a column that is missing, of another shape, or none of the table */
export function rowOf<Schema extends z.ZodType>(schema: Schema, { table, row, line }: FileRow): z.output<Schema> {
  const parsed = schema.safeParse(row);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const column = issue?.path[0];
  if (issue?.code === 'unrecognized_keys' && column === undefined)
    throw invalid(line, `${table} has no column ${JSON.stringify(issue.keys[0] ?? '')}`);
  const place = column === undefined ? table : `${table}.${String(column)}`;
  throw invalid(line, `${place} is not what Holdfast writes there`);
}
