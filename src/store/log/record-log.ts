import type { ToolCallPart } from '../../context/log/content.ts';
import { measureContent } from '../../context/log/measure.ts';
import { NO_MEASUREMENTS } from '../../context/log/measurements.ts';
import { DEFAULT_POLICY } from '../../context/policy/presets/default.ts';
import { modelFacts } from '../../models/catalogue/catalogue.ts';
import { DEFAULT_TURN_TASK_QUEUE, IMPORTER } from '../../turn/temporal-names.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ToolCallOutcome } from '../attempts/tool-call-rows.ts';
import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import { insertEntry } from './entry-writer.ts';
import type { NewEntry } from './entry-writer.ts';
import { newId } from '../database/ids.ts';
import { appendMessages } from '../messages/take-messages.ts';
import { measurementsText } from './measurement-columns.ts';
import type { ConversationSettings } from '../messages/messages.ts';
import { insertTurn } from '../turns/new-turn.ts';
import { onlySteps } from '../turns/turn-limits.ts';
import type { TurnSnapshot } from '../turns/new-turn.ts';
import { finishTurn, raiseEpoch } from '../turns/open-work.ts';
import { jsonText, plainText } from './stored-text.ts';
import type { Writer, WriterSource } from '../database/transaction.ts';

/** No view was sent from here, so there is none to compare with. */
const NO_RENDERER = 0;

/** An entry of a conversation that took place elsewhere. Each tool call has exactly one result before the next answer. */
export interface RecordedEntry extends Pick<
  NewEntry,
  'id' | 'kind' | 'content' | 'original' | 'callNumber' | 'callIndex' | 'toolName' | 'slot' | 'key' | 'compactionId'
> {
  /** Numbered by the recording, in order. */
  readonly turn: number;
  /** When it was said, ISO 8601. */
  readonly at: string;
  /** As the recording names it. Default: unknown. */
  readonly model?: string | null;
  readonly outcome?: ToolCallOutcome | null;
}

type Entry = NewEntry & { readonly id: string; readonly createdAt: string };

interface OpenAnswer {
  readonly turn: number;
  readonly callNumber: number | null;
  readonly entryId: string;
  readonly unanswered: Map<number, ToolCallPart>;
}

/** The conversation that a recording becomes: of who imports it, and nothing of the recording. */
export interface RecordedConversation {
  readonly conversationId: string;
  /** Default: `default`. */
  readonly tenant?: string;
  /** Queue of the workers whose it is. Default: `agent-turn`. */
  readonly taskQueue?: string;
  readonly agent: string;
  readonly settings: ConversationSettings;
  readonly snapshot: TurnSnapshot;
}

/**
 * Writes a conversation that was held elsewhere, with the rows of turns, messages, model calls and tool calls that its entries need, in
 * one transaction. Turns end as `completed`; nothing of them was paid here.
 */
export class LogRecorder {
  private readonly source: WriterSource;
  private readonly conversationId: string;
  private readonly of: RecordedConversation;
  private readonly turnIds = new Map<number, string>();
  private writer: Writer | null = null;
  private answerOpen: OpenAnswer | null = null;
  private compactions = 0;

  constructor(source: WriterSource, of: RecordedConversation) {
    this.source = source;
    this.conversationId = of.conversationId;
    this.of = of;
  }

  /** @returns false: the id is taken, perhaps by a conversation that this connection may not see */
  async begin(): Promise<boolean> {
    const { sql } = this.source;
    const { tenant = DEFAULT_TENANT, taskQueue = DEFAULT_TURN_TASK_QUEUE, agent, settings } = this.of;
    // What is recorded is read and measured in between, and may have 50 MB. Nobody waits for a conversation that is not there yet.
    await sql`set local idle_in_transaction_session_timeout = 0`;
    const { count } = await sql`
      insert into conversations (id, tenant, task_queue, agent, model, preset, workspace, user_name, imported_at)
      values (${this.conversationId}, ${tenant}, ${taskQueue}, ${agent}, ${settings.model}, ${settings.preset},
        ${settings.workspace}, ${settings.user}, holdfast_now())
      on conflict do nothing`;
    return count > 0;
  }

  /** What stands for a turn of the recording: begun with its first entry. Behind a later turn's, entries of it are written by that one. */
  private async writerFor(turn: number): Promise<Writer> {
    const turnId = this.turnIds.get(turn);
    return turnId === undefined ? this.beginTurn(turn) : { ...this.current, turn: { ...this.current.turn, turnId } };
  }

  /** Whoever writes now. @throws RecordingError before the first entry */
  get current(): Writer {
    if (this.writer === null) throw new RecordingError('no entry stands before it');
    return this.writer;
  }

  get turns(): number {
    return this.turnIds.size;
  }

  /** @throws RecordingError before its first entry */
  turnIdOf(turn: number): string {
    const turnId = this.turnIds.get(turn);
    if (turnId === undefined) throw new RecordingError('no entry is of its turn');
    return turnId;
  }

  async record({ turn, at, model, outcome, ...recorded }: RecordedEntry): Promise<void> {
    const { kind, content } = recorded;
    if (kind !== 'tool_result') this.requireResults();
    const writer = await this.writerFor(turn);
    const measurements = content.length === 0 ? NO_MEASUREMENTS : measureContent(content);
    const entry = { ...recorded, id: recorded.id ?? newId(), turn: writer.turn, createdAt: at, measurements };
    switch (kind) {
      case 'user':
        return this.recordMessage(writer, entry);
      case 'assistant':
        return this.recordAnswer(writer, entry, { turn, model: model ?? 'unknown' });
      case 'tool_result':
        return this.recordResult(writer, entry, { turn, outcome: outcome ?? null });
      case 'compaction':
      case 'branch_summary':
      case 'note':
        // Answers behind a marker were given with its compaction in force.
        if (kind === 'compaction') this.compactions += 1;
        await insertEntry(writer.sql, entry);
    }
  }

  private async recordMessage(writer: Writer, { id: entryId, content, measurements, createdAt }: Entry): Promise<void> {
    const { sql } = writer;
    const id = `${IMPORTER}:${newId()}`;
    await sql`
      insert into messages (id, conversation_id, kind, mode, content, measurements, created_at)
      values (${id}, ${this.conversationId}, 'message', 'queue', ${jsonText(content)}::text::json,
        ${measurementsText(measurements)}::measurements, least(${createdAt}::text::timestamptz, holdfast_now()))`;
    await appendMessages(writer, [{ id, createdAt, entryId }]);
    await sql`update turns set messages = messages + 1 where id = ${writer.turn.turnId}`;
  }

  private async recordAnswer(
    { sql, turn: { turnId, epoch } }: Writer,
    entry: Entry,
    { turn, model }: { readonly turn: number; readonly model: string },
  ): Promise<void> {
    const { id: entryId, callNumber = null, content } = entry;
    await sql`
      insert into model_attempts (turn_id, purpose, call_number, attempt, conversation_id, epoch, model, head_entry_id, compactions,
        view_fingerprint, renderer_version, estimated_tokens, state, entry_id, stop_reason, cost, ended_at)
      select ${turnId}, 'step', ${callNumber}, 1, c.id, ${epoch}, ${plainText(model)}, c.head_entry_id, ${this.compactions},
        ${IMPORTER}, ${NO_RENDERER}, 0, 'answered', ${entryId}, 'other', 0, holdfast_now()
      from conversations c where c.id = ${this.conversationId}`;
    const calls = content.filter((part) => part.type === 'tool_call');
    await insertEntry(sql, { ...entry, modelAttempt: 1, toolCallCount: calls.length });
    this.answerOpen = { turn, callNumber, entryId, unanswered: new Map(calls.map((call) => [call.index, call])) };
  }

  private async recordResult(
    { sql, turn: { turnId, epoch } }: Writer,
    entry: Entry,
    { turn, outcome }: { readonly turn: number; readonly outcome: ToolCallOutcome | null },
  ): Promise<void> {
    const { callNumber, callIndex = null } = entry;
    const open = this.answerOpen;
    const isOfOpen = open?.turn === turn && open.callNumber === callNumber && callIndex !== null;
    const call = isOfOpen ? open.unanswered.get(callIndex) : undefined;
    if (open === null || call === undefined) throw new RecordingError('a tool result answers no call');
    await sql`
      insert into tool_calls (turn_id, call_number, call_index, conversation_id, epoch, entry_id, provider_call_id, name,
        arguments, state, attempt, worker_identity, claimed_at, finished_at, outcome, result_entry_id)
      values (${turnId}, ${open.callNumber}, ${callIndex}, ${this.conversationId}, ${epoch}, ${open.entryId},
        ${plainText(call.id)}, ${plainText(call.name)}, ${jsonText(call.arguments)}::text::json, 'finished', 1, ${IMPORTER},
        holdfast_now(), holdfast_now(), ${outcome}, ${entry.id})`;
    await insertEntry(sql, { ...entry, isError: outcome !== 'succeeded' });
    open.unanswered.delete(call.index);
  }

  requireResults(): void {
    if (this.answerOpen !== null && this.answerOpen.unanswered.size > 0)
      throw new RecordingError('a tool call has no result');
  }

  /** All that the conversation has by then came with the recording. */
  async finish(): Promise<void> {
    const { source, conversationId } = this;
    await this.endTurn();
    await source.sql`select recount_totals(${conversationId})`;
    await source.sql`
      update conversations c set (imported_through, created_at) = (
        select max(e.sequence), coalesce(min(e.created_at), c.created_at) from entries e where e.conversation_id = c.id)
      where id = ${conversationId}`;
  }

  private async endTurn(): Promise<void> {
    this.requireResults();
    if (this.writer === null) return;
    const { turnId } = this.writer.turn;
    await finishTurn(this.writer, { turnId, outcome: 'completed', reason: 'imported' });
  }

  private async beginTurn(turn: number): Promise<Writer> {
    await this.endTurn();
    const { conversationId } = this;
    const { snapshot } = this.of;
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
      limits: onlySteps(snapshot.snapshot.limits.steps),
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
