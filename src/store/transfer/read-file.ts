import { createHash } from 'node:crypto';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { isRecord, parseJson } from '../../models/protocols/json.ts';
import { CONVERSATION_FORMAT, CONVERSATION_FORMAT_VERSION } from './format.ts';
import type { ConversationFileHeader, ConversationFileRow } from './format.ts';

/** Characters: the longest entry, an output of 64 MB beside its pieces, is far from it, and a string of Node too. */
const LONGEST_LINE = 256 * 1024 * 1024;

export interface FileRow extends ConversationFileRow {
  /** Number of its line. */
  readonly line: number;
}

/** Whether a file begins as `exportConversation` begins one. */
export function isConversationFile(firstLine: string): boolean {
  return parseObject(firstLine.replace(/^\uFEFF/u, ''))?.['format'] === CONVERSATION_FORMAT;
}

/** The line's number, never its text. */
export function invalid(line: number, problem: string): StoreError {
  return new StoreError('conversation_file_invalid', `line ${line} of the file: ${problem}`);
}

/**
 * Reads a file from its first to its last line, and tells of each what does not depend on a database: that it is a row, that
 * none is missing, and that nothing was changed. All of that is known only when `rows` has ended.
 */
export class ConversationFileReader {
  private readonly lines: AsyncIterator<string>;
  private readonly longest: number;
  private readonly checksum = createHash('sha256');
  private rowCount = 0;
  private number = 0;

  /** @param longest characters of a line */
  constructor(lines: AsyncIterable<string>, longest = LONGEST_LINE) {
    this.lines = lines[Symbol.asyncIterator]();
    this.longest = longest;
  }

  /** Number of the line that was read last. */
  get line(): number {
    return this.number;
  }

  /** @throws StoreError `conversation_file_invalid` */
  async readHeader(): Promise<ConversationFileHeader> {
    try {
      const line = await this.nextLine();
      if (line === null) throw invalid(1, 'the file is empty');
      const header = headerOf(line);
      this.checksum.update(`${line}\n`);
      return header;
    } catch (error) {
      await this.lines.return?.();
      throw error;
    }
  }

  /** Every row, and then, when it is not whole, the error. @throws StoreError `conversation_file_invalid` */
  async *rows(): AsyncGenerator<FileRow> {
    try {
      for (let text = await this.nextLine(); text !== null; text = await this.nextLine()) {
        const parsed = parseObject(text);
        if (parsed === null) throw invalid(this.number, 'it is no JSON object; the file may have been cut off');
        if (typeof parsed['rows'] === 'number') return await this.checkEnd(parsed);
        this.checksum.update(`${text}\n`);
        this.rowCount += 1;
        yield { ...rowOf(parsed, this.number), line: this.number };
      }
      throw invalid(this.number, 'its end is missing; the file was cut off');
    } finally {
      await this.lines.return?.();
    }
  }

  private async checkEnd({ rows, sha256 }: Readonly<Record<string, unknown>>): Promise<void> {
    const line = this.number;
    if (rows !== this.rowCount) {
      throw invalid(line, `it has ${this.rowCount} rows, of ${String(rows)} that were written`);
    }
    if (sha256 !== this.checksum.digest('hex')) {
      throw invalid(
        line,
        'the SHA-256 of the lines before is not the one that was written: a line was changed or moved',
      );
    }
    if ((await this.nextLine()) !== null) throw invalid(this.number, 'something stands after its end');
  }

  /** The next line that holds something. Another program may have written its ends in another way. */
  private async nextLine(): Promise<string | null> {
    for (;;) {
      const { done, value } = await this.lines.next();
      if (done === true) return null;
      this.number += 1;
      if (value.length > this.longest) {
        throw invalid(this.number, `it has ${value.length} characters, more than ${this.longest}`);
      }
      const line = value.replace(/\r$/u, '').replace(/^\uFEFF/u, '');
      if (line.trim() !== '') return line;
    }
  }
}

function headerOf(line: string): ConversationFileHeader {
  const header = parseObject(line);
  if (header === null || header['format'] !== CONVERSATION_FORMAT) {
    throw invalid(1, 'it does not begin as `holdfast export` begins a file');
  }
  const { version, conversationId } = header;
  if (version !== CONVERSATION_FORMAT_VERSION) {
    throw invalid(1, `version ${JSON.stringify(version)} of the format is not known here: update Holdfast`);
  }
  if (typeof conversationId !== 'string' || !isId(conversationId)) throw invalid(1, 'it names no conversation');
  return { format: CONVERSATION_FORMAT, version: CONVERSATION_FORMAT_VERSION, conversationId };
}

function rowOf(parsed: Readonly<Record<string, unknown>>, line: number): ConversationFileRow {
  const { table, row } = parsed;
  if (typeof table !== 'string' || !isRecord(row)) throw invalid(line, 'it is no row of a table');
  return { table, row };
}

function parseObject(line: string): Record<string, unknown> | null {
  const value = parseJson(line);
  return isRecord(value) ? value : null;
}
