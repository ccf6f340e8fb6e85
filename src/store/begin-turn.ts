import type { Measurements } from '../context/measurements.ts';
import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database, Transaction } from './database.ts';
import type { NewContent } from './entries.ts';
import { EMPTY_CONTENT, insertEntry } from './entry-writer.ts';
import { StoreError } from './errors.ts';
import { insertEvent, notifyWatchers } from './event-writer.ts';
import { appendMessages, consumeCommands } from './inbox.ts';
import type { WaitingMessage } from './inbox.ts';
import { measurementsText } from './measurement-columns.ts';
import type { ConversationSettings, MessageKind } from './messages.ts';
import { interruptTurn, raiseEpoch, setActiveTurn } from './open-work.ts';
import { jsonText } from './stored-text.ts';
import type { CloseToolCall } from './tool-call-rows.ts';
import { transaction } from './transaction.ts';
import type { TurnWriter } from './transaction.ts';

export interface BeginTurnRequest {
  readonly conversationId: string;
  /** Id for the turn if one begins; a repeated call for the same run gets the first one's. */
  readonly turnId: string;
  readonly workflowId: string;
  /** Temporal's run id: beginning twice for one run is beginning once. */
  readonly runId: string;
  readonly workerIdentity: string;
}

/** What the store asks for while it begins a turn. */
export interface BeginTurnSources {
  /** Called before the transaction opens, so it may take its time. */
  readonly snapshotFor: (agent: string, settings: ConversationSettings) => Promise<TurnSnapshot>;
  /** What the model is told of calls that a dead turn left open. */
  readonly closeToolCall: CloseToolCall;
}

export interface TurnSnapshot {
  readonly snapshot: AgentSnapshot;
  /** Measurements of instructions and tool schemas: the part of a request that no entry holds. */
  readonly fixed: Measurements;
  /** The rules as a note; appended when they differ from the newest one. `null`: the agent has none. */
  readonly rules: NewContent | null;
}

export type BegunTurn =
  | {
      readonly kind: 'begun';
      readonly turn: TurnReference;
      /** A command for an idle conversation: a turn with no step. */
      readonly commandOnly: boolean;
      readonly compactRequested: boolean;
      /** A stop that was sent after every message the turn took. */
      readonly stopRequested: boolean;
      /** User entries that the turn took when it began. */
      readonly messages: number;
      readonly snapshot: AgentSnapshot;
    }
  | { readonly kind: 'nothing_waiting' };

/**
 * Takes the conversation for a new turn, in one transaction: raises the epoch, so that no older
 * turn can write; ends a turn that was left open as `interrupted` and gives its open tool calls a
 * result; abandons its planned compaction; appends the rules note if it changed, then the oldest
 * queued message and all waiting steering messages.
 * @throws StoreError `conversation_not_found`, `stale_epoch` (the run's turn was taken over)
 */
export async function beginTurn(
  sql: Database,
  request: BeginTurnRequest,
  sources: BeginTurnSources,
): Promise<BegunTurn> {
  const { conversationId } = request;
  const [conversation] = await sql<({ agent: string } & ConversationSettings)[]>`
    select agent, model, preset, workspace from conversations where id = ${conversationId}`;
  if (conversation === undefined) {
    throw new StoreError('conversation_not_found', `there is no conversation ${conversationId}`);
  }
  const { agent, ...settings } = conversation;
  const snapshot = await sources.snapshotFor(agent, settings);
  let newestEvent = 0;
  const begun = await transaction(sql, async (open) => {
    const attempt = new BeginAttempt(open, request, (number) => {
      newestEvent = number;
    });
    return attempt.begin(snapshot, sources.closeToolCall);
  });
  if (newestEvent > 0) await notifyWatchers(sql, conversationId, newestEvent);
  return begun;
}

interface LockedRow {
  readonly epoch: number;
  readonly active_turn_id: string | null;
}

interface WaitingRow extends WaitingMessage {
  readonly kind: MessageKind;
}

/** One transaction of `beginTurn`. */
class BeginAttempt {
  readonly #sql: Transaction;
  readonly #request: BeginTurnRequest;
  readonly #noteEvent: (number: number) => void;

  constructor(sql: Transaction, request: BeginTurnRequest, noteEvent: (number: number) => void) {
    this.#sql = sql;
    this.#request = request;
    this.#noteEvent = noteEvent;
  }

  async begin(snapshot: TurnSnapshot, closeToolCall: CloseToolCall): Promise<BegunTurn> {
    const sql = this.#sql;
    const { conversationId, turnId } = this.#request;
    const [conversation] = await sql<LockedRow[]>`
      select epoch, active_turn_id from conversations where id = ${conversationId} for no key update`;
    const begunBefore = await this.#begunBefore(conversation?.epoch ?? 0);
    if (begunBefore !== null) return begunBefore;
    const waiting = await this.#waiting();
    const messages = waiting.filter(({ kind }) => kind === 'message');
    const compactRequested = waiting.some(({ kind }) => kind === 'compact');
    const stopRequested = isNewest(waiting, 'stop') && messages.length > 0;
    const nothing = messages.length === 0 && !compactRequested;
    const dead = conversation?.active_turn_id ?? null;
    // Without anything to begin, a stop still ends what a dead turn left open.
    if (!stopRequested) await consumeCommands(sql, { conversationId, kind: 'stop', turnId: null });
    if (nothing && dead === null) return { kind: 'nothing_waiting' };
    const epoch = await raiseEpoch(sql, conversationId);
    const turn: TurnReference = { conversationId, turnId, epoch };
    const writer = this.#writer(turn);
    if (dead !== null) await interruptTurn(writer, { turnId: dead, reason: 'taken_over', closeToolCall });
    if (nothing) {
      await setActiveTurn(sql, turn, null);
      return { kind: 'nothing_waiting' };
    }
    const commandOnly = messages.length === 0;
    await this.#insertTurn(turn, snapshot, { commandOnly, messages: messages.length });
    await setActiveTurn(sql, turn, turnId);
    await writer.event('turn_begun', {
      agent: snapshot.snapshot.agent,
      model: snapshot.snapshot.model,
      preset: snapshot.snapshot.policy.name,
      commandOnly,
    });
    if (!commandOnly) await this.#appendRules(writer, snapshot.rules);
    await appendMessages(writer, messages);
    return {
      kind: 'begun',
      turn,
      commandOnly,
      compactRequested,
      stopRequested,
      messages: messages.length,
      snapshot: snapshot.snapshot,
    };
  }

  #writer(turn: TurnReference): Pick<TurnWriter, 'sql' | 'turn' | 'event'> {
    return {
      sql: this.#sql,
      turn,
      event: async (kind, data, turnId = turn.turnId) => {
        this.#noteEvent(await insertEvent(this.#sql, { turn: { ...turn, turnId }, kind, data }));
      },
    };
  }

  /** What this run began already: the activity is repeated because its result was lost. */
  async #begunBefore(epoch: number): Promise<BegunTurn | null> {
    const { conversationId, workflowId, runId } = this.#request;
    const [row] = await this.#sql<
      {
        id: string;
        epoch: number;
        outcome: string | null;
        command_only: boolean;
        messages: number;
        snapshot: AgentSnapshot;
      }[]
    >`
      select id, epoch, outcome, command_only, messages, snapshot from turns
      where workflow_id = ${workflowId} and begun_by_run_id = ${runId}`;
    if (row === undefined) return null;
    if (row.outcome !== null || row.epoch !== epoch) {
      throw new StoreError(
        'stale_epoch',
        `turn ${row.id}, begun by run ${runId}, is over (${row.outcome ?? 'taken over'})`,
      );
    }
    const waiting = await this.#sql<{ kind: MessageKind }[]>`
      select distinct kind from messages
      where conversation_id = ${conversationId} and consumed_at is null and kind <> 'message'`;
    return {
      kind: 'begun',
      turn: { conversationId, turnId: row.id, epoch: row.epoch },
      commandOnly: row.command_only,
      compactRequested: waiting.some(({ kind }) => kind === 'compact'),
      stopRequested: waiting.some(({ kind }) => kind === 'stop'),
      messages: row.messages,
      snapshot: row.snapshot,
    };
  }

  /** Commands, all steering messages and the oldest queued one, in order of arrival. */
  async #waiting(): Promise<WaitingRow[]> {
    const { conversationId } = this.#request;
    return this.#sql<WaitingRow[]>`
      select id, position, kind, content, measurements from messages
      where conversation_id = ${conversationId} and consumed_at is null
        and (kind <> 'message' or mode = 'steer' or position = (
          select min(q.position) from messages q
          where q.conversation_id = ${conversationId} and q.consumed_at is null
            and q.kind = 'message' and q.mode = 'queue'))
      order by position`;
  }

  async #insertTurn(
    turn: TurnReference,
    { snapshot, fixed }: TurnSnapshot,
    start: { readonly commandOnly: boolean; readonly messages: number },
  ): Promise<void> {
    const { workflowId, runId, workerIdentity } = this.#request;
    await this.#sql`
      insert into turns (id, conversation_id, epoch, workflow_id, begun_by_run_id, run_id, worker_identity, agent,
        model, preset, snapshot, model_limits, policy, fixed, command_only, messages)
      values (${turn.turnId}, ${turn.conversationId}, ${turn.epoch}, ${workflowId}, ${runId}, ${runId},
        ${workerIdentity}, ${snapshot.agent}, ${snapshot.model}, ${snapshot.policy.name},
        ${jsonText(snapshot)}::text::json, ${jsonText(snapshot.modelLimits)}::text::json,
        ${jsonText(snapshot.policy)}::text::json, ${measurementsText(fixed)}::measurements,
        ${start.commandOnly}, ${start.messages})`;
  }

  /** Rules that were taken away are replaced by an empty note. */
  async #appendRules(writer: Pick<TurnWriter, 'sql' | 'turn' | 'event'>, rules: NewContent | null): Promise<void> {
    const [newest] = await this.#sql<{ text: string }[]>`
      select e.content::text as text from entries e
      join branches b on b.conversation_id = e.conversation_id and b.ancestor = e.branch and e.sequence <= b.through_sequence
      join conversations c on c.id = e.conversation_id and c.branch = b.branch
      where e.conversation_id = ${writer.turn.conversationId} and e.kind = 'note' and e.slot = 'rules'
      order by e.sequence desc limit 1`;
    const wanted = rules ?? EMPTY_CONTENT;
    if ((newest?.text ?? '[]') === jsonText(wanted.content)) return;
    const note = await insertEntry(this.#sql, { ...wanted, kind: 'note', slot: 'rules', turn: writer.turn });
    await writer.event('rules_changed', { entryId: note.id });
  }
}

/** Whether the newest of all that waits is a command of this kind: a later message means that the user goes on. */
function isNewest(waiting: readonly WaitingRow[], kind: MessageKind): boolean {
  const spoken = waiting.filter((row) => row.kind === 'message' || row.kind === kind);
  return spoken.at(-1)?.kind === kind;
}
