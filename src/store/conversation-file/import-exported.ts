import postgres from 'postgres';
import type { Database, Transaction } from '../database.ts';
import { StoreError } from '../errors.ts';
import { isId } from '../ids.ts';
import { transaction } from '../transaction.ts';
import { ConversationFileReader, invalid } from './read-file.ts';
import type { FileRow } from './read-file.ts';
import { problemOf } from './row-shapes.ts';
import {
  FENCED_TABLES,
  TABLES_AFTER,
  TABLES_BEFORE,
  importedExpression,
  importedValue,
  readColumns,
  readSchemaNumber,
} from './tables.ts';
import { redactSecrets } from '../../tools/redact-secrets.ts';
import { markImported } from '../import-conversation.ts';
import type { MemoryScope } from '../memories.ts';
import { requireOwnSchema } from '../migrate.ts';
import { recountTotals } from '../usage.ts';
import type { Column, ConversationFileRow, ExportedTable } from './tables.ts';

export interface ImportedFile {
  readonly conversationId: string;
  readonly turns: number;
  readonly entries: number;
  /** How many memories came with it, and who shares them. */
  readonly memories: readonly (MemoryScope & { readonly count: number })[];
}

const TABLES: ReadonlyMap<string, ExportedTable> = new Map(
  [...TABLES_BEFORE, ...FENCED_TABLES, ...TABLES_AFTER].map((table) => [table.name, table]),
);
const FENCED: ReadonlySet<string> = new Set(FENCED_TABLES.map(({ name }) => name));
/** Set when the conversation is made; all its other columns at the end. */
const FIRST_COLUMNS: ReadonlySet<string> = new Set(['id', 'agent', 'created_at']);
/** Rows that name no conversation must belong to what came before in the same file. */
const OWNERS: Readonly<
  Record<string, readonly { readonly column: string; readonly table: string; readonly isOptional: boolean }[]>
> = {
  content_pieces: [{ column: 'content_id', table: 'contents', isOptional: false }],
  late_tool_results: [
    { column: 'turn_id', table: 'turns', isOptional: false },
    { column: 'original_id', table: 'contents', isOptional: true },
  ],
};

/**
 * Stores what `exportConversation` wrote, whole or not at all. Every row passes the fences that it passed when it was
 * written first; references are checked at the end. Search indexes it afterwards.
 *
 * @throws StoreError `conversation_file_invalid` with the line; `conversation_exists`, of a file that is whole
 */
export async function importExportedConversation(sql: Database, lines: AsyncIterable<string>): Promise<ImportedFile> {
  return transaction(sql, async (open) => {
    await open`set constraints all deferred`;
    await open`set local timezone to 'UTC'`;
    await open`set local idle_in_transaction_session_timeout = 0`;
    await requireOwnSchema(open);
    const file = new ConversationFileReader(lines);
    const { conversationId } = await file.readHeader(await readSchemaNumber(open));
    const [existing] = await open`select from conversations where id = ${conversationId}`;
    const importer = new FileImporter(open, conversationId);
    for await (const row of file.rows()) {
      // Read to the end all the same: whoever makes room for a file that is not whole loses the only good copy.
      if (existing === undefined) await importer.addRow(row);
    }
    if (existing !== undefined) {
      throw new StoreError(
        'conversation_exists',
        `conversation ${conversationId} is in this database already; the file is whole, and nothing was changed`,
      );
    }
    return importer.finish(file.line);
  });
}

class FileImporter {
  private readonly sql: Transaction;
  private readonly conversationId: string;
  private readonly columns = new Map<string, readonly Column[]>();
  private conversation: ConversationFileRow['row'] | null = null;
  private epoch = 0;
  private head: unknown = null;
  private branch: unknown = 0;
  private turns = 0;
  private entries = 0;

  constructor(sql: Transaction, conversationId: string) {
    this.sql = sql;
    this.conversationId = conversationId;
  }

  async addRow(row: FileRow): Promise<void> {
    try {
      await this.add(row);
    } catch (error) {
      throw refused(error, row.line);
    }
  }

  private async add({ table: name, row, line }: FileRow): Promise<void> {
    const table = TABLES.get(name);
    if (table === undefined) throw invalid(line, `there is no table ${JSON.stringify(name)} in such a file`);
    const columns = await this.columnsOf(table, row, line);
    if (name === 'conversations') return this.begin(columns, row, line);
    if (this.conversation === null) throw invalid(line, 'the conversation itself comes first');
    if (name === 'branches' && row['branch'] === 0) return; // made with the conversation
    await this.checkOwner(name, row, line);
    this.checkItself(name, row, line);
    if (FENCED.has(name)) await this.raiseEpoch(row['epoch'], line);
    if (name === 'entries') await this.moveTo(row);
    await this.insert(name, columns, name === 'memories' ? await asForeignWords(row) : row);
    if (name === 'turns') this.turns += 1;
    if (name === 'entries') this.entries += 1;
  }

  /** @param line the last one */
  async finish(line: number): Promise<ImportedFile> {
    const { conversation, conversationId, turns, entries } = this;
    if (conversation === null) throw invalid(1, 'the file has no conversation');
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
      await markImported(this.sql, conversationId);
      await this.sql`set constraints all immediate`; // Here and not at the commit: a row that is missing is the file's fault.
    } catch (error) {
      throw refused(error, line);
    }
    return { conversationId, turns, entries, memories: await this.countMemories() };
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

  private async countMemories(): Promise<ImportedFile['memories']> {
    const rows = await this.sql<(MemoryScope & { count: number })[]>`
      select scope, scope_name as "scopeName", count(*)::int as count from memories
      where conversation_id = ${this.conversationId} group by scope, scope_name order by scope, scope_name`;
    return [...rows];
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
    this.checkItself('conversations', row, line);
    await this.insert(
      'conversations',
      columns.filter(({ name }) => FIRST_COLUMNS.has(name)),
      row,
    );
    await this.sql`update conversations set imported_at = holdfast_now() where id = ${this.conversationId}`;
    this.conversation = row;
  }

  private checkItself(name: string, row: ConversationFileRow['row'], line: number): void {
    const problem = problemOf(name, row, this.conversationId);
    if (problem !== null) throw invalid(line, problem);
  }

  /** A row must not reach into another conversation. */
  private async checkOwner(name: string, row: ConversationFileRow['row'], line: number): Promise<void> {
    const owners = OWNERS[name] ?? [];
    if (owners.length === 0 && row['conversation_id'] !== this.conversationId) throw foreign(name, line);
    for (const { column, table, isOptional } of owners) {
      const id = row[column] ?? null;
      if (id === null && isOptional) continue;
      const [owner] =
        typeof id === 'string' && isId(id)
          ? await this.sql`select from ${this.sql(table)} where id = ${id} and conversation_id = ${this.conversationId}`
          : [];
      if (owner === undefined) throw foreign(name, line);
    }
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
    // A memory that the user stated again is another conversation's by now, and stays what he said last.
    const unlessThere = table === 'memories' ? 'on conflict (id) do nothing' : '';
    await this.sql.unsafe(
      `insert into ${table} (${names}) values (${values}) ${unlessThere}`,
      columns.map((column) => importedValue(column, row[column.name])),
      { prepare: true },
    );
  }
}

/**
 * Whose words a memory rests on nobody can tell from a file: its entries are as easily made up. It is data until it is said
 * here, and holds no secret, as any that is remembered.
 */
async function asForeignWords(row: ConversationFileRow['row']): Promise<ConversationFileRow['row']> {
  const { text } = await redactSecrets(String(row['text']));
  return { ...row, text, origin: 'tool' };
}

function foreign(table: string, line: number): StoreError {
  return invalid(line, `a row of ${table} belongs to another conversation`);
}

/**
 * A value that Postgres does not take, a row that is there twice, and one that the fences of the log do not admit are the
 * file's fault. The words of Postgres hold the value and are left out, the cause too; those of the fences hold ids and numbers.
 */
function refused(error: unknown, line: number): unknown {
  if (!(error instanceof postgres.PostgresError)) return error;
  const { table_name: table, column_name: column, code, message } = error;
  if (code.startsWith('HF')) {
    const what = message.replace(/^conversation \S+: /u, '');
    return invalid(line, `it does not follow from the lines before (${what}): one is missing, doubled or changed`);
  }
  if (!/^2[23]/.test(code)) return error;
  const place = [table, column].filter((each) => each !== undefined).join('.');
  return invalid(line, `Postgres refuses a value${place === '' ? '' : ` of ${place}`} (SQLSTATE ${code})`);
}
