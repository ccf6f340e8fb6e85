import { NO_MEASUREMENTS } from '../../context/log/measurement-arithmetic.ts';
import { measureContent } from '../../context/log/measure.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import { DEFAULT_TURN_TASK_QUEUE } from '../../turn/temporal-names.ts';
import { recountTotals } from '../attempts/usage.ts';
import { committedEvent } from '../compactions/commit-compaction.ts';
import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import type { Transaction } from '../database/database.ts';
import type { WriterSource } from '../database/transaction.ts';
import { insertEntry } from '../log/entry-writer.ts';
import { LogRecorder, RecordingError, snapshotElsewhere } from '../log/record-log.ts';
import { jsonText } from '../log/stored-text.ts';
import type { MemoryScope } from '../memory/memories.ts';
import { termsOf } from '../memory/memory-terms.ts';
import type { ConversationSettings } from '../messages/messages.ts';
import { FILE_TABLES } from './format.ts';
import type { FileTable, RowOf } from './format.ts';
import { markImported } from './import-conversation.ts';
import { invalid, rowOf } from './read-file.ts';
import type { FileRow } from './read-file.ts';

/** What a conversation of a file is to be here: of who imports it, and nothing of the file. */
export interface ImportExportedRequest {
  readonly lines: AsyncIterable<string>;
  /** Default: `default`. */
  readonly tenant?: string;
  /** Queue of the workers whose it is. Default: `agent-turn`. */
  readonly taskQueue?: string;
  readonly agent: string;
  readonly settings: ConversationSettings;
  /** Where memories of the file go, by their scope; those of a scope without a name are left out. */
  readonly memoryScopes: Readonly<Record<MemoryScope['scope'], string | null>>;
}

export interface ImportedFile {
  readonly conversationId: string;
  readonly turns: number;
  readonly entries: number;
  /** How many memories came with it, and who shares them. */
  readonly memories: readonly (MemoryScope & { readonly count: number })[];
}

/** Writes the rows of a file, one after another. */
export class FileImporter {
  private readonly sql: Transaction;
  private readonly conversationId: string;
  private readonly request: ImportExportedRequest;
  private readonly recorder: LogRecorder;
  private readonly types = new Map<FileTable, ReadonlyMap<string, string>>();
  private readonly originals = new Set<string>();
  private readonly turns = new Set<number>();
  private entries = 0;
  private head: string | null = null;
  private branch = 0;
  private readonly compactions: RowOf<'compactions'>[] = [];
  private state: RowOf<'conversations'> | null = null;

  constructor(source: WriterSource, conversationId: string, request: ImportExportedRequest) {
    this.sql = source.sql;
    this.conversationId = conversationId;
    this.request = request;
    this.recorder = new LogRecorder(source, { conversationId, snapshot: snapshotElsewhere(request) });
  }

  /** @returns false: the id is taken, perhaps by a conversation that this connection may not see */
  async begin(): Promise<boolean> {
    const { tenant = DEFAULT_TENANT, taskQueue = DEFAULT_TURN_TASK_QUEUE, agent, settings } = this.request;
    const { count } = await this.sql`
      insert into conversations (id, tenant, task_queue, agent, model, preset, workspace, user_name, imported_at)
      values (${this.conversationId}, ${tenant}, ${taskQueue}, ${agent}, ${settings.model}, ${settings.preset},
        ${settings.workspace}, ${settings.user}, holdfast_now())
      on conflict do nothing`;
    return count > 0;
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
        const row = rowOf(FILE_TABLES[table].row, file);
        if (this.originals.has(row.content_id)) return this.insert(table, row, {});
        throw invalid(line, 'the original of the piece does not stand before it');
      }
      case 'entries':
        return this.addEntry(rowOf(FILE_TABLES[table].row, file), line);
      case 'compactions':
        return this.addCompaction(rowOf(FILE_TABLES[table].row, file), line);
      case 'compaction_parts':
        return this.insert(table, {
          ...rowOf(FILE_TABLES[table].row, file),
          epoch: this.recorder.epoch,
          state: 'written',
        });
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
    const { sql, conversationId, state, turns, entries } = this;
    if (state === null) throw new RecordingError('the conversation itself is missing');
    for (const compaction of this.compactions) await this.tellCompaction(compaction);
    await this.recorder.end();
    await this.requireWhole();
    await sql`
      update conversations set branch = ${state.branch}, head_entry_id = ${state.head_entry_id}, compactions = ${this.compactions.length},
        compactions_over = ${state.compactions_over}, compaction_id = ${state.compaction_id},
        view_offset = ${state.view_offset}::text::measurements,
        created_at = least(${state.created_at}::text::timestamptz, holdfast_now()),
        active_at = least(${state.active_at}::text::timestamptz, holdfast_now())
      where id = ${conversationId}`;
    await recountTotals(sql, conversationId);
    await markImported(sql, conversationId);
    await sql`set constraints all immediate`; // Here and not at the commit: a row that is missing is the file's fault.
    const memories = await sql<(MemoryScope & { count: number })[]>`
      select scope, scope_name, count(*)::int as count from memories
      where conversation_id = ${conversationId} group by scope, scope_name order by scope, scope_name`;
    return { conversationId, turns: turns.size, entries, memories: [...memories] };
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
      from conversations c where c.id = ${this.conversationId}`;
    if (row?.problem != null) throw new RecordingError(row.problem);
  }

  private async addEntry(row: RowOf<'entries'>, line: number): Promise<void> {
    const { sql, recorder } = this;
    this.entries += 1;
    if (row.sequence !== this.entries)
      throw invalid(
        line,
        `entry ${this.entries} comes next, and not ${row.sequence}: one is missing, doubled or moved`,
      );
    await this.moveTo(row);
    this.turns.add(row.turn);
    const { id, turn, content, call_number: callNumber, original_id: originalId } = row;
    if (originalId !== null && !this.originals.has(originalId)) throw new RecordingError('its original is missing');
    const [{ at } = { at: '' }] = await sql<{ at: string }[]>`
      select least(${row.created_at}::text::timestamptz, holdfast_now())::text as at`;
    const entry = { id, content, at };
    switch (row.kind) {
      case 'user':
        return recorder.message(turn, entry);
      case 'assistant':
        return recorder.answer(turn, { ...entry, callNumber: present(callNumber), model: row.model });
      case 'tool_result':
        return recorder.result(turn, {
          ...entry,
          callNumber: present(callNumber),
          callIndex: present(row.call_index),
          toolName: present(row.tool_name),
          isError: present(row.is_error),
          outcome: present(row.outcome),
          ...(originalId !== null && { original: { contentId: originalId, bytes: 0, missingBytes: 0 } }),
        });
      case 'compaction':
        return recorder.marker(turn, { id, at, compactionId: present(row.compaction_id) });
      case 'branch_summary':
      case 'note':
        await this.addNote(row, at);
    }
  }

  /** Rules and memories are of the agent and the user here; a turn notes its own. */
  private async addNote({ id, turn, kind, slot, note_key: key, ...row }: RowOf<'entries'>, at: string): Promise<void> {
    const content = slot === 'rules' || slot === 'memories' ? [] : row.content;
    const measurements = content.length === 0 ? NO_MEASUREMENTS : measureContent(content);
    const entry = { id, turn: (await this.recorder.writerFor(turn)).turn, createdAt: at, content, measurements };
    await insertEntry(
      this.sql,
      kind === 'note'
        ? { kind, slot: present(slot), ...(key !== null && { key }), ...entry }
        : { kind: 'branch_summary', ...entry },
    );
  }

  /** The head and the branch that the entry was appended to. */
  private async moveTo({ id, parent_id: parent, branch }: RowOf<'entries'>): Promise<void> {
    if (parent !== this.head || branch !== this.branch) {
      this.recorder.requireResults();
      await this.sql`
        update conversations set head_entry_id = ${parent}, branch = ${branch} where id = ${this.conversationId}`;
    }
    this.head = id;
    this.branch = branch;
  }

  private async addCompaction({ turn, ...row }: RowOf<'compactions'>, line: number): Promise<void> {
    const next = this.compactions.length + 1;
    if (row.number !== next) throw invalid(line, `compaction ${next} comes next, and not ${row.number}`);
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

  /** A row whose values are as JSON has them: bytes in base64, what JSON has no type for as Postgres writes it. */
  private async insert(
    table: FileTable,
    row: object,
    of: object = { conversation_id: this.conversationId },
  ): Promise<void> {
    const columns = Object.entries({ ...row, ...of }).map(([name, value]: [string, unknown]) => ({ name, value }));
    const types = await this.typesOf(table);
    const typed = columns.map(({ name, value }) => ({ name, value, type: types.get(name) ?? 'text' }));
    const values = typed.map(({ type }, index) =>
      type === 'bytea' ? `decode($${index + 1}::text, 'base64')` : `$${index + 1}::text::${type}`,
    );
    await this.sql.unsafe(
      `insert into ${table} (${typed.map(({ name }) => `"${name}"`).join(', ')}) values (${values.join(', ')})
        ${table === 'memories' ? 'on conflict (id, tenant) do nothing' : ''}`,
      typed.map(({ type, value }) => parameter(type, value)),
      { prepare: true },
    );
  }

  private async typesOf(table: FileTable): Promise<ReadonlyMap<string, string>> {
    const known = this.types.get(table);
    if (known !== undefined) return known;
    const columns = await this.sql<{ name: string; type: string }[]>`
      select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`;
    const types = new Map(columns.map(({ name, type }) => [name, type]));
    this.types.set(table, types);
    return types;
  }
}

function parameter(type: string, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' && type !== 'json' && type !== 'jsonb' ? value : jsonText(value);
}

/** A column that an entry of its kind has. */
function present<Value>(value: Value | null): Value {
  if (value === null) throw new RecordingError('an entry lacks what one of its kind has');
  return value;
}
