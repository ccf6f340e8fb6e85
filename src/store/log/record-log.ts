import type { ContentPart, ToolCallPart } from '../../context/log/content.ts';
import { measureContent } from '../../context/log/measure.ts';
import { NO_MEASUREMENTS } from '../../context/log/measurement-arithmetic.ts';
import { DEFAULT_POLICY } from '../../context/policy/presets/default.ts';
import { modelFacts } from '../../models/catalogue/catalogue.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { OriginalReference } from './entries.ts';
import { insertEntry } from './entry-writer.ts';
import { newId } from '../database/ids.ts';
import { appendMessages } from '../messages/take-messages.ts';
import { measurementsText } from './measurement-columns.ts';
import type { ConversationSettings } from '../messages/messages.ts';
import { insertTurn } from '../turns/new-turn.ts';
import type { TurnSnapshot } from '../turns/new-turn.ts';
import { finishTurn, raiseEpoch } from '../turns/open-work.ts';
import { jsonText, plainText } from './stored-text.ts';
import type { Writer, WriterSource } from '../database/transaction.ts';

/** Who wrote these turns, in place of a worker and a workflow. */
export const IMPORTER = 'import';
/** No view was sent from here, so there is none to compare with. */
const NO_RENDERER = 0;

interface Recorded {
  /** Default: a new one. */
  readonly id?: string;
  readonly content: readonly ContentPart[];
  /** When it was said. ISO 8601. */
  readonly at: string;
}

interface RecordedAnswer extends Recorded {
  readonly callNumber: number;
  /** As the recording names it. Default: unknown. */
  readonly model?: string | null;
}

interface RecordedResult extends Recorded {
  readonly callNumber: number;
  readonly callIndex: number;
  readonly toolName: string;
  readonly isError: boolean;
  readonly outcome: string;
  readonly original?: OriginalReference;
}

interface OpenAnswer {
  readonly turn: number;
  readonly callNumber: number;
  readonly entryId: string;
  readonly unanswered: Map<number, ToolCallPart>;
}

/**
 * Writes entries that were said elsewhere, and the rows of turns, messages, model calls and tool calls that entries need, in
 * the transaction of an import. Turns end as `completed`; nothing of them was paid here.
 */
export class LogRecorder {
  private readonly source: WriterSource;
  private readonly conversationId: string;
  private readonly snapshot: TurnSnapshot;
  private readonly turnIds = new Map<number, string>();
  private writer: Writer | null = null;
  private answerOpen: OpenAnswer | null = null;
  private compactions = 0;

  constructor(source: WriterSource, of: { readonly conversationId: string; readonly snapshot: TurnSnapshot }) {
    this.source = source;
    this.conversationId = of.conversationId;
    this.snapshot = of.snapshot;
  }

  /** What stands for a turn of the recording: begun with its first entry. Behind a later turn's, entries of it are written by that one. */
  async writerFor(turn: number): Promise<Writer> {
    const known = this.turnIds.get(turn);
    if (known === undefined) return this.beginTurn(turn);
    if (this.writer === null) throw new TypeError('a turn that is known was begun');
    return { ...this.writer, turn: { ...this.writer.turn, turnId: known } };
  }

  /** Of whoever writes now. @throws RecordingError before the first entry */
  get epoch(): number {
    if (this.writer === null) throw new RecordingError('no entry stands before it');
    return this.writer.turn.epoch;
  }

  async message(turn: number, { id, content, at }: Recorded): Promise<void> {
    this.requireResults();
    const writer = await this.writerFor(turn);
    const { sql } = writer;
    const messageId = `${IMPORTER}:${newId()}`;
    const measurements = measurementsText(measureContent(content));
    await sql`
      insert into messages (id, conversation_id, kind, mode, content, measurements, created_at)
      values (${messageId}, ${this.conversationId}, 'message', 'queue', ${jsonText(content)}::text::json,
        ${measurements}::measurements, ${at}::text::timestamptz)`;
    await appendMessages(writer, [{ id: messageId, createdAt: at, ...(id !== undefined && { entryId: id }) }]);
    await sql`update turns set messages = messages + 1 where id = ${writer.turn.turnId}`;
  }

  async answer(turn: number, { id, callNumber, content, model, at }: RecordedAnswer): Promise<void> {
    this.requireResults();
    const writer = await this.writerFor(turn);
    const { sql } = writer;
    const { turnId, epoch } = writer.turn;
    const entryId = id ?? newId();
    await sql`
      insert into model_attempts (turn_id, purpose, call_number, attempt, conversation_id, epoch, model, head_entry_id, compactions,
        view_fingerprint, renderer_version, estimated_tokens, state, entry_id, stop_reason, cost, ended_at)
      select ${turnId}, 'step', ${callNumber}, 1, c.id, ${epoch}, ${plainText(model ?? 'unknown')}, c.head_entry_id, ${this.compactions},
        ${IMPORTER}, ${NO_RENDERER}, 0, 'answered', ${entryId}, 'other', 0, holdfast_now()
      from conversations c where c.id = ${this.conversationId}`;
    const calls = content.filter((part) => part.type === 'tool_call');
    await insertEntry(sql, {
      kind: 'assistant',
      id: entryId,
      turn: writer.turn,
      createdAt: at,
      content,
      measurements: measureContent(content),
      callNumber,
      modelAttempt: 1,
      toolCallCount: calls.length,
    });
    this.answerOpen = { turn, callNumber, entryId, unanswered: new Map(calls.map((call) => [call.index, call])) };
  }

  async result(turn: number, result: RecordedResult): Promise<void> {
    const { callNumber, callIndex, outcome, content, at } = result;
    const open = this.answerOpen;
    const call = open?.turn === turn && open.callNumber === callNumber ? open.unanswered.get(callIndex) : undefined;
    if (open === null || call === undefined) throw new RecordingError('a tool result answers no call');
    const writer = await this.writerFor(turn);
    const { sql } = writer;
    const { turnId, epoch } = writer.turn;
    const id = result.id ?? newId();
    await sql`
      insert into tool_calls (turn_id, call_number, call_index, conversation_id, epoch, entry_id, provider_call_id, name,
        arguments, state, attempt, worker_identity, claimed_at, finished_at, outcome, result_entry_id)
      values (${turnId}, ${callNumber}, ${callIndex}, ${this.conversationId}, ${epoch}, ${open.entryId},
        ${plainText(call.id)}, ${plainText(call.name)}, ${jsonText(call.arguments)}::text::json, 'finished', 1, ${IMPORTER},
        holdfast_now(), holdfast_now(), ${outcome}, ${id})`;
    await insertEntry(sql, {
      kind: 'tool_result',
      id,
      turn: writer.turn,
      createdAt: at,
      content,
      measurements: measureContent(content),
      callNumber,
      callIndex,
      toolName: result.toolName,
      isError: result.isError,
      ...(result.original !== undefined && { original: result.original }),
    });
    open.unanswered.delete(callIndex);
  }

  /** A compaction's marker: answers behind it were given with the compaction in force. */
  async marker(
    turn: number,
    { id, compactionId, at }: Pick<Recorded, 'id' | 'at'> & { readonly compactionId: string },
  ): Promise<void> {
    this.requireResults();
    const { sql, turn: reference } = await this.writerFor(turn);
    const of = { content: [], measurements: NO_MEASUREMENTS, ...(id !== undefined && { id }) };
    await insertEntry(sql, { kind: 'compaction', turn: reference, createdAt: at, compactionId, ...of });
    this.compactions += 1;
  }

  requireResults(): void {
    if (this.answerOpen !== null && this.answerOpen.unanswered.size > 0)
      throw new RecordingError('a tool call has no result');
  }

  async end(): Promise<void> {
    this.requireResults();
    if (this.writer === null) return;
    const { turnId } = this.writer.turn;
    await finishTurn(this.writer, { turnId, outcome: 'completed', reason: 'imported' });
  }

  private async beginTurn(turn: number): Promise<Writer> {
    await this.end();
    const { conversationId, snapshot } = this;
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
    this.turnIds.set(turn, reference.turnId);
    return writer;
  }
}

/** Of turns that ran elsewhere: nobody knows by which instructions, with which tools and limits. */
export function snapshotElsewhere(of: {
  readonly agent: string;
  readonly settings: ConversationSettings;
}): TurnSnapshot {
  const model = of.settings.model ?? 'unknown/unknown';
  const { limits, prices } = modelFacts(model);
  const snapshot: AgentSnapshot = {
    agent: of.agent,
    model,
    modelLimits: limits,
    prices,
    summarizer: { model, limits, prices },
    policy: DEFAULT_POLICY,
    limits: { steps: 1 },
    workspace: of.settings.workspace ?? '',
    allowCommands: false,
    instructions: '',
    rules: [],
    tools: [],
  };
  return { snapshot, fixed: NO_MEASUREMENTS, rules: null };
}

/** The recording contradicts itself: its fault, in words that repeat nothing of it. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}
