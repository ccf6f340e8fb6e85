import postgres from 'postgres';
import { rulesWithPins } from '../../context/log/pins.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import { committedEvent } from '../compactions/commit-compaction.ts';
import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import type { Database, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { requireCurrentSchema } from '../database/migrate.ts';
import { writeEvents } from '../database/transaction.ts';
import type { WriterSource } from '../database/transaction.ts';
import { readPins } from '../log/pins.ts';
import { LogRecorder, RecordingError, snapshotElsewhere } from '../log/record-log.ts';
import type { RecordedConversation } from '../log/record-log.ts';
import { jsonText } from '../log/stored-text.ts';
import type { MemoryScope } from '../memory/memories.ts';
import { termsOf } from '../memory/memory-terms.ts';
import { FILE_TABLES, isJson } from './format.ts';
import type { FileTable, RowOf } from './format.ts';
import { invalid, readConversationFile, rowOf } from './read-file.ts';
import type { FileRow } from './read-file.ts';

export interface ImportExportedRequest extends Omit<RecordedConversation, 'conversationId' | 'snapshot'> {
  readonly lines: AsyncIterable<string>;
  /** Where memories of the file go, by their scope; those of a scope without a name are left out. */
  readonly memoryScopes: Readonly<Record<MemoryScope['scope'], string | null>>;
}

type FileRequest = ImportExportedRequest & { readonly conversationId: string };

export interface ImportedFile {
  readonly conversationId: string;
  readonly turns: number;
  readonly entries: number;
  readonly pins: number;
  /** How many memories came with it, and who shares them. */
  readonly memories: readonly (MemoryScope & { readonly count: number })[];
}

/**
 * Stores what `exportConversation` wrote, whole or not at all: its entries pass the fences that those of a turn pass; references are
 * checked at the end. Search indexes it afterwards.
 *
 * @throws StoreError `conversation_file_invalid` with the line; `conversation_exists`, of a file that is whole
 */
export async function importExportedConversation(sql: Database, request: ImportExportedRequest): Promise<ImportedFile> {
  const { conversationId, rows } = await readConversationFile(request.lines);
  return writeEvents(sql, conversationId, async (source) => {
    await source.sql`set constraints all deferred`;
    await source.sql`set local timezone to 'UTC'`;
    await requireCurrentSchema(source.sql);
    const recorder = new LogRecorder(source, { ...request, conversationId, snapshot: snapshotElsewhere(request) });
    const isNew = await recorder.begin();
    const importer = new FileImporter(source, recorder, { ...request, conversationId });
    let line = 1;
    try {
      for await (const row of rows) {
        ({ line } = row);
        // Read to the end all the same: whoever makes room for a file that is not whole loses the only good copy.
        if (isNew) await importer.add(row);
      }
      if (isNew) return await importer.finish();
    } catch (error) {
      throw faultOfFile(error, line);
    }
    throw new StoreError(
      'conversation_exists',
      `conversation ${conversationId} is in this database already; the file is whole, and nothing was changed`,
    );
  });
}

/**
 * A value that Postgres does not take, a row that is there twice, and one that the fences of the log do not admit are the
 * file's fault. The words of Postgres hold the value and are left out, the cause too; those of the fences hold ids and numbers.
 */
function faultOfFile(error: unknown, line: number): unknown {
  if (error instanceof RecordingError) return invalid(line, error.message);
  if (error instanceof RangeError) return invalid(line, 'a value is nested too deeply');
  if (!(error instanceof postgres.PostgresError)) return error;
  const { table_name: table, column_name: column, code, message } = error;
  if (code.startsWith('HF')) {
    const what = message.replace(/^conversation \S+: /u, '');
    return invalid(line, `it does not follow from the lines before (${what}): one is missing, doubled or changed`);
  }
  if (!/^2[23]/u.test(code)) return error;
  const place = [table, column].filter((each) => each !== undefined).join('.');
  return invalid(line, `Postgres refuses a value${place === '' ? '' : ` of ${place}`} (SQLSTATE ${code})`);
}

/** Postgres's number of a value whose type its column decides: microseconds of a time stay, and JSON stays as it is written. */
const UNKNOWN_TYPE = 705;

/** Writes the rows of a file, one after another. */
class FileImporter {
  private readonly sql: Transaction;
  private readonly recorder: LogRecorder;
  private readonly request: FileRequest;
  private readonly originals = new Set<string>();
  private readonly turns = new Set<number>();
  private entries = 0;
  private head: string | null = null;
  private branch = 0;
  private readonly compactions: RowOf<'compactions'>[] = [];
  private state: RowOf<'conversations'> | null = null;

  constructor({ sql }: WriterSource, recorder: LogRecorder, request: FileRequest) {
    this.sql = sql;
    this.recorder = recorder;
    this.request = request;
  }

  async add(file: FileRow): Promise<void> {
    const { table, line } = file;
    if (this.state !== null) throw invalid(line, 'the conversation itself comes last');
    switch (table) {
      case 'contents': {
        const row = rowOf(FILE_TABLES[table].row, file);
        this.originals.add(row.id);
        return this.insert(table, row);
      }
      case 'content_pieces': {
        const { data, ...row } = rowOf(FILE_TABLES[table].row, file);
        if (!this.originals.has(row.content_id))
          throw new RecordingError('the original of the piece does not stand before it');
        const { content_id: id, number } = row;
        await this
          .sql`insert into content_pieces (content_id, number, data) values (${id}, ${number}, ${Buffer.from(data, 'base64')})`;
        return;
      }
      case 'entries':
        return this.addEntry(rowOf(FILE_TABLES[table].row, file));
      case 'compactions':
        return this.addCompaction(rowOf(FILE_TABLES[table].row, file));
      case 'compaction_parts': {
        const { epoch } = this.recorder;
        return this.insert(table, { ...rowOf(FILE_TABLES[table].row, file), epoch, state: 'written' });
      }
      case 'compaction_operations':
      case 'branches':
      case 'branch_summaries':
        return this.insert(table, rowOf(FILE_TABLES[table].row, file));
      case 'memories':
        return this.addMemory(rowOf(FILE_TABLES[table].row, file));
      case 'conversations':
        this.state = rowOf(FILE_TABLES[table].row, file);
    }
  }

  async finish(): Promise<ImportedFile> {
    const { sql, state, turns, entries } = this;
    const { conversationId } = this.request;
    if (state === null) throw new RecordingError('the conversation itself is missing');
    for (const compaction of this.compactions) await this.tellCompaction(compaction);
    await this.recorder.finish();
    await this.requireWhole();
    await sql`
      update conversations set branch = ${state.branch}, head_entry_id = ${state.head_entry_id}, compactions = ${this.compactions.length},
        compactions_over = ${state.compactions_over}, compaction_id = ${state.compaction_id},
        view_offset = ${state.view_offset}::text::measurements,
        created_at = least(${state.created_at}::text::timestamptz, holdfast_now()),
        active_at = least(${state.active_at}::text::timestamptz, holdfast_now())
      where id = ${conversationId}`;
    await sql`set constraints all immediate`; // Here and not at the commit: a row that is missing is the file's fault.
    const memories = await sql<(MemoryScope & { count: number })[]>`
      select scope, scope_name, count(*)::int as count from memories
      where conversation_id = ${conversationId} group by scope, scope_name order by scope, scope_name`;
    const { length: pins } = await readPins(sql, conversationId);
    return { conversationId, turns: turns.size, entries, pins, memories: [...memories] };
  }

  /** What no constraint says. People open an entry by its id alone, so it must be of one conversation. */
  private async requireWhole(): Promise<void> {
    const [row] = await this.sql<{ problem: string | null }[]>`
      select case
        when exists (
          select from entries e join entries o on o.id = e.id and o.conversation_id <> e.conversation_id
          where e.conversation_id = c.id) then 'an entry has the id of another conversation''s'
        when exists (
          select from contents o left join content_pieces p on p.content_id = o.id
          where o.conversation_id = c.id group by o.id
          having coalesce(sum(length(p.data)), 0) <> o.bytes or count(p.number) <> coalesce(max(p.number) + 1, 0))
          then 'a piece of an original is missing, doubled or changed'
        when exists (
          select from compactions k cross join lateral json_array_elements(k.plan -> 'parts') as part
          where k.conversation_id = c.id and not exists (
            select from compaction_parts p where p.compaction_id = k.id and p.number = (part ->> 'number')::int))
          then 'a part of a compaction is missing'
        end as problem
      from conversations c where c.id = ${this.request.conversationId}`;
    if (row?.problem != null) throw new RecordingError(row.problem);
  }

  private async addEntry(row: RowOf<'entries'>): Promise<void> {
    const { sql, recorder } = this;
    this.entries += 1;
    if (row.sequence !== this.entries)
      throw new RecordingError(
        `entry ${this.entries} comes next, and not ${row.sequence}: one is missing, doubled or moved`,
      );
    await this.moveTo(row);
    this.turns.add(row.turn);
    const { id, turn, kind, slot, original_id: contentId } = row;
    if (contentId !== null && !this.originals.has(contentId)) throw new RecordingError('its original is missing');
    const [{ at } = { at: '' }] = await sql<{ at: string }[]>`
      select least(${row.created_at}::text::timestamptz, holdfast_now())::text as at`;
    return recorder.record({
      id,
      turn,
      kind,
      slot,
      at,
      // Memories and the agent's own rules are of the agent and the user here; a turn notes them. Pins are the conversation's.
      content: slot === 'memories' ? [] : slot === 'rules' ? rulesWithPins([], row.content) : row.content,
      key: row.note_key,
      model: row.model,
      callNumber: row.call_number,
      callIndex: row.call_index,
      toolName: row.tool_name,
      outcome: row.outcome,
      compactionId: row.compaction_id,
      ...(contentId !== null && { original: { contentId, bytes: 0, missingBytes: 0 } }),
    });
  }

  /** The head and the branch that the entry was appended to. */
  private async moveTo({ id, parent_id: parent, branch }: RowOf<'entries'>): Promise<void> {
    if (parent !== this.head || branch !== this.branch) {
      this.recorder.requireResults();
      await this.sql`
        update conversations set head_entry_id = ${parent}, branch = ${branch} where id = ${this.request.conversationId}`;
    }
    this.head = id;
    this.branch = branch;
  }

  private async addCompaction({ turn, ...row }: RowOf<'compactions'>): Promise<void> {
    const next = this.compactions.length + 1;
    if (row.number !== next) throw new RecordingError(`compaction ${next} comes next, and not ${row.number}`);
    if (!this.turns.has(turn)) throw new RecordingError('no entry is of its turn');
    this.compactions.push({ turn, ...row });
    const { turnId, epoch } = (await this.recorder.writerFor(turn)).turn;
    await this.insert('compactions', { ...row, turn_id: turnId, epoch, status: 'committed' });
  }

  /**
   * Whose words a memory rests on nobody can tell from a file: its entries are as easily made up. It is data until it is said
   * here, and holds no secret, as any that is remembered. One that the user stated again is another conversation's by now, and stays.
   */
  private async addMemory(row: RowOf<'memories'>): Promise<void> {
    const scopeName = this.request.memoryScopes[row.scope];
    if (scopeName === null) return;
    const { text } = await redactSecrets(row.text);
    const { tenant = DEFAULT_TENANT } = this.request;
    // No term has a comma, a quotation mark or a brace.
    const terms = `{${termsOf({ ...row, tenant, scopeName, text }).join(',')}}`;
    await this.insert('memories', { ...row, text, terms, tenant, scope_name: scopeName, origin: 'model' });
  }

  private async tellCompaction(row: RowOf<'compactions'>): Promise<void> {
    const writer = await this.recorder.writerFor(row.turn);
    const [{ operations } = { operations: 0 }] = await this.sql<{ operations: number }[]>`
      select count(*)::int as operations from compaction_operations where compaction_id = ${row.id}`;
    const plan = {
      droppedMessages: row.plan.droppedMessages,
      coveredThroughSequence: row.covered_through_sequence,
      firstKeptSequence: row.first_kept_sequence,
    };
    const { id: compactionId, number, form, form_number: formNumber, reason } = row;
    const { tokens_before: tokensBefore, tokens_after: tokensAfter } = row;
    const told = { number, requestedForm: form, operations, tokensAfter, guardedFrom: null, durationMilliseconds: 0 };
    const compaction = { compactionId, form, formNumber, reason, plan, tokensBefore };
    await writer.event('compaction_committed', committedEvent(compaction, told));
  }

  private async insert(table: FileTable, row: object): Promise<void> {
    const { sql } = this;
    const columns = Object.entries({ ...row, conversation_id: this.request.conversationId });
    const values = columns.map(([name, value]: [string, unknown]) => {
      const written = value === null || !isJson(name) ? value : jsonText(value);
      return [name, typeof written === 'string' ? sql.typed(written, UNKNOWN_TYPE) : written] as const;
    });
    const isTaken = table === 'memories' ? sql`on conflict (id, tenant) do nothing` : sql``;
    await sql`insert into ${sql(table)} ${sql(Object.fromEntries(values))} ${isTaken}`;
  }
}
