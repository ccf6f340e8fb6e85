import { NO_MEASUREMENTS } from '../../context/log/measurement-arithmetic.ts';
import { measureContent } from '../../context/log/measure.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import type { Transaction } from '../database/database.ts';
import type { OriginalReference } from '../log/entries.ts';
import { insertEntry } from '../log/entry-writer.ts';
import { markImported } from './import-conversation.ts';
import type { MemoryScope } from '../memory/memories.ts';
import { termsOf } from '../memory/memory-terms.ts';
import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import type { ConversationSettings } from '../messages/messages.ts';
import { LogRecorder, RecordingError, snapshotElsewhere } from '../log/record-log.ts';
import type { WriterSource } from '../database/transaction.ts';
import { DEFAULT_TURN_TASK_QUEUE } from '../../turn/temporal-names.ts';
import { recountTotals } from '../attempts/usage.ts';
import { invalid } from './read-file.ts';
import type { FileRow } from './read-file.ts';
import { RowWriter } from './row-writer.ts';
import { FILE_ROWS, isFileTable, rowOf } from './rows.ts';
import type { RowOf } from './rows.ts';

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
  private readonly rows: RowWriter;
  private readonly ofConversation: { readonly conversation_id: string };
  private readonly contents = new Map<string, OriginalReference & { stored: number; pieces: number }>();
  private readonly turns = new Set<number>();
  private entries = 0;
  private head: string | null = null;
  private branch = 0;
  private readonly compactions: RowOf<'compactions'>[] = [];
  /** By compaction and number. */
  private readonly parts = new Set<string>();
  /** How many, by compaction. */
  private readonly operations = new Map<string, number>();
  private state: RowOf<'conversations'> | null = null;

  constructor(source: WriterSource, conversationId: string, request: ImportExportedRequest) {
    this.sql = source.sql;
    this.conversationId = conversationId;
    this.ofConversation = { conversation_id: conversationId };
    this.request = request;
    this.rows = new RowWriter(source.sql);
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
    if (!isFileTable(table)) throw invalid(line, `there is no table ${JSON.stringify(table)} in such a file`);
    if (this.state !== null) throw invalid(line, 'the conversation itself comes last');
    switch (table) {
      case 'contents': {
        const content = rowOf(FILE_ROWS[table], file);
        const { id, bytes, missing_bytes: missingBytes } = content;
        this.contents.set(id, { contentId: id, bytes, missingBytes, stored: 0, pieces: 0 });
        return this.rows.insert(table, { ...content, ...this.ofConversation });
      }
      case 'content_pieces':
        return this.addPiece(rowOf(FILE_ROWS[table], file), line);
      case 'entries':
        return this.addEntry(rowOf(FILE_ROWS[table], file), line);
      case 'compactions':
        return this.addCompaction(rowOf(FILE_ROWS[table], file), line);
      case 'compaction_parts': {
        const part = rowOf(FILE_ROWS[table], file);
        this.parts.add(`${part.compaction_id} ${part.number}`);
        const { epoch } = this.recorder;
        return this.rows.insert(table, { ...part, ...this.ofConversation, epoch, state: 'written' });
      }
      case 'compaction_operations': {
        const operation = rowOf(FILE_ROWS[table], file);
        this.operations.set(operation.compaction_id, (this.operations.get(operation.compaction_id) ?? 0) + 1);
        return this.rows.insert(table, { ...operation, ...this.ofConversation });
      }
      case 'branches':
      case 'branch_summaries':
        return this.rows.insert(table, { ...rowOf(FILE_ROWS[table], file), ...this.ofConversation });
      case 'memories':
        return this.addMemory(rowOf(FILE_ROWS[table], file));
      case 'conversations':
        this.state = rowOf(FILE_ROWS[table], file);
    }
  }

  async finish(): Promise<ImportedFile> {
    const { sql, conversationId, state, turns, entries } = this;
    if (state === null) throw new RecordingError('the conversation itself is missing');
    for (const { bytes, stored } of this.contents.values()) {
      if (bytes !== stored) throw new RecordingError('a piece of an original is missing, doubled or changed');
    }
    for (const compaction of this.compactions) await this.tellCompaction(compaction);
    await this.recorder.end();
    await this.requireOwnEntries();
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
    return { conversationId, turns: turns.size, entries, memories: await this.countMemories() };
  }

  /** People open an entry by its id alone, and the fences look at one conversation. */
  private async requireOwnEntries(): Promise<void> {
    const taken = await this.sql`
      select from entries e join entries o on o.id = e.id and o.conversation_id <> e.conversation_id
      where e.conversation_id = ${this.conversationId} limit 1`;
    if (taken.length > 0) throw new RecordingError("an entry has the id of another conversation's");
  }

  private async addPiece(row: RowOf<'content_pieces'>, line: number): Promise<void> {
    const original = this.contents.get(row.content_id);
    if (original === undefined) throw invalid(line, 'the original of the piece does not stand before it');
    if (row.number !== original.pieces)
      throw invalid(line, `piece ${original.pieces} comes next, and not ${row.number}`);
    original.pieces += 1;
    original.stored += Buffer.byteLength(row.data, 'base64');
    await this.rows.insert('content_pieces', row);
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
    const { id, turn, content, call_number: callNumber } = row;
    const [{ at } = { at: '' }] = await sql<{ at: string }[]>`
      select least(${row.created_at}::text::timestamptz, holdfast_now())::text as at`;
    const entry = { id, content, at };
    const original = row.original_id === null ? undefined : present(this.contents.get(row.original_id) ?? null);
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
          ...(original !== undefined && { original }),
        });
      case 'compaction':
        return recorder.marker(turn, { id, at, compactionId: present(row.compaction_id) });
      case 'branch_summary':
      case 'note': {
        const { turn: writer } = await recorder.writerFor(turn);
        const slot = present(row.kind === 'note' ? row.slot : 'plan');
        // Rules and memories are of the agent and the user here; a turn notes its own.
        const shown = slot === 'rules' || slot === 'memories' ? [] : content;
        const written = { id, turn: writer, createdAt: at, content: shown, measurements: measured(shown) };
        const key = row.note_key === null ? {} : { key: row.note_key };
        await insertEntry(
          sql,
          row.kind === 'note' ? { kind: 'note', slot, ...key, ...written } : { kind: 'branch_summary', ...written },
        );
      }
    }
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
    this.compactions.push({ turn, ...row });
    await this.rows.insert('compactions', { ...row, ...(await this.ofTurn(turn)), status: 'committed' });
  }

  /**
   * Whose words a memory rests on nobody can tell from a file: its entries are as easily made up. It is data until it is said
   * here, and holds no secret, as any that is remembered.
   */
  private async addMemory(row: RowOf<'memories'>): Promise<void> {
    const scopeName = this.request.memoryScopes[row.scope];
    if (scopeName === null) return;
    const { text } = await redactSecrets(row.text);
    const { tenant = DEFAULT_TENANT } = this.request;
    // No term has a comma, a quotation mark or a brace.
    const terms = `{${termsOf({ ...row, tenant, scopeName, text }).join(',')}}`;
    const here = { text, terms, tenant, scope_name: scopeName, origin: 'model', ...this.ofConversation };
    // A memory that the user stated again is another conversation's by now, and stays what he said last.
    await this.rows.insert('memories', { ...row, ...here }, 'on conflict (id, tenant) do nothing');
  }

  private async tellCompaction(row: RowOf<'compactions'>): Promise<void> {
    if (row.plan.parts.some(({ number }) => !this.parts.has(`${row.id} ${number}`))) {
      throw new RecordingError(`a part of compaction ${row.number} is missing`);
    }
    const writer = await this.recorder.writerFor(row.turn);
    await writer.event('compaction_committed', {
      compactionId: row.id,
      number: row.number,
      requestedForm: row.form,
      form: row.form,
      formNumber: row.form_number,
      fallback: row.form_number > 1,
      reason: row.reason,
      willRetry: row.reason === 'overflow',
      messagesRemoved: row.plan.droppedMessages,
      operations: this.operations.get(row.id) ?? 0,
      coveredThroughSequence: row.covered_through_sequence,
      firstKeptSequence: row.first_kept_sequence,
      tokensBefore: row.tokens_before,
      tokensAfter: row.tokens_after,
      tokensSaved: row.tokens_before - row.tokens_after,
      targets: null,
      proactive: null,
      guardedFrom: null,
      durationMilliseconds: 0,
    });
  }

  private async ofTurn(turn: number): Promise<Readonly<Record<string, unknown>>> {
    if (!this.turns.has(turn)) throw new RecordingError('no entry is of its turn');
    const { turnId, epoch } = (await this.recorder.writerFor(turn)).turn;
    return { ...this.ofConversation, turn_id: turnId, epoch };
  }

  private async countMemories(): Promise<ImportedFile['memories']> {
    const rows = await this.sql<(MemoryScope & { count: number })[]>`
      select scope, scope_name as "scopeName", count(*)::int as count from memories
      where conversation_id = ${this.conversationId} group by scope, scope_name order by scope, scope_name`;
    return [...rows];
  }
}

function measured(content: Parameters<typeof measureContent>[0]): ReturnType<typeof measureContent> {
  return content.length === 0 ? NO_MEASUREMENTS : measureContent(content);
}

/** A column that an entry of its kind has. */
function present<Value>(value: Value | null): Value {
  if (value === null) throw new RecordingError('an entry lacks what one of its kind has');
  return value;
}
