import postgres from 'postgres';
import { z } from 'zod';
import { rulesWithPins } from '../../context/log/pins.ts';
import { committedEvent } from '../compactions/commit-compaction.ts';
import { getCompaction } from '../compactions/compactions.ts';
import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import type { Database, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { requireCurrentSchema } from '../database/migrate.ts';
import { writeEvents } from '../database/transaction.ts';
import { readPins } from '../log/pins.ts';
import { LogRecorder, RecordingError } from '../log/record-log.ts';
import type { RecordedConversation, RecordedEntry } from '../log/record-log.ts';
import { jsonText } from '../log/stored-text.ts';
import { writeMemory } from '../memory/memories.ts';
import type { MemoryScope, MemoryToInsert } from '../memory/memories.ts';
import { checkRow, isJson } from './check-row.ts';
import { invalid } from './conversation-file.ts';
import type { FileRow } from './conversation-file.ts';
import { FILE_TABLES } from './file-tables.ts';

export interface ImportRequest extends Omit<RecordedConversation, 'conversationId'> {
  /** Where memories of the file go, by their scope; those of a scope without a name are left out. */
  readonly memoryScopes: Readonly<Record<MemoryScope['scope'], string | null>>;
}

export interface ImportedFile {
  readonly conversationId: string;
  readonly turns: number;
  readonly entries: number;
  readonly pins: number;
  /** How many memories came with it, and who shares them. */
  readonly memories: readonly (MemoryScope & { readonly count: number })[];
}

interface Entry extends RecordedEntry {
  readonly sequence: number;
  readonly branch: number;
  readonly parentId: string | null;
  readonly originalId?: string | null;
}

interface FileImport extends ImportRequest {
  readonly conversationId: string;
  readonly sql: Transaction;
  readonly recorder: LogRecorder;
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>;
  /** The entry before. */
  previous: Entry | null;
}

/**
 * Stores the rows of a file, that of the conversation first, whole or not at all: entries pass the fences that those of a turn pass;
 * references are checked at the end. Search indexes it afterwards.
 * @throws StoreError `conversation_file_invalid` with the line; `conversation_exists`, of a file that is whole
 */
export async function importRows(
  sql: Database,
  request: ImportRequest,
  rows: AsyncIterator<FileRow> & AsyncIterable<FileRow>,
): Promise<ImportedFile> {
  const first = await rows.next();
  const { id: conversationId, ...conversation } = first.done === true ? {} : first.value.row;
  if (typeof conversationId !== 'string' || !isId(conversationId)) throw invalid(1, 'it names no conversation');
  return writeEvents(sql, conversationId, async (source) => {
    await source.sql`set constraints all deferred`;
    await requireCurrentSchema(source.sql);
    const recorder = new LogRecorder(source, { ...request, conversationId });
    const isNew = await recorder.begin();
    const columns = await readColumns(source.sql, conversationId);
    const file: FileImport = { ...request, conversationId, sql: source.sql, recorder, columns, previous: null };
    let line = 1;
    try {
      checkRow({ table: 'conversations', row: conversation, line }, columns.get('conversations'));
      for await (const row of rows) {
        ({ line } = row);
        // Read to the end all the same: whoever makes room for a file that is not whole loses the only good copy.
        if (isNew) await addRow(file, row);
      }
      if (isNew) return await finish(file, conversation);
    } catch (error) {
      throw faultOfFile(error, line);
    }
    throw new StoreError(
      'conversation_exists',
      `conversation ${conversationId} is in this database already; the file is whole, and nothing was changed`,
    );
  });
}

/** What Postgres and the fences refuse is the file's fault. The words of Postgres hold the value and are left out. */
function faultOfFile(error: unknown, line: number): unknown {
  if (error instanceof RecordingError) return invalid(line, error.message);
  if (error instanceof RangeError) return invalid(line, 'a value is nested too deeply');
  if (!(error instanceof postgres.PostgresError) || !/^(?:2[23]|HF)/u.test(error.code)) return error;
  return invalid(line, `Postgres refuses a value of ${error.table_name ?? 'a table'} (SQLSTATE ${error.code})`);
}

/** Which columns a file may hold: those that an export reads. */
async function readColumns(sql: Transaction, conversationId: string): Promise<FileImport['columns']> {
  const tables = Object.entries(FILE_TABLES).map(async ([table, query]) => {
    const { columns } = await sql.unsafe(`${query} limit 0`, [conversationId]);
    return [table, new Set(columns.map(({ name }) => name))] as const;
  });
  return new Map(await Promise.all(tables));
}

async function addRow(file: FileImport, { table, row, line }: FileRow): Promise<void> {
  checkRow({ table, row, line }, file.columns.get(table));
  const { recorder } = file;
  switch (table) {
    case 'conversations':
      throw new RecordingError('the conversation itself comes first');
    case 'entries':
      return addEntry(file, z.custom<Entry>().parse(row));
    case 'content_pieces':
      return addPiece(file, row);
    case 'memories':
      return addMemory(file, z.custom<MemoryToInsert>().parse(row));
    case 'compactions': {
      const { turn, ...compaction } = row;
      const { epoch } = recorder.current.turn;
      await insert(file, table, { ...compaction, turnId: recorder.turnIdOf(turn), epoch, status: 'committed' });
      return tellCompaction(file, row);
    }
    case 'compaction_parts':
      return insert(file, table, { ...row, epoch: recorder.current.turn.epoch, state: 'written' });
    default:
      return insert(file, table, row);
  }
}

/** Of Postgres: a value whose type its column decides, so that microseconds of a time stay. */
const UNKNOWN_TYPE = 705;

function valuesOf({ sql }: FileImport, row: object) {
  const values = Object.entries(row).map(([name, value]: [string, unknown]) => {
    const written = value !== null && isJson(name) ? jsonText(value) : value;
    return [
      postgres.fromCamel(name),
      typeof written === 'string' ? sql.typed(written, UNKNOWN_TYPE) : written,
    ] as const;
  });
  return sql(Object.fromEntries(values));
}

async function insert(file: FileImport, table: string, row: object): Promise<void> {
  const { sql, conversationId } = file;
  await sql`insert into ${sql(table)} ${valuesOf(file, { ...row, conversationId })}`;
}

async function addPiece(
  { sql, conversationId }: FileImport,
  { contentId, number, data }: FileRow['row'],
): Promise<void> {
  const { count } = await sql`
    insert into content_pieces (content_id, number, data)
    select o.id, ${Number(number)}, decode(${String(data)}, 'base64') from contents o
    where o.id = ${String(contentId)} and o.conversation_id = ${conversationId}`;
  if (count === 0) throw new RecordingError('the original of the piece does not stand before it');
}

async function addEntry(file: FileImport, row: Entry): Promise<void> {
  const { sequence, parentId, branch, originalId: contentId, ...entry } = row;
  const { sequence: last, id: head, branch: current } = file.previous ?? { sequence: 0, id: null, branch: 0 };
  if (sequence !== last + 1)
    throw new RecordingError(`entry ${last + 1} comes next, and not ${sequence}: one is missing, doubled or moved`);
  if (parentId !== head || branch !== current) {
    file.recorder.requireResults();
    await file.sql`
      update conversations set head_entry_id = ${parentId}, branch = ${branch} where id = ${file.conversationId}`;
  }
  file.previous = row;
  // Memories and the agent's own rules are of the agent and the user here; a turn notes them. Pins are the conversation's.
  const content = row.slot === 'memories' ? [] : row.slot === 'rules' ? rulesWithPins([], row.content) : row.content;
  const original = contentId == null ? {} : { original: { contentId, bytes: 0, missingBytes: 0 } };
  return file.recorder.record({ ...entry, content, ...original });
}

/**
 * Whose words a memory rests on nobody can tell from a file: its entries are as easily made up. It is data until it is said
 * here, and holds no secret, as any that is remembered. One that the user stated again is another conversation's by now, and stays.
 */
async function addMemory(file: FileImport, row: MemoryToInsert): Promise<void> {
  const { tenant = DEFAULT_TENANT, conversationId } = file;
  const scopeName = file.memoryScopes[row.scope];
  if (scopeName !== null) await writeMemory(file.sql, { ...row, tenant, scopeName, conversationId, origin: 'model' });
}

async function finish(file: FileImport, conversation: FileRow['row']): Promise<ImportedFile> {
  const { sql, conversationId, recorder } = file;
  await recorder.finish();
  await requireWhole(file);
  await sql`
    update conversations c set ${valuesOf(file, conversation)},
      compactions = (select count(*) from compactions k where k.conversation_id = c.id)
    where id = ${conversationId}`;
  await sql`set constraints all immediate`; // Here and not at the commit: a row that is missing is the file's fault.
  const memories = await sql<(MemoryScope & { count: number })[]>`
    select scope, scope_name, count(*)::int as count from memories
    where conversation_id = ${conversationId} group by scope, scope_name order by scope, scope_name`;
  const { length: pins } = await readPins(sql, conversationId);
  return {
    conversationId,
    turns: recorder.turns,
    entries: file.previous?.sequence ?? 0,
    pins,
    memories: [...memories],
  };
}

async function tellCompaction({ sql, recorder }: FileImport, row: FileRow['row']): Promise<void> {
  const compaction = await getCompaction(sql, String(row['id']));
  const { form: requestedForm, turnId, plan } = compaction;
  const committed = { number: Number(row['number']), tokensAfter: Number(row['tokensAfter']) };
  const told = { ...committed, requestedForm, operations: plan.operations.length };
  const event = committedEvent(compaction, { ...told, guardedFrom: null, durationMilliseconds: 0 });
  await recorder.current.event('compaction_committed', event, turnId);
}

/** What no constraint says. People open an entry by its id alone, so it must be of one conversation. */
async function requireWhole({ sql, conversationId }: FileImport): Promise<void> {
  const [row] = await sql<{ problem: string | null }[]>`
    select case
      when exists (
        select from entries e join entries o on o.id = e.id and o.conversation_id <> e.conversation_id
        where e.conversation_id = c.id) then 'an entry has the id of another conversation''s'
      when exists (
        select from contents o left join content_pieces p on p.content_id = o.id
        where o.conversation_id = c.id group by o.id
        having coalesce(sum(length(p.data)), 0) <> o.bytes or count(p.number) <> coalesce(max(p.number) + 1, 0))
        then 'a piece of an original is missing, doubled or changed'
      when (select count(*) filter (where k.number > 0) <> max(k.number) from compactions k where k.conversation_id = c.id)
        then 'a compaction is missing'
      when exists (
        select from compactions k cross join lateral json_array_elements(k.plan -> 'parts') as part
        where k.conversation_id = c.id and not exists (
          select from compaction_parts p where p.compaction_id = k.id and p.number = (part ->> 'number')::int))
        then 'a part of a compaction is missing'
      end as problem
    from conversations c where c.id = ${conversationId}`;
  if (row?.problem != null) throw new RecordingError(row.problem);
}
