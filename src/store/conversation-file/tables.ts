import type { Queries } from '../database.ts';

/** The first line of a file: what it holds, and by which schema. */
export interface ConversationFileHeader {
  readonly format: typeof CONVERSATION_FORMAT;
  /** Of this form of file. */
  readonly version: number;
  /** Number of the newest migration of the database that wrote it. */
  readonly schema: number;
  readonly conversationId: string;
}

export const CONVERSATION_FORMAT = 'holdfast-conversation';
/** 1 had no last line, 2 no checksum in it. */
export const CONVERSATION_FORMAT_VERSION = 3;

/** The last line: without it nobody could tell a file that was cut off between two lines from a whole one. */
export interface ConversationFileEnd {
  /** Lines between the header and this one. */
  readonly rows: number;
  /** SHA-256 of all lines before, each with a line feed at its end, in UTF-8; hexadecimal. */
  readonly sha256: string;
}

/** Each line between the first and the last: a row of a table, by column. */
export interface ConversationFileRow {
  readonly table: string;
  readonly row: Readonly<Record<string, unknown>>;
}

export interface ExportedTable {
  readonly name: string;
  /** Columns that the database gives anew. */
  readonly omitted?: readonly string[];
  /** Order of its rows. */
  readonly order: string;
  /** Which rows, with the conversation as $1. Default: those that name it. */
  readonly where?: string;
}

const OF_ITS_TURNS = 'turn_id in (select t.id from turns t where t.conversation_id = $1)';
const OF_ITS_COMPACTIONS = 'compaction_id in (select c.id from compactions c where c.conversation_id = $1)';

/**
 * Memories in force, and those whose chain of newer ones ends at such a one without leaving the conversation. Without the
 * memory of another conversation that took its place, one would come back to life, or name what the file does not hold.
 */
const MEMORIES_THAT_STAND_ALONE = `
  with recursive standing (id) as (
    select m.id from memories m where m.conversation_id = $1 and m.superseded_by is null
    union all
    select m.id from memories m join standing s on m.superseded_by = s.id where m.conversation_id = $1)
  select id from standing`;

/** What a turn does not write, before all else. */
export const TABLES_BEFORE: readonly ExportedTable[] = [
  {
    name: 'conversations',
    order: 'id',
    where: 'id = $1',
    omitted: ['imported_at', 'imported_through', 'is_unindexed'],
  },
  { name: 'branches', order: 'branch, ancestor' },
  { name: 'contents', order: 'id' },
  {
    name: 'content_pieces',
    order: 'content_id, number',
    where: 'content_id in (select o.id from contents o where o.conversation_id = $1)',
  },
  { name: 'messages', order: 'position', omitted: ['position', 'rung_at', 'rings'] },
];

/** Rows that name the epoch that wrote them; written epoch by epoch, so that the same fences admit them again. */
export const FENCED_TABLES: readonly ExportedTable[] = [
  { name: 'turns', order: 'id', omitted: ['looked_at'] },
  { name: 'model_calls', order: 'turn_id, call_number, attempt', where: OF_ITS_TURNS },
  { name: 'tool_calls', order: 'turn_id, call_number, call_index', where: OF_ITS_TURNS },
  { name: 'entries', order: 'sequence' },
  { name: 'decisions', order: 'turn_id, call_number, call_index', where: OF_ITS_TURNS, omitted: ['rung_at', 'rings'] },
  { name: 'branch_summaries', order: 'entry_id' },
  { name: 'compactions', order: 'created_at, id' },
  { name: 'compaction_parts', order: 'compaction_id, number', where: OF_ITS_COMPACTIONS },
  { name: 'events', order: 'number' },
];

export const TABLES_AFTER: readonly ExportedTable[] = [
  { name: 'compaction_kept_entries', order: 'compaction_id, entry_id', where: OF_ITS_COMPACTIONS },
  { name: 'compaction_operations', order: 'compaction_id, entry_sequence', where: OF_ITS_COMPACTIONS },
  { name: 'late_tool_results', order: 'turn_id, call_number, call_index, attempt', where: OF_ITS_TURNS },
  { name: 'memories', order: 'id', where: `id in (${MEMORIES_THAT_STAND_ALONE})`, omitted: ['terms'] },
];

/** Made from the log again by whoever imports, or of use only to who runs the turns (`provider_calls`, `idle_runs`). */
export const DERIVED_TABLES: readonly string[] = [
  'search_progress',
  'passages',
  'packed_outlines',
  'provider_calls',
  'idle_runs',
  'conversation_sizes',
];

export interface Column {
  readonly name: string;
  /** As SQL names it. */
  readonly type: string;
}

/** The columns of a table that a file holds, in their order. */
export async function readColumns(sql: Queries, table: ExportedTable): Promise<readonly Column[]> {
  const columns = await sql<Column[]>`
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type
    from pg_attribute a
    where a.attrelid = ${table.name}::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`;
  return columns.filter(({ name }) => table.omitted?.includes(name) !== true);
}

/** Types whose values JSON has; all others stand as Postgres writes them, so that no digit is lost. */
const IN_JSON: ReadonlySet<string> = new Set(['json', 'jsonb', 'boolean', 'integer', 'smallint']);

export function exportedExpression({ name, type }: Column): string {
  if (IN_JSON.has(type)) return `x."${name}"`;
  if (type === 'bytea') return `translate(encode(x."${name}", 'base64'), E'\\n', '')`;
  return `x."${name}"::text`;
}

export function importedExpression({ type }: Column, parameter: number): string {
  return type === 'bytea' ? `decode($${parameter}::text, 'base64')` : `$${parameter}::text::${type}`;
}

export function importedValue({ type }: Column, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  // A string of a type that JSON has is JSON too; one of another type is the value as Postgres writes it.
  return typeof value === 'string' && type !== 'json' && type !== 'jsonb' ? value : JSON.stringify(value);
}

/** Number of the newest migration that the database has. */
export async function readSchemaNumber(sql: Queries): Promise<number> {
  const [row] = await sql<{ number: number }[]>`select left(max(name), 6)::integer as number from migrations`;
  return row?.number ?? 0;
}
