import { DEFAULT_TURN_TASK_QUEUE } from '../../turn/temporal-names.ts';
import type { ContentPart } from '../../context/log/content.ts';
import type { Database, Transaction } from '../database/database.ts';
import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import type { ConversationSettings } from '../messages/messages.ts';
import type { TurnSnapshot } from '../turns/new-turn.ts';
import { LogRecorder } from '../log/record-log.ts';
import { writeEvents } from '../database/transaction.ts';
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

const NO_BEGINNING = { content: [{ type: 'text', text: '[The recording begins with an answer.]' }] } as const;

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
    const importedAt = clock?.now ?? new Date();
    const recorder = new LogRecorder(source, request);
    let [turns, entries] = [0, 0];
    let [first, latest]: (Date | null)[] = [null, null];
    for await (const record of request.records) {
      const time = entryTime(record.at, { latest: latest ?? null, importedAt });
      if (record.at !== undefined && record.at <= importedAt) latest = time;
      first ??= time;
      const at = time.toISOString();
      // A model is asked at an entry; a recording that begins with an answer has none.
      if (entries === 0 && record.kind === 'assistant') await recorder.message(record.turn, { ...NO_BEGINNING, at });
      await write(recorder, record, at);
      turns = record.turn;
      entries += 1;
    }
    await recorder.end();
    await recountTotals(source.sql, conversationId);
    await markImported(source.sql, conversationId);
    await source.sql`
      update conversations set created_at = coalesce(${first?.toISOString() ?? null}::timestamptz, created_at)
      where id = ${conversationId}`;
    return { turns, entries };
  });
}

async function write(recorder: LogRecorder, record: ImportedRecord, at: string): Promise<void> {
  const { turn } = record;
  switch (record.kind) {
    case 'user':
      return recorder.message(turn, { content: record.content, at });
    case 'assistant':
      return recorder.answer(turn, { ...record, at });
    case 'tool_result': {
      const outcome = record.recorded ? (record.isError ? 'failed' : 'succeeded') : 'outcome_unknown';
      return recorder.result(turn, { ...record, outcome, at });
    }
  }
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
