import { createHash } from 'node:crypto';
import { isRecord, parseJson } from '../../models/protocols/json.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';

export const CONVERSATION_FORMAT = 'holdfast-conversation';
export const CONVERSATION_FORMAT_VERSION = 1;

/** A line between the first and the last. */
export interface FileRow {
  readonly table: string;
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
 * Reads the first line; `rows` are those behind it. Tells of each what does not depend on a database: that it is a row, that none is
 * missing, and that nothing was changed. All of a file is known to be whole only when its rows have ended.
 * @throws StoreError `conversation_file_invalid`
 */
export async function openFile(
  lines: AsyncIterable<string>,
): Promise<{ readonly conversationId: string; readonly rows: AsyncIterable<FileRow> }> {
  const rest = lines[Symbol.asyncIterator]();
  const first = await rest.next();
  const header = first.done === true ? '' : first.value;
  const { format, version, conversationId } = parseObject(header);
  if (format !== CONVERSATION_FORMAT) throw invalid(1, 'it does not begin as `holdfast export` begins a file');
  if (version !== CONVERSATION_FORMAT_VERSION)
    throw invalid(1, `version ${JSON.stringify(version)} of the format is not known here: update Holdfast`);
  if (typeof conversationId !== 'string' || !isId(conversationId)) throw invalid(1, 'it names no conversation');
  return { conversationId, rows: readRows(header, { [Symbol.asyncIterator]: () => rest }) };
}

async function* readRows(header: string, lines: AsyncIterable<string>): AsyncGenerator<FileRow> {
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
    checksum.update(`${text}\n`);
    yield { table, row, line };
  }
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

/** A row with ids of the tenant. Memories keep theirs, which are of a tenant anyhow. */
export function withOwnIds(tenant: string, { table, row, line }: FileRow): FileRow {
  const columns = Object.entries(row).map(([name, value]) => {
    const isRenamed = /(?:^i|I)d$/u.test(name) && !(table === 'memories' && name === 'id');
    return [name, isRenamed && typeof value === 'string' && isId(value) ? ownId(tenant, value) : value];
  });
  return { table, row: Object.fromEntries(columns), line };
}
