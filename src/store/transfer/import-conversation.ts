import { DEFAULT_TURN_TASK_QUEUE } from '../../turn/temporal-names.ts';
import type { ContentPart } from '../../context/log/content.ts';
import type { Database, Transaction } from '../database/database.ts';
import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import type { ConversationSettings } from '../messages/messages.ts';
import type { TurnSnapshot } from '../turns/new-turn.ts';
import { LogRecorder } from '../log/record-log.ts';
import { writeEvents } from '../database/transaction.ts';
import type { WriterSource } from '../database/transaction.ts';
import { recountTotals } from '../attempts/usage.ts';

/** One record of a conversation that took place elsewhere, in order. Each tool call has exactly one result before the next answer. */
export type ImportedRecord = UntimedRecord & {
  /** When it was said, becomes the entry's time (`entryTime`). Default: the recording does not say. */
  readonly at?: Date;
};

type UntimedRecord =
  | { readonly kind: 'user'; readonly turn: number; readonly content: readonly ContentPart[] }
  | {
      readonly kind: 'assistant';
      readonly turn: number;
      /** From 1 within its turn, without gaps. */
      readonly callNumber: number;
      readonly content: readonly ContentPart[];
      /** As the recording names it. Default: unknown. */
      readonly model?: string;
    }
  | {
      readonly kind: 'tool_result';
      readonly turn: number;
      readonly callNumber: number;
      readonly callIndex: number;
      readonly toolName: string;
      readonly isError: boolean;
      /** False: nobody recorded a result, and the content says so. */
      readonly recorded: boolean;
      readonly content: readonly ContentPart[];
    };

export interface ImportRequest {
  readonly conversationId: string;
  /** Default: `default`. */
  readonly tenant?: string;
  /** Queue of the workers whose it is. Default: `agent-turn`. */
  readonly taskQueue?: string;
  readonly agent: string;
  readonly settings: ConversationSettings;
  /** Of the agent as it is configured now; a turn that goes on with the conversation freezes its own. */
  readonly snapshot: TurnSnapshot;
  readonly records: AsyncIterable<ImportedRecord>;
}

export interface ImportedConversation {
  readonly turns: number;
  readonly entries: number;
}

const NO_BEGINNING = '[The recording begins with an answer.]';
/**
 * Makes a conversation of recorded entries, whole or not at all: one transaction, so that nobody sees
 * half of it and upkeep finds no turn to repair. Turns end as `completed`; model calls keep the
 * recorded model and no usage: nothing was paid here, and what the recording's provider counted belongs
 * to another agent's requests. Messages and entries have the times of the recording; turns, events and `active_at` have
 * that of the import, from which retention counts.
 */
export async function importConversation(sql: Database, request: ImportRequest): Promise<ImportedConversation> {
  const { conversationId, tenant = DEFAULT_TENANT, taskQueue = DEFAULT_TURN_TASK_QUEUE, agent, settings } = request;
  return writeEvents(sql, conversationId, async (source) => {
    // Records are read and measured in between, and one of them may have 50 MB. Nobody waits for a conversation that is not there yet.
    await source.sql`set local idle_in_transaction_session_timeout = 0`;
    await source.sql`
      insert into conversations (id, tenant, task_queue, agent, model, preset, workspace, user_name)
      values (${conversationId}, ${tenant}, ${taskQueue}, ${agent}, ${settings.model}, ${settings.preset}, ${settings.workspace}, ${settings.user})`;
    const [clock] = await source.sql<{ now: Date }[]>`select holdfast_now() as now`;
    const importer = new ConversationImporter(source, request, clock?.now ?? new Date());
    for await (const record of request.records) await importer.add(record);
    return importer.finish();
  });
}

/**
 * The time of an imported entry: as recorded, never before that of the entry before it, so that order of time is the
 * order of the log whatever a clock did meanwhile. A record without a time, or with one that lies ahead, counts as said right after
 * the one before it; before any time is known, at the import.
 */
export function entryTime(
  recorded: Date | undefined,
  { latest, importedAt }: { readonly latest: Date | null; readonly importedAt: Date },
): Date {
  if (recorded === undefined || recorded > importedAt) return latest ?? importedAt;
  return latest !== null && recorded < latest ? latest : recorded;
}

/** All that a conversation has by now came with an import. */
export async function markImported(sql: Transaction, conversationId: string): Promise<void> {
  await sql`
    update conversations set imported_through = (select max(e.sequence) from entries e where e.conversation_id = ${conversationId})
    where id = ${conversationId}`;
}

/** Writes recorded entries as turns that ran elsewhere. */
class ConversationImporter {
  private readonly recorder: LogRecorder;
  private readonly conversationId: string;
  private readonly sql: Transaction;
  private readonly importedAt: Date;
  private turns = 0;
  private entries = 0;
  /** Of the newest record that has a time. */
  private latest: Date | null = null;
  private first: Date | null = null;

  constructor(source: WriterSource, { conversationId, snapshot }: ImportRequest, importedAt: Date) {
    this.sql = source.sql;
    this.conversationId = conversationId;
    this.recorder = new LogRecorder(source, { conversationId, snapshot });
    this.importedAt = importedAt;
  }

  async add(record: ImportedRecord): Promise<void> {
    const at = this.moveClock(record.at);
    this.turns = record.turn;
    this.entries += 1;
    switch (record.kind) {
      case 'user':
        return this.recorder.message(record.turn, { content: record.content, at });
      case 'assistant':
        // A model is asked at an entry; a recording that begins with an answer has none.
        if (this.entries === 1) {
          await this.recorder.message(record.turn, { content: [{ type: 'text', text: NO_BEGINNING }], at });
        }
        return this.recorder.answer(record.turn, { ...record, at });
      case 'tool_result': {
        const { isError, recorded } = record;
        const outcome = recorded ? (isError ? 'failed' : 'succeeded') : 'outcome_unknown';
        return this.recorder.result(record.turn, { ...record, outcome, at });
      }
    }
  }

  async finish(): Promise<ImportedConversation> {
    await this.recorder.end();
    await recountTotals(this.sql, this.conversationId);
    await markImported(this.sql, this.conversationId);
    if (this.first !== null) {
      await this.sql`
        update conversations set created_at = ${this.first.toISOString()} where id = ${this.conversationId}`;
    }
    return { turns: this.turns, entries: this.entries };
  }

  private moveClock(recorded: Date | undefined): string {
    const { latest, importedAt } = this;
    const time = entryTime(recorded, { latest, importedAt });
    if (recorded !== undefined && recorded <= importedAt) this.latest = time;
    this.first ??= time;
    return time.toISOString();
  }
}
