import { createHash } from 'node:crypto';
import postgres from 'postgres';
import { isRecord, parseJson } from '../../models/protocols/json.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';

export const CONVERSATION_FORMAT = 'holdfast-conversation';
export const CONVERSATION_FORMAT_VERSION = 1;

/** A line of a file but the last. The first one holds the conversation itself. */
export interface FileRow {
  readonly table: string;
  /** By the names of properties: `headEntryId`. */
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

/**
 * The rows of a file, checked as far as no database is needed: each is a row, none is missing, nothing was changed. A file is known to be
 * whole only when its rows have ended.
 * @param tenant whose ids conversation, entries and summaries get; `null`: they keep those of the file
 * @throws StoreError `conversation_file_invalid`
 */
export async function* readFile(lines: AsyncIterable<string>, tenant: string | null): AsyncGenerator<FileRow> {
  const checksum = createHash('sha256');
  let [line, isWhole] = [0, false];
  for await (const text of lines) {
    line += 1;
    if (isWhole) throw invalid(line, 'something stands after its end');
    const { format, version, sha256, table, row } = parseObject(text);
    if (line === 1 && format !== CONVERSATION_FORMAT) break;
    if (line === 1 && version !== CONVERSATION_FORMAT_VERSION)
      throw invalid(1, `version ${JSON.stringify(version)} of the format is not known here: update Holdfast`);
    if (typeof sha256 === 'string') {
      isWhole = sha256 === checksum.digest('hex');
      if (!isWhole) throw invalid(line, 'its SHA-256 is not that of the lines before: one was lost, changed or moved');
    } else if (typeof table === 'string' && isRecord(row)) {
      checksum.update(`${text}\n`);
      const properties = Object.entries(row).map(([column, value]) => {
        // Memories keep their ids, which are of a tenant anyhow.
        const isRenamed = column.endsWith('_id') || (column === 'id' && table !== 'memories');
        const own =
          tenant !== null && isRenamed && typeof value === 'string' && isId(value) ? ownId(tenant, value) : value;
        return [postgres.toCamel(column), own];
      });
      yield { table, row: Object.fromEntries(properties), line };
    } else throw invalid(line, 'it is no row of a table; the file may have been cut off');
  }
  if (line <= 1 && !isWhole) throw invalid(1, 'it does not begin as `holdfast export` begins a file');
  if (!isWhole) throw invalid(line, 'its end is missing; the file was cut off');
}

function parseObject(line: string): Record<string, unknown> {
  const value = parseJson(line);
  return isRecord(value) ? value : {};
}

/**
 * The id that stands in a tenant for one of a file. The same file gives the same ids, and none of another tenant: whoever knows one cannot
 * ask by an import whether it is there. The time at its beginning stays, so ids sort as before.
 */
export function ownId(tenant: string, id: string): string {
  const hash = createHash('sha256').update(`${tenant}\0${id.toLowerCase()}`).digest('hex');
  return `${id.slice(0, 15)}${hash.slice(0, 3)}-${id.slice(19, 20)}${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}
