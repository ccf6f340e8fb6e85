import postgres from 'postgres';
import { rulesWithPins } from '../../context/log/pins.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import { committedEvent } from '../compactions/commit-compaction.ts';
import { getCompaction } from '../compactions/compactions.ts';
import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import type { Database, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { requireCurrentSchema } from '../database/migrate.ts';
import { writeEvents } from '../database/transaction.ts';
import { readPins } from '../log/pins.ts';
import { LogRecorder, RecordingError, snapshotElsewhere } from '../log/record-log.ts';
import type { RecordedConversation } from '../log/record-log.ts';
import { jsonText } from '../log/stored-text.ts';
import type { MemoryScope } from '../memory/memories.ts';
import { termsOf } from '../memory/memory-terms.ts';
import { invalid, openFile, ownId, withOwnIds } from './conversation-file.ts';
import type { FileRow } from './conversation-file.ts';
import { isFileTable, parseRow } from './format.ts';
import type { FileTable, RowOf } from './format.ts';

export interface ImportExportedRequest extends Omit<RecordedConversation, 'conversationId' | 'snapshot'> {
  readonly lines: AsyncIterable<string>;
  /** Where memories of the file go, by their scope; those of a scope without a name are left out. */
  readonly memoryScopes: Readonly<Record<MemoryScope['scope'], string | null>>;
  /** Whether conversation, entries and summaries get ids of the tenant. Default: those of the file. */
  readonly ownIds?: boolean;
}

export interface ImportedFile {
  readonly conversationId: string;
  readonly turns: number;
  readonly entries: number;
  readonly pins: number;
  /** How many memories came with it, and who shares them. */
  readonly memories: readonly (MemoryScope & { readonly count: number })[];
}

interface FileImport extends ImportExportedRequest {
  readonly conversationId: string;
  readonly sql: Transaction;
  readonly recorder: LogRecorder;
  entries: number;
  head: string | null;
  branch: number;
  state: RowOf<'conversations'> | null;
}

/**
 * Stores what `exportConversation` wrote, whole or not at all: its entries pass the fences that those of a turn pass; references are
 * checked at the end. Search indexes it afterwards.
 * @throws StoreError `conversation_file_invalid` with the line; `conversation_exists`, of a file that is whole
 */
export async function importExportedConversation(sql: Database, request: ImportExportedRequest): Promise<ImportedFile> {
  const { tenant = DEFAULT_TENANT, ownIds = false } = request;
  const { conversationId: id, rows } = await openFile(request.lines);
  const conversationId = ownIds ? ownId(tenant, id) : id;
  return writeEvents(sql, conversationId, async (source) => {
    await source.sql`set constraints all deferred`;
    await source.sql`set local timezone to 'UTC'`;
    await requireCurrentSchema(source.sql);
    const recorder = new LogRecorder(source, { ...request, conversationId, snapshot: snapshotElsewhere(request) });
    const isNew = await recorder.begin();
    const start = { entries: 0, head: null, branch: 0, state: null };
    const file: FileImport = { ...request, ...start, conversationId, sql: source.sql, recorder };
    let line = 1;
    try {
      for await (const row of rows) {
        ({ line } = row);
        // Read to the end all the same: whoever makes room for a file that is not whole loses the only good copy.
        if (isNew) await addRow(file, ownIds ? withOwnIds(tenant, row) : row);
      }
      if (isNew) return await finish(file);
    } catch (error) {
      throw faultOfFile(error, line);
    }
    throw new StoreError(
      'conversation_exists',
      `conversation ${conversationId} is in this database already; the file is whole, and nothing was changed`,
    );
  });
}

/** What Postgres and the fences refuse is the file's fault. The words of Postgres hold the value and are left out; those of the fences do not. */
function faultOfFile(error: unknown, line: number): unknown {
  if (error instanceof RecordingError) return invalid(line, error.message);
  if (error instanceof RangeError) return invalid(line, 'a value is nested too deeply');
  if (!(error instanceof postgres.PostgresError)) return error;
  const { table_name: table = 'a table', code, message } = error;
  if (code.startsWith('HF'))
    return invalid(line, `it does not follow from the lines before: ${message.replace(/^conversation \S+: /u, '')}`);
  return /^2[23]/u.test(code) ? invalid(line, `Postgres refuses a value of ${table} (SQLSTATE ${code})`) : error;
}

async function addRow(file: FileImport, { table, row }: FileRow): Promise<void> {
  if (!isFileTable(table)) throw new RecordingError(`there is no table ${JSON.stringify(table)} in such a file`);
  if (file.state !== null) throw new RecordingError('the conversation itself comes last');
  const { recorder } = file;
  switch (table) {
    case 'compactions': {
      const { turn, ...compaction } = parseRow(table, row);
      const { epoch } = recorder.current.turn;
      return insert(file, table, { ...compaction, turnId: recorder.turnIdOf(turn), epoch, status: 'committed' });
    }
    case 'compaction_parts':
      return insert(file, table, { ...parseRow(table, row), epoch: recorder.current.turn.epoch, state: 'written' });
    case 'content_pieces':
      return addPiece(file, parseRow(table, row));
    case 'entries':
      return addEntry(file, parseRow(table, row));
    case 'memories':
      return addMemory(file, parseRow(table, row));
    case 'conversations':
      file.state = parseRow(table, row);
      return;
    default:
      return insert(file, table, parseRow(table, row));
  }
}

/** Postgres's number of a value whose type its column decides: microseconds of a time stay, and JSON stays as it is written. */
const UNKNOWN_TYPE = 705;
const JSON_COLUMN = /^(?:files|focus|plan|summary|text)$/u;

async function insert({ sql, conversationId }: FileImport, table: FileTable, row: object): Promise<void> {
  const columns = Object.entries({ ...row, conversationId }).map(([column, value]: [string, unknown]) => {
    const written = value === null || !JSON_COLUMN.test(column) ? value : jsonText(value);
    const typed = typeof written === 'string' ? sql.typed(written, UNKNOWN_TYPE) : written;
    return [postgres.fromCamel(column), typed] as const;
  });
  const isTaken = table === 'memories' ? sql`on conflict (id, tenant) do nothing` : sql``;
  await sql`insert into ${sql(table)} ${sql(Object.fromEntries(columns))} ${isTaken}`;
}

async function addPiece({ sql, conversationId }: FileImport, row: RowOf<'content_pieces'>): Promise<void> {
  const { count } = await sql`
    insert into content_pieces (content_id, number, data)
    select o.id, ${row.number}, ${Buffer.from(row.data, 'base64')} from contents o
    where o.id = ${row.contentId} and o.conversation_id = ${conversationId}`;
  if (count === 0) throw new RecordingError('the original of the piece does not stand before it');
}

async function addEntry(file: FileImport, row: RowOf<'entries'>): Promise<void> {
  const { sql, recorder, conversationId } = file;
  const { sequence, parentId, branch, entryKind: kind, originalId: contentId, createdAt: at, ...entry } = row;
  file.entries += 1;
  if (sequence !== file.entries)
    throw new RecordingError(`entry ${file.entries} comes next, and not ${sequence}: one is missing, doubled or moved`);
  if (parentId !== file.head || branch !== file.branch) {
    recorder.requireResults();
    await sql`update conversations set head_entry_id = ${parentId}, branch = ${branch} where id = ${conversationId}`;
  }
  [file.head, file.branch] = [entry.id, branch];
  // Memories and the agent's own rules are of the agent and the user here; a turn notes them. Pins are the conversation's.
  const content = row.slot === 'memories' ? [] : row.slot === 'rules' ? rulesWithPins([], row.content) : row.content;
  const original = contentId === null ? {} : { original: { contentId, bytes: 0, missingBytes: 0 } };
  return recorder.record({ ...entry, kind, at, content, ...original });
}

/**
 * Whose words a memory rests on nobody can tell from a file: its entries are as easily made up. It is data until it is said
 * here, and holds no secret, as any that is remembered. One that the user stated again is another conversation's by now, and stays.
 */
async function addMemory(file: FileImport, row: RowOf<'memories'>): Promise<void> {
  const scopeName = file.memoryScopes[row.scope];
  if (scopeName === null) return;
  const { text } = await redactSecrets(row.text);
  const { tenant = DEFAULT_TENANT } = file;
  // No term has a comma, a quotation mark or a brace.
  const terms = `{${termsOf({ ...row, tenant, scopeName, text }).join(',')}}`;
  await insert(file, 'memories', { ...row, text, terms, tenant, scopeName, origin: 'model' });
}

async function finish(file: FileImport): Promise<ImportedFile> {
  const { sql, conversationId, recorder, state, entries } = file;
  if (state === null) throw new RecordingError('the conversation itself is missing');
  await tellCompactions(file);
  await recorder.finish();
  await requireWhole(file);
  await sql`
    update conversations c set branch = ${state.branch}, head_entry_id = ${state.headEntryId},
      compactions = (select count(*) from compactions k where k.conversation_id = c.id),
      compactions_over = ${state.compactionsOver}, compaction_id = ${state.compactionId},
      view_offset = ${state.viewOffset}::text::measurements,
      created_at = least(${state.createdAt}::text::timestamptz, holdfast_now()),
      active_at = least(${state.activeAt}::text::timestamptz, holdfast_now())
    where id = ${conversationId}`;
  await sql`set constraints all immediate`; // Here and not at the commit: a row that is missing is the file's fault.
  const memories = await sql<(MemoryScope & { count: number })[]>`
    select scope, scope_name, count(*)::int as count from memories
    where conversation_id = ${conversationId} group by scope, scope_name order by scope, scope_name`;
  const { length: pins } = await readPins(sql, conversationId);
  return { conversationId, turns: recorder.turns, entries, pins, memories: [...memories] };
}

async function tellCompactions({ sql, conversationId, recorder }: FileImport): Promise<void> {
  const rows = await sql<{ id: string; number: number; tokensAfter: number }[]>`
    select id, number, tokens_after from compactions where conversation_id = ${conversationId} order by number`;
  for (const { id, ...committed } of rows) {
    const compaction = await getCompaction(sql, id);
    const { form: requestedForm, turnId, plan } = compaction;
    const told = { ...committed, requestedForm, operations: plan.operations.length };
    const event = committedEvent(compaction, { ...told, guardedFrom: null, durationMilliseconds: 0 });
    await recorder.current.event('compaction_committed', event, turnId);
  }
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
