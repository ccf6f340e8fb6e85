import type { ContentPart } from '../../context/log/content.ts';
import { withAnswerForm } from '../../turn/agent-snapshot.ts';
import type { AgentSnapshot, AnswerForm } from '../../turn/agent-snapshot.ts';
import type { SpendingLimits } from '../../turn/spending.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Database, Queries, Transaction } from '../database/database.ts';
import type { NewContent } from '../log/entries.ts';
import { StoreError } from '../database/errors.ts';
import { notifyWatchers } from '../log/event-writer.ts';
import { consumeCommands } from '../messages/waiting.ts';
import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import type { ConversationSettings, MessageKind } from '../messages/messages.ts';
import { appendMemories, appendRules, endPassesOfTurns, insertTurn, tellBeginning } from './new-turn.ts';
import type { BeginTurnRequest, TurnSnapshot } from './new-turn.ts';
import { interruptTurn, raiseEpoch, setActiveTurn } from './open-work.ts';
import type { CloseToolCall } from '../attempts/tool-call-rows.ts';
import { isStopMeant } from '../messages/stops.ts';
import { appendMessages } from '../messages/take-messages.ts';
import { resumesToTake, takeResumes } from '../messages/resumes.ts';
import { limitsOfNewTurn } from './turn-limits.ts';
import { writeLocked } from '../database/transaction.ts';
import type { LockedSource } from '../database/transaction.ts';

export interface BeginTurnSources {
  /**
   * Asked before a turn that another run left open is taken over, and when a later run has begun one: whether this run is the one
   * that Temporal knows as the workflow's newest. Default: nobody else is there.
   */
  readonly isNewestRun?: () => Promise<boolean>;
  /** Called before the transaction opens, so it may take its time. */
  readonly snapshotFor: (agent: string, settings: ConversationSettings) => Promise<TurnSnapshot>;
  /** Asked within the transaction: memories that have to do with the messages, when they changed. Default: none. */
  readonly memoriesFor?: (
    sql: Queries,
    messages: readonly (readonly ContentPart[])[],
    snapshot: AgentSnapshot,
  ) => Promise<NewContent | null>;
  /** What the model is told of calls that a dead turn left open. */
  readonly closeToolCall: CloseToolCall;
  /** What the model is told when it goes on without a new message. */
  readonly resumeNote: NewContent;
}

export type BegunTurn =
  | {
      readonly kind: 'begun';
      readonly turn: TurnReference;
      readonly commandOnly: boolean;
      /** A fork or a switch waits, and is all that the turn does. */
      readonly branchRequested: boolean;
      /** A stop that was sent for what the turn is to do. */
      readonly stopRequested: boolean;
      readonly messages: number;
      readonly snapshot: AgentSnapshot;
      /** What it may use. */
      readonly limits: SpendingLimits;
    }
  | { readonly kind: 'nothing_waiting' };

/**
 * Takes the conversation for a new turn, in one transaction: raises the epoch, so that no older
 * turn can write; ends a turn that was left open as `interrupted` and gives its open tool calls a
 * result; abandons its planned compaction; appends the rules note if it changed, then the oldest
 * queued message and all waiting steering messages. A run begins one turn: asked again, it is told the same one. In a conversation
 * that was deleted nothing waits.
 * @throws StoreError `stale_epoch` (the run's turn was taken over), `run_replaced` (a turn is open, or was begun by a
 *   later run, and Temporal has a newer run than this one)
 */
export async function beginTurn(
  sql: Database,
  request: BeginTurnRequest,
  sources: BeginTurnSources,
): Promise<BegunTurn> {
  const { conversationId } = request;
  const [conversation] = await sql<({ agent: string; tenant: string } & ConversationSettings)[]>`
    select agent, tenant, model, preset, workspace, user_name as "user" from conversations where id = ${conversationId}`;
  // Deleted after its doorbell was rung, with all that waited.
  if (conversation === undefined) return { kind: 'nothing_waiting' };
  const { agent, tenant, ...settings } = conversation;
  const { snapshot: configured, ...measured } = await sources.snapshotFor(agent, settings);
  const snapshot = { ...measured, snapshot: tenant === DEFAULT_TENANT ? configured : { ...configured, tenant } };
  const begun = await beginOrTakeOver(sql, request, snapshot, sources);
  // No event tells of a command that found nothing to act on; who waits for it is woken.
  if (begun.kind === 'nothing_waiting') await notifyWatchers(sql, conversationId, 0);
  return begun;
}

/** Temporal is asked outside the transaction, so the answer holds for the turn that was open then; of another one it is asked again. */
async function beginOrTakeOver(
  sql: Database,
  request: BeginTurnRequest,
  snapshot: TurnSnapshot,
  sources: BeginTurnSources,
): Promise<BegunTurn> {
  const { conversationId, workflowId, runId } = request;
  for (let askedAbout: string | null = null; ;) {
    const begun: BegunTurn | RunInDoubt = await writeLocked(sql, conversationId, (source) =>
      begin(source, { ...request, askedAbout }, snapshot, sources),
    );
    if (begun.kind !== 'run_in_doubt') return begun;
    if (sources.isNewestRun !== undefined && !(await sources.isNewestRun())) {
      throw new StoreError(
        'run_replaced',
        `run ${runId} of ${workflowId} is not its newest one: turn ${begun.turnId} is left to that`,
      );
    }
    askedAbout = begun.turnId;
  }
}

/** Another turn than the one that Temporal was asked about is open, or was begun by a later run; nothing was written. */
interface RunInDoubt {
  readonly kind: 'run_in_doubt';
  readonly turnId: string;
}

interface WaitingRow {
  readonly id: string;
  readonly content: readonly ContentPart[];
  readonly kind: MessageKind;
  readonly output: AnswerForm | null;
}

async function begin(
  { sql, writer: writerFor, conversation }: LockedSource,
  request: BeginTurnRequest & { readonly askedAbout: string | null },
  { snapshot: configured, ...measured }: TurnSnapshot,
  { closeToolCall, memoriesFor, resumeNote }: BeginTurnSources,
): Promise<BegunTurn | RunInDoubt> {
  const { conversationId, turnId } = request;
  const begunBefore = await findBegun(sql, request, conversation?.epoch ?? 0);
  if (begunBefore !== null) return begunBefore;
  const deadTurnId = conversation?.activeTurnId ?? null;
  const ofAnother = deadTurnId ?? (await findLaterTurn(sql, request));
  if (ofAnother !== null && ofAnother !== request.askedAbout) return { kind: 'run_in_doubt', turnId: ofAnother };
  const waiting = await readWaiting(sql, conversationId);
  // What was sent after a change of branch was meant for the other branch: it waits for the next turn.
  const branchRequested = waiting.some(({ kind }) => isBranchCommand(kind));
  const messages = branchRequested ? [] : waiting.filter(({ kind }) => kind === 'message');
  const compactRequested = !branchRequested && waiting.some(({ kind }) => kind === 'compact');
  const resumes = await resumesToTake(sql, conversationId, branchRequested ? [] : idsOf(waiting, 'resume'));
  const commandOnly = messages.length === 0 && resumes.length === 0;
  const nothingWaits = commandOnly && !compactRequested && !branchRequested;
  const stopRequested = !nothingWaits && isStopMeant(waiting.map(({ kind }) => kind));
  // Any other stop was meant for what is over, or taken back; one that is sent meanwhile is meant for this turn.
  if (!stopRequested) {
    await consumeCommands(sql, { conversationId, kind: 'stop', turnId: null, ids: idsOf(waiting, 'stop') });
  }
  if (nothingWaits && deadTurnId === null) return { kind: 'nothing_waiting' };
  const turn: TurnReference = { conversationId, turnId, epoch: await raiseEpoch(sql, conversationId) };
  const writer = writerFor(turn);
  if (deadTurnId !== null) await interruptTurn(writer, { turnId: deadTurnId, reason: 'taken_over', closeToolCall });
  await setActiveTurn(sql, turn, nothingWaits ? null : turnId);
  if (nothingWaits) return { kind: 'nothing_waiting' };
  const snapshot = withAnswerForm(configured, await answerFormOf(sql, conversationId, messages, resumes.length > 0));
  const limits = await limitsOfNewTurn(sql, { conversationId, snapshot, resumes });
  await endPassesOfTurns(sql, turn, snapshot);
  const frozen = { ...measured, snapshot };
  await insertTurn(sql, { ...request, turn, snapshot: frozen, commandOnly, messages: messages.length, limits });
  await tellBeginning(writer, snapshot, commandOnly);
  if (!commandOnly) {
    await appendRules(writer, measured.rules);
    const said = messages.map(({ content }) => content);
    await appendMemories(writer, (await memoriesFor?.(sql, said, snapshot)) ?? null);
  }
  await appendMessages(writer, messages);
  await takeResumes(sql, turn, { ids: resumes, note: resumeNote });
  return {
    kind: 'begun',
    turn,
    commandOnly,
    branchRequested,
    stopRequested,
    messages: messages.length,
    snapshot,
    limits,
  };
}

/** What the task asks for; a resume goes on with the task of the turn before. */
async function answerFormOf(
  sql: Transaction,
  conversationId: string,
  messages: readonly WaitingRow[],
  resumes: boolean,
): Promise<AnswerForm | null> {
  const asked = messages.find(({ output }) => output !== null)?.output ?? null;
  if (asked !== null || !resumes) return asked;
  const [last] = await sql<{ output: AnswerForm | null }[]>`
    select s.content #> '{request,output}' as output from turns t join agent_snapshots s on s.hash = t.snapshot_hash
    where t.conversation_id = ${conversationId} and not t.command_only order by t.epoch desc limit 1`;
  return last?.output ?? null;
}

function idsOf(waiting: readonly WaitingRow[], wanted: MessageKind): string[] {
  return waiting.filter(({ kind }) => kind === wanted).map(({ id }) => id);
}

function isBranchCommand(kind: MessageKind): boolean {
  return kind === 'fork' || kind === 'switch';
}

/**
 * The newest turn of the conversation, when it was begun by an activity that was scheduled after this one: this run was terminated, or
 * reset, and a later one has been at work since. Both times are Temporal's. An imported turn has none.
 */
async function findLaterTurn(
  sql: Transaction,
  { conversationId, scheduledAt }: BeginTurnRequest,
): Promise<string | null> {
  if (scheduledAt === undefined) return null;
  const [newest] = await sql<{ id: string; isLater: boolean | null }[]>`
    select id, begin_scheduled_at > ${scheduledAt} as is_later from turns
    where conversation_id = ${conversationId} order by epoch desc limit 1`;
  return newest?.isLater === true ? newest.id : null;
}

/** What this run began already: the activity is repeated because its result was lost. */
async function findBegun(
  sql: Transaction,
  { conversationId, workflowId, runId }: BeginTurnRequest,
  epoch: number,
): Promise<BegunTurn | null> {
  const [row] = await sql<
    (Pick<BegunTurn & { kind: 'begun' }, 'commandOnly' | 'messages' | 'snapshot' | 'limits'> & {
      readonly id: string;
      readonly epoch: number;
      readonly outcome: string | null;
    })[]
  >`
    select id, epoch, outcome, command_only, messages, s.content as snapshot, limits
    from turns join agent_snapshots s on s.hash = snapshot_hash
    where workflow_id = ${workflowId} and begun_by_run_id = ${runId}`;
  if (row === undefined) return null;
  if (row.outcome !== null || row.epoch !== epoch) {
    throw new StoreError(
      'stale_epoch',
      `turn ${row.id}, begun by run ${runId}, is over (${row.outcome ?? 'taken over'})`,
    );
  }
  const { id: turnId, epoch: begunAt, outcome: _outcome, ...begun } = row;
  const waiting = await readWaiting(sql, conversationId);
  return {
    kind: 'begun',
    turn: { conversationId, turnId, epoch: begunAt },
    ...begun,
    branchRequested: begun.commandOnly && waiting.some(({ kind }) => isBranchCommand(kind)),
    stopRequested: waiting.some(({ kind }) => kind === 'stop'),
  };
}

async function readWaiting(sql: Transaction, conversationId: string): Promise<WaitingRow[]> {
  return sql<WaitingRow[]>`
    select id, kind, content, output from messages
    where conversation_id = ${conversationId} and consumed_at is null
      and (kind <> 'message' or mode = 'steer' or position = (
        select min(q.position) from messages q
        where q.conversation_id = ${conversationId} and q.consumed_at is null
          and q.kind = 'message' and q.mode = 'queue'))
    order by position`;
}
