import type { ContentPart, ToolCallPart } from '../context/content.ts';
import { measureContent } from '../context/measure.ts';
import { NO_MEASUREMENTS } from '../context/measurement-arithmetic.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import { insertTurn } from './new-turn.ts';
import type { TurnSnapshot } from './new-turn.ts';
import type { Database, Transaction } from './database.ts';
import { insertEntry } from './entry-writer.ts';
import { newId } from './ids.ts';
import { appendMessages } from './inbox.ts';
import { measurementsText } from './measurement-columns.ts';
import type { ConversationSettings } from './messages.ts';
import { finishTurn, raiseEpoch } from './open-work.ts';
import { jsonText, plainText } from './stored-text.ts';
import { writeEvents } from './transaction.ts';
import type { Writer, WriterSource } from './transaction.ts';
import { recountTotals } from './usage.ts';

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

/** Who wrote these turns, in place of a worker and a workflow. */
export const IMPORTER = 'import';
const NO_BEGINNING = '[The recording begins with an answer.]';
/** No view was sent from here, so there is none to compare with. */
const NO_RENDERER = 0;

/**
 * Makes a conversation of recorded entries, whole or not at all: one transaction, so that nobody sees
 * half of it and upkeep finds no turn to repair. Turns end as `completed`; model calls keep the
 * recorded model and no usage: nothing was paid here, and what the recording's provider counted belongs
 * to another agent's requests. Messages and entries have the times of the recording; turns, events and `active_at` have
 * that of the import, from which retention counts.
 */
export async function importConversation(sql: Database, request: ImportRequest): Promise<ImportedConversation> {
  const { conversationId, agent, settings } = request;
  return writeEvents(sql, conversationId, async (source) => {
    // Records are read and measured in between, and one of them may have 50 MB. Nobody waits for a conversation that is not there yet.
    await source.sql`set local idle_in_transaction_session_timeout = 0`;
    await source.sql`
      insert into conversations (id, agent, model, preset, workspace, user_name)
      values (${conversationId}, ${agent}, ${settings.model}, ${settings.preset}, ${settings.workspace}, ${settings.user})`;
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

interface OpenAnswer {
  readonly entryId: string;
  readonly calls: readonly ToolCallPart[];
}

class ConversationImporter {
  private readonly source: WriterSource;
  private readonly request: ImportRequest;
  private writer: Writer | null = null;
  private turn = 0;
  private entries = 0;
  private head: string | null = null;
  private answer: OpenAnswer | null = null;
  private readonly importedAt: Date;
  /** Of the newest record that has a time. */
  private latest: Date | null = null;
  private first: Date | null = null;
  private time: Date;

  constructor(source: WriterSource, request: ImportRequest, importedAt: Date) {
    this.source = source;
    this.request = request;
    this.importedAt = importedAt;
    this.time = importedAt;
  }

  async add(record: ImportedRecord): Promise<void> {
    const writer = await this.writerFor(record.turn);
    this.entries += 1;
    this.moveClock(record.at);
    switch (record.kind) {
      case 'user':
        return this.addMessage(writer, record.content);
      case 'assistant':
        return this.addAnswer(writer, record);
      case 'tool_result':
        return this.addResult(writer, record);
    }
  }

  async finish(): Promise<ImportedConversation> {
    await this.endTurn();
    await recountTotals(this.source.sql, this.request.conversationId);
    await markImported(this.source.sql, this.request.conversationId);
    if (this.first !== null) {
      const { conversationId } = this.request;
      await this.source
        .sql`update conversations set created_at = ${this.first.toISOString()} where id = ${conversationId}`;
    }
    return { turns: this.turn, entries: this.entries };
  }

  private moveClock(recorded: Date | undefined): void {
    const { latest, importedAt } = this;
    this.time = entryTime(recorded, { latest, importedAt });
    if (recorded !== undefined && recorded <= importedAt) this.latest = this.time;
    this.first ??= this.time;
  }

  private async writerFor(turn: number): Promise<Writer> {
    if (this.writer !== null && turn === this.turn) return this.writer;
    await this.endTurn();
    const { conversationId, snapshot } = this.request;
    const { sql } = this.source;
    const reference: TurnReference = { conversationId, turnId: newId(), epoch: await raiseEpoch(sql, conversationId) };
    await insertTurn(sql, {
      conversationId,
      turnId: reference.turnId,
      workflowId: `${IMPORTER}:${conversationId}`,
      runId: reference.turnId,
      workerIdentity: IMPORTER,
      turn: reference,
      snapshot,
      commandOnly: false,
      messages: 0,
    });
    const writer = this.source.writer(reference);
    const { agent, model, policy } = snapshot.snapshot;
    await writer.event('turn_begun', { agent, model, preset: policy.name, commandOnly: false });
    this.writer = writer;
    this.turn = turn;
    return writer;
  }

  private async endTurn(): Promise<void> {
    if (this.writer === null) return;
    const { turnId } = this.writer.turn;
    await finishTurn(this.writer, { turnId, outcome: 'completed', reason: 'imported' });
    this.writer = null;
  }

  private async addMessage(writer: Writer, content: readonly ContentPart[]): Promise<void> {
    const { sql, turn } = writer;
    const id = `${IMPORTER}:${newId()}`;
    const measurements = measurementsText(measureContent(content));
    const [row] = await sql<{ position: string }[]>`
      insert into messages (id, conversation_id, kind, mode, content, measurements, created_at)
      values (${id}, ${turn.conversationId}, 'message', 'queue', ${jsonText(content)}::text::json, ${measurements}::measurements,
        ${this.time.toISOString()})
      returning position`;
    await appendMessages(writer, [{ id, position: row?.position ?? '', content, measurements, createdAt: this.time }]);
    await sql`update turns set messages = messages + 1 where id = ${turn.turnId}`;
    this.head = null;
  }

  private async addAnswer(writer: Writer, record: Extract<ImportedRecord, { kind: 'assistant' }>): Promise<void> {
    const { sql, turn } = writer;
    const { callNumber, content, model } = record;
    const entryId = newId();
    // A model is asked at an entry; a recording that begins with an answer has none.
    if (this.entries === 1) await this.addMessage(writer, [{ type: 'text', text: NO_BEGINNING }]);
    const head = this.head ?? (await this.readHead());
    await sql`
      insert into model_calls (turn_id, call_number, attempt, conversation_id, epoch, model, head_entry_id, compactions,
        view_fingerprint, renderer_version, estimated_tokens, measurements, state, entry_id, stop_reason, ended_at)
      values (${turn.turnId}, ${callNumber}, 1, ${turn.conversationId}, ${turn.epoch}, ${plainText(model ?? 'unknown')},
        ${head}, 0, ${IMPORTER}, ${NO_RENDERER}, 0, ${measurementsText(NO_MEASUREMENTS)}::measurements,
        'answered', ${entryId}, 'other', holdfast_now())`;
    const calls = content.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
    await insertEntry(sql, {
      kind: 'assistant',
      id: entryId,
      turn,
      createdAt: this.time,
      content,
      measurements: measureContent(content),
      callNumber,
      modelAttempt: 1,
      toolCallCount: calls.length,
    });
    this.answer = { entryId, calls };
    this.head = entryId;
  }

  private async readHead(): Promise<string | null> {
    const [row] = await this.source.sql<{ head: string | null }[]>`
      select head_entry_id as head from conversations where id = ${this.request.conversationId}`;
    return row?.head ?? null;
  }

  private async addResult(writer: Writer, record: Extract<ImportedRecord, { kind: 'tool_result' }>): Promise<void> {
    const { sql, turn } = writer;
    const { callNumber, callIndex, toolName, isError, recorded, content } = record;
    const call = this.answer?.calls.find((each) => each.index === callIndex);
    if (this.answer === null || call === undefined) {
      throw new RangeError(`result ${callNumber}.${callIndex} of turn ${record.turn} answers no call`);
    }
    const id = newId();
    const outcome = recorded ? (isError ? 'failed' : 'succeeded') : 'outcome_unknown';
    await sql`
      insert into tool_calls (turn_id, call_number, call_index, conversation_id, epoch, entry_id, provider_call_id, name,
        arguments, state, attempt, worker_identity, claimed_at, finished_at, outcome, result_entry_id)
      values (${turn.turnId}, ${callNumber}, ${callIndex}, ${turn.conversationId}, ${turn.epoch}, ${this.answer.entryId},
        ${plainText(call.id)}, ${plainText(call.name)}, ${jsonText(call.arguments)}::text::json, 'finished', 1, ${IMPORTER},
        holdfast_now(), holdfast_now(), ${outcome}, ${id})`;
    await insertEntry(sql, {
      kind: 'tool_result',
      id,
      turn,
      createdAt: this.time,
      content,
      measurements: measureContent(content),
      callNumber,
      callIndex,
      toolName,
      isError,
    });
    this.head = id;
  }
}
