import postgres from 'postgres';
import type { Database, Transaction } from '../database.ts';
import { StoreError } from '../errors.ts';
import { isId } from '../ids.ts';
import { transaction } from '../transaction.ts';
import {
  CONVERSATION_FORMAT,
  CONVERSATION_FORMAT_VERSION,
  FENCED_TABLES,
  TABLES_AFTER,
  TABLES_BEFORE,
  importedExpression,
  importedValue,
  readColumns,
  readSchemaNumber,
} from './tables.ts';
import { recountTotals } from '../usage.ts';
import type { Column, ConversationFileHeader, ConversationFileRow, ExportedTable } from './tables.ts';

export interface ImportedFile {
  readonly conversationId: string;
  readonly turns: number;
  readonly entries: number;
}

const TABLES: ReadonlyMap<string, ExportedTable> = new Map(
  [...TABLES_BEFORE, ...FENCED_TABLES, ...TABLES_AFTER].map((table) => [table.name, table]),
);
const FENCED: ReadonlySet<string> = new Set(FENCED_TABLES.map(({ name }) => name));
/** Set when the conversation is made; all its other columns at the end. */
const FIRST_COLUMNS: ReadonlySet<string> = new Set(['id', 'agent', 'created_at']);
/** Rows that name no conversation must belong to what came before in the same file. */
const OWNER_COLUMNS: Readonly<Record<string, string>> = {
  content_pieces: 'exists (select from contents o where o.id = $1::uuid and o.conversation_id = $2::uuid)',
  late_tool_results: 'exists (select from turns t where t.id = $1::uuid and t.conversation_id = $2::uuid)',
};

/**
 * Stores what `exportConversation` wrote, whole or not at all. Every row passes the fences that it passed when it was
 * written first; references are checked at the end. Search indexes it afterwards.
 *
 * @throws StoreError `conversation_exists`, `conversation_file_invalid` with the line
 */
export async function importExportedConversation(sql: Database, lines: AsyncIterable<string>): Promise<ImportedFile> {
  return transaction(sql, async (open) => {
    await open`set constraints all deferred`;
    await open`set local timezone to 'UTC'`;
    await open`set local idle_in_transaction_session_timeout = 0`;
    let number = 0;
    let importer: FileImporter | null = null;
    for await (const line of lines) {
      number += 1;
      if (line.trim() === '') continue;
      if (importer === null) importer = new FileImporter(open, await readHeader(open, line));
      else await importer.addLine(line, number);
    }
    if (importer === null) throw invalid(1, 'the file is empty');
    return importer.finish(number);
  });
}

/** Whether a file begins as `exportConversation` begins one. */
export function isConversationFile(firstLine: string): boolean {
  const header = parseObject(firstLine);
  return header !== null && 'format' in header && header['format'] === CONVERSATION_FORMAT;
}

class FileImporter {
  private readonly sql: Transaction;
  private readonly conversationId: string;
  private readonly version: number;
  private readonly columns = new Map<string, readonly Column[]>();
  private conversation: ConversationFileRow['row'] | null = null;
  private epoch = 0;
  private head: unknown = null;
  private branch: unknown = 0;
  private rows = 0;
  private isWhole = false;
  private turns = 0;
  private entries = 0;

  constructor(sql: Transaction, header: ConversationFileHeader) {
    this.sql = sql;
    this.conversationId = header.conversationId;
    this.version = header.version;
  }

  async addLine(text: string, line: number): Promise<void> {
    if (this.isWhole) throw invalid(line, 'something stands after its end');
    const end = parseObject(text)?.['rows'];
    if (typeof end === 'number') {
      if (end !== this.rows) throw invalid(line, `it has ${this.rows} rows, of ${end} that were written`);
      this.isWhole = true;
      return;
    }
    this.rows += 1;
    try {
      await this.add(readRow(text, line), line);
    } catch (error) {
      throw refused(error, line);
    }
  }

  private async add({ table: name, row }: ConversationFileRow, line: number): Promise<void> {
    const table = TABLES.get(name);
    if (table === undefined) throw invalid(line, `there is no table ${JSON.stringify(name)} in such a file`);
    const columns = await this.columnsOf(table, row, line);
    if (name === 'conversations') return this.begin(columns, row, line);
    if (this.conversation === null) throw invalid(line, 'the conversation itself comes first');
    if (name === 'branches' && row['branch'] === 0) return; // made with the conversation
    await this.checkOwner(name, row, line);
    if (FENCED.has(name)) await this.raiseEpoch(row['epoch'], line);
    if (name === 'entries') await this.moveTo(row);
    await this.insert(name, columns, row);
    if (name === 'turns') this.turns += 1;
    if (name === 'entries') this.entries += 1;
  }

  /** @param line the last one */
  async finish(line: number): Promise<ImportedFile> {
    const { conversation, conversationId, turns, entries } = this;
    if (conversation === null) throw invalid(1, 'the file has no conversation');
    if (!this.isWhole && this.version > 1) throw invalid(line, 'its end is missing; the file was cut off');
    const columns = (this.columns.get('conversations') ?? []).filter(
      ({ name }) => Object.hasOwn(conversation, name) && !FIRST_COLUMNS.has(name),
    );
    const sets = columns.map((column, index) => `"${column.name}" = ${importedExpression(column, index + 2)}`);
    const values = columns.map((column) => importedValue(column, conversation[column.name]));
    try {
      await this.leaveOutSuperseded();
      await this.sql.unsafe(`update conversations set ${sets.join(', ')} where id = $1`, [conversationId, ...values]);
      // Older versions wrote no totals of what they counted.
      await recountTotals(this.sql, conversationId);
      await this.sql`set constraints all immediate`; // Here and not at the commit: a row that is missing is the file's fault.
    } catch (error) {
      throw refused(error, line);
    }
    return { conversationId, turns, entries };
  }

  /**
   * Older versions wrote memories whose successor the file does not hold. They were over, and what they had superseded
   * goes with them, as when a memory is forgotten.
   */
  private async leaveOutSuperseded(): Promise<void> {
    await this.sql`
      delete from memories m where m.conversation_id = ${this.conversationId} and m.superseded_by is not null
        and not exists (select from memories n where n.id = m.superseded_by)`;
  }

  private async columnsOf(
    table: ExportedTable,
    row: ConversationFileRow['row'],
    line: number,
  ): Promise<readonly Column[]> {
    const known = this.columns.get(table.name) ?? (await readColumns(this.sql, table));
    this.columns.set(table.name, known);
    const unknown = Object.keys(row).find((name) => !known.some((column) => column.name === name));
    if (unknown !== undefined) {
      throw invalid(line, `table ${table.name} has no column ${JSON.stringify(unknown)}: a newer version wrote it`);
    }
    return known.filter(({ name }) => Object.hasOwn(row, name));
  }

  private async begin(columns: readonly Column[], row: ConversationFileRow['row'], line: number): Promise<void> {
    if (this.conversation !== null) throw invalid(line, 'a file holds one conversation');
    if (row['id'] !== this.conversationId) throw invalid(line, 'the conversation is not the one that the header names');
    const [existing] = await this.sql`select from conversations where id = ${this.conversationId}`;
    if (existing !== undefined) {
      throw new StoreError(
        'conversation_exists',
        `conversation ${this.conversationId} is in this database: delete it first, or import into another`,
      );
    }
    await this.insert(
      'conversations',
      columns.filter(({ name }) => FIRST_COLUMNS.has(name)),
      row,
    );
    this.conversation = row;
  }

  /** A row must not reach into another conversation. */
  private async checkOwner(name: string, row: ConversationFileRow['row'], line: number): Promise<void> {
    const condition = OWNER_COLUMNS[name];
    if (condition === undefined) {
      if (row['conversation_id'] === this.conversationId) return;
    } else {
      const owner = row['content_id'] ?? row['turn_id'];
      const found =
        typeof owner === 'string' && isId(owner)
          ? await this.sql.unsafe<{ owned: boolean }[]>(`select ${condition} as owned`, [owner, this.conversationId])
          : [];
      if (found[0]?.owned === true) return;
    }
    throw invalid(line, `a row of ${name} belongs to another conversation`);
  }

  private async raiseEpoch(value: unknown, line: number): Promise<void> {
    if (value === this.epoch) return;
    if (typeof value !== 'number' || value < this.epoch) throw invalid(line, 'epochs must not fall');
    this.epoch = value;
    await this.sql`update conversations set epoch = ${value} where id = ${this.conversationId}`;
  }

  /** The head and the branch that the entry was appended to. */
  private async moveTo(row: ConversationFileRow['row']): Promise<void> {
    const { parent_id: parent = null, branch } = row;
    if (parent !== this.head || branch !== this.branch) {
      await this.sql.unsafe(
        'update conversations set head_entry_id = $2::text::uuid, branch = $3::text::integer where id = $1',
        [this.conversationId, typeof parent === 'string' ? parent : null, JSON.stringify(branch)],
      );
    }
    this.head = row['id'];
    this.branch = branch;
  }

  private async insert(table: string, columns: readonly Column[], row: ConversationFileRow['row']): Promise<void> {
    const names = columns.map(({ name }) => `"${name}"`).join(', ');
    const values = columns.map((column, index) => importedExpression(column, index + 1)).join(', ');
    await this.sql.unsafe(
      `insert into ${table} (${names}) values (${values})`,
      columns.map((column) => importedValue(column, row[column.name])),
      { prepare: true },
    );
  }
}

async function readHeader(sql: Transaction, line: string): Promise<ConversationFileHeader> {
  const header = parseObject(line);
  if (header === null || header['format'] !== CONVERSATION_FORMAT) {
    throw invalid(1, 'it does not begin as `holdfast export` begins a file');
  }
  const { version, schema, conversationId } = header;
  if (typeof version !== 'number' || version < 1 || version > CONVERSATION_FORMAT_VERSION) {
    throw invalid(1, `version ${String(version)} of the format is not known here`);
  }
  if (typeof schema !== 'number' || schema > (await readSchemaNumber(sql))) {
    throw invalid(1, `it was written with schema ${String(schema)}, newer than this version's: update Holdfast`);
  }
  if (typeof conversationId !== 'string' || !isId(conversationId)) throw invalid(1, 'it names no conversation');
  return { format: CONVERSATION_FORMAT, version, schema, conversationId };
}

function readRow(line: string, number: number): ConversationFileRow {
  const parsed = parseObject(line);
  const row = parsed?.['row'];
  if (parsed === null || typeof parsed['table'] !== 'string' || !isObject(row)) {
    throw invalid(
      number,
      parsed === null ? 'it is no JSON object; the file may have been cut off' : 'it is no row of a table',
    );
  }
  return { table: parsed['table'], row };
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A value that Postgres does not take, or a row that is there twice, is the file's fault. The words of Postgres hold the
 * value and are left out, the cause too.
 */
function refused(error: unknown, line: number): unknown {
  if (!(error instanceof postgres.PostgresError) || !/^2[23]/.test(error.code)) return error;
  const { table_name: table, column_name: column, code } = error;
  const place = [table, column].filter((each) => each !== undefined).join('.');
  return invalid(line, `Postgres refuses a value${place === '' ? '' : ` of ${place}`} (SQLSTATE ${code})`);
}

/** The line's number, never its text. */
function invalid(line: number, problem: string): StoreError {
  return new StoreError('conversation_file_invalid', `line ${line} of the file: ${problem}`);
}
