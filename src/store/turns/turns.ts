import type { Measurements } from '../../context/log/measurements.ts';
import type { WindowBreakdown } from '../../context/plan/plan.ts';
import { withModelInForce } from '../../turn/agent-snapshot.ts';
import type { AgentSnapshot, GivenUpModel } from '../../turn/agent-snapshot.ts';
import type { SpendingLimits } from '../../turn/spending.ts';
import type { TurnOutcome, TurnReference } from '../../turn/turn-reference.ts';
import type { WaitReason } from '../../turn/limits.ts';
import type { Database, Fragment, Queries } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { parseMeasurements } from '../log/measurement-columns.ts';
import { writeAsTurn } from '../database/transaction.ts';
import { usageOf } from '../attempts/usage.ts';
import type { TurnUsage } from '../attempts/usage.ts';
import { waitReasonOf } from './waits.ts';

export { beginTurn } from './begin-turn.ts';
export type { BegunTurn } from './begin-turn.ts';
export type { TurnUsage } from '../attempts/usage.ts';

/** A turn that continues as a new run keeps id and epoch: registers the run that works on it now. */
export async function continueTurn(
  sql: Database,
  request: { readonly turn: TurnReference; readonly runId: string; readonly workerIdentity: string },
): Promise<void> {
  const { turn, runId, workerIdentity } = request;
  await writeAsTurn(sql, turn, async (writer) => {
    const { count } = await writer.sql`
      update turns set run_id = ${runId}, cancelled_through = null, worker_identity = ${workerIdentity}
      where id = ${turn.turnId} and run_id <> ${runId}`;
    if (count > 0) await writer.event('turn_continued', { runId });
  });
}

export interface TurnRow {
  readonly turn: TurnReference;
  readonly agent: string;
  /** In force: the agent's own, or a fallback. */
  readonly model: string;
  readonly givenUp: readonly GivenUpModel[];
  readonly preset: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly commandOnly: boolean;
  /** A message of the user stands in it: also in a command that was stopped, with what was sent before the stop. */
  readonly tookMessages: boolean;
  /** Why it waits for its provider or for a worker; `null`: it does not. */
  readonly waitReason: WaitReason | null;
  /** Tool calls wait for a person: for approvals, or only for answers to questions. */
  readonly waitsForPeople: 'waiting_for_approval' | 'waiting_for_answer' | null;
  /** `null` while the turn is open. */
  readonly outcome: TurnOutcome | null;
  readonly reason: string | null;
  /** What filled the window, for `context_exhausted`. */
  readonly breakdown: WindowBreakdown | null;
  readonly begunAt: string;
  readonly endedAt: string | null;
  /** Model calls that were answered. */
  readonly steps: number;
  readonly compactions: number;
  /** Requests that the provider found too large. */
  readonly overflows: number;
  /** What the vendor said of the last call that it refused for good. */
  readonly vendorMessage: string | null;
  readonly usage: TurnUsage;
}

function turnColumns(sql: Queries) {
  return sql`json_build_object('conversationId', t.conversation_id, 'turnId', t.id, 'epoch', t.epoch) as turn,
    t.agent, t.model, t.fallbacks as "givenUp", t.preset, t.workflow_id, t.run_id,
    t.command_only, t.outcome, t.reason, t.breakdown, iso_time(t.begun_at) as "begunAt",
    iso_time(t.ended_at) as "endedAt", ${usageOf(sql, sql`u`)} as usage,
    exists (
      select from entries e
      where e.conversation_id = t.conversation_id and e.turn_id = t.id and e.call_number is null and e.kind = 'user') as "tookMessages",
    case when t.outcome is null then ${waitReasonOf(sql)} end as "waitReason",
    (select case min(d.kind) when 'approval' then 'waiting_for_approval' when 'question' then 'waiting_for_answer' end
      from decisions d where d.turn_id = t.id and d.state = 'waiting') as "waitsForPeople",
    u.steps,
    (select count(*) from model_attempts m
      where m.conversation_id = t.conversation_id and m.turn_id = t.id and m.failure_kind = 'overflow')::int as overflows,
    (select m.failure_message from model_attempts m
      where m.conversation_id = t.conversation_id and m.turn_id = t.id and m.failure_message is not null
      order by m.call_number desc, m.attempt desc limit 1) as "vendorMessage",
    (select count(*) from compactions c where c.turn_id = t.id and c.status = 'committed')::int as compactions`;
}

export async function getTurn(sql: Database, turnId: string): Promise<TurnRow> {
  const [row] = isId(turnId)
    ? await sql<
        TurnRow[]
      >`select ${turnColumns(sql)} from turns t join turn_usage u on u.turn_id = t.id where t.id = ${turnId}`
    : [];
  if (row === undefined) throw turnNotFound(turnId);
  return row;
}

export async function readLastTurn(sql: Queries, conversationId: string): Promise<TurnRow | null> {
  if (!isId(conversationId)) return null;
  const [row] = await sql<TurnRow[]>`
    select ${turnColumns(sql)} from turns t join turn_usage u on u.turn_id = t.id where t.conversation_id = ${conversationId} order by t.epoch desc limit 1`;
  return row ?? null;
}

export interface SnapshotColumns {
  readonly snapshotHash: string;
  readonly givenUp: readonly GivenUpModel[];
  readonly limits: SpendingLimits;
  readonly commandOnly: boolean;
}

/** Of `turns t`, for `withSnapshot`. */
export function snapshotColumns(sql: Queries): Fragment {
  return sql`encode(t.snapshot_hash, 'hex') as "snapshotHash", t.fallbacks as "givenUp", t.limits, t.command_only`;
}

/** What a turn began with, with the model in force. */
export interface TurnSettings extends Omit<SnapshotColumns, 'snapshotHash'> {
  readonly snapshot: AgentSnapshot;
  /** Instructions and tool schemas, as measured when the turn began. */
  readonly fixed: Measurements;
}

/** @throws StoreError `turn_not_found` */
export async function readSnapshot(sql: Database, turnId: string): Promise<TurnSettings> {
  const [row] = await sql<SnapshotColumns[]>`select ${snapshotColumns(sql)} from turns t where t.id = ${turnId}`;
  if (row === undefined) throw turnNotFound(turnId);
  return withSnapshot(sql, row);
}

export async function withSnapshot(sql: Queries, columns: SnapshotColumns): Promise<TurnSettings> {
  const { snapshotHash, givenUp, limits, commandOnly } = columns;
  const { content, fixed } = snapshots.get(snapshotHash) ?? (await loadSnapshot(sql, snapshotHash));
  keepSnapshot(snapshotHash, { content, fixed });
  return { snapshot: withModelInForce(content, givenUp.length), givenUp, fixed, limits, commandOnly };
}

interface StoredSnapshot {
  readonly content: AgentSnapshot;
  readonly fixed: Measurements;
}

/**
 * By the hash of their content, so they never change. Each step reads one three times. A large agent has 100 KB, and one with memory has
 * another snapshot for each user.
 */
const snapshots = new Map<string, StoredSnapshot>();

/** Those that were read last: as many as a worker keeps workflows. */
const KEPT_SNAPSHOTS = 200;

async function loadSnapshot(sql: Queries, hash: string): Promise<StoredSnapshot> {
  const [row] = await sql<{ content: AgentSnapshot; fixed: string }[]>`
    select content, fixed from agent_snapshots where hash = decode(${hash}, 'hex')`;
  if (row === undefined) throw new StoreError('turn_not_found', `there is no agent snapshot ${hash}`);
  return { content: row.content, fixed: parseMeasurements(row.fixed) };
}

function keepSnapshot(hash: string, snapshot: StoredSnapshot): void {
  snapshots.delete(hash);
  snapshots.set(hash, snapshot);
  const [oldest] = snapshots.keys();
  if (snapshots.size > KEPT_SNAPSHOTS && oldest !== undefined) snapshots.delete(oldest);
}

/**
 * How far the message of a conversation has come. `waiting`: no turn took it. `served`: a command that
 * found nothing to do. `null`: no such message.
 */
export async function readTurnForMessage(
  sql: Database,
  { conversationId, messageId }: { readonly conversationId: string; readonly messageId: string },
): Promise<{ readonly state: 'waiting' | 'served' } | { readonly state: 'taken'; readonly turn: TurnRow } | null> {
  if (!isId(conversationId)) return null;
  // A message that was taken back with its fork ended as the fork did.
  const [message] = await sql<{ turnId: string | null; consumed: boolean }[]>`
    select case when m.consumed_at is not null then coalesce(m.turn_id, f.turn_id) end as turn_id,
      m.consumed_at is not null as consumed
    from messages m left join messages f on (f.conversation_id, f.id) = (m.conversation_id, m.follows_id)
    where m.conversation_id = ${conversationId} and m.id = ${messageId}`;
  if (message === undefined) return null;
  if (message.turnId !== null) return { state: 'taken', turn: await getTurn(sql, message.turnId) };
  return { state: message.consumed ? 'served' : 'waiting' };
}

function turnNotFound(turnId: string): StoreError {
  return new StoreError('turn_not_found', `there is no turn ${turnId}`);
}
