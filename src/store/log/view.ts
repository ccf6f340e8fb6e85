import type { RuntimeNote } from '../../context/view/notes.ts';
import type { Entry } from '../../context/log/entry.ts';
import type { ProjectionInput } from '../../context/view/view.ts';
import type { AgentSnapshot, GivenUpModel } from '../../turn/agent-snapshot.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import {
  entriesInScope,
  pointAt,
  readNewestCompaction,
  readOperationsInForce,
  readViewScope,
  readCurrentPoint,
} from '../conversations/branch-path.ts';
import type { ViewPoint } from '../conversations/branch-path.ts';
import type { Database } from '../database/database.ts';
import { entryColumns, heldEntries, holdEntries, toEntry } from './entry-rows.ts';
import type { EntryColumns } from './entry-rows.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { staleEpoch } from '../messages/waiting.ts';
import { readViewOutline } from '../compactions/fit-check.ts';
import { readLastTurn, readSnapshot } from '../turns/turns.ts';
import type { Measurements } from '../../context/log/measurements.ts';
import type { Calibration } from '../../context/plan/plan.ts';
import { readCalibration } from '../providers/calibrations.ts';
import type { ViewOutline } from '../compactions/fit-check.ts';

/** What the check before the call has read. */
type KnownTurn = Pick<ProjectionSource, 'snapshot' | 'givenUp' | 'point'>;

export interface ProjectionSource {
  readonly input: ProjectionInput;
  readonly snapshot: AgentSnapshot;
  readonly givenUp: readonly GivenUpModel[];
  readonly headSequence: number;
  /** Where the view stands. */
  readonly point: ViewPoint;
  /** The newest compaction that the projection takes into account; `null` when none was committed. */
  readonly compactionId: string | null;
}

/**
 * What the view at a head is made of: kept entries with their content, kept older user messages,
 * newest notes, the summary and the operations in force.
 * @throws StoreError `stale_epoch`, `entry_not_found`
 */
export async function readProjectionSource(
  sql: Database,
  request: {
    readonly turn: TurnReference;
    readonly headEntryId: string;
    readonly known?: KnownTurn;
  },
): Promise<ProjectionSource> {
  const { turn, headEntryId, known } = request;
  const { conversationId, turnId } = turn;
  if (known?.point.headEntryId === headEntryId) return readSource(sql, known.point, turnId, known);
  const [row] = await sql<(Omit<ViewPoint, 'branch'> & { epoch: number; branch: number | null })[]>`
    select c.epoch, c.compactions, c.compactions_over, e.branch, e.sequence as head_sequence from conversations c
    left join entries e on e.conversation_id = c.id and e.id = ${headEntryId}
    where c.id = ${conversationId}`;
  if (row?.epoch !== turn.epoch) throw staleEpoch(turn, row?.epoch);
  const { branch, ...point } = row;
  if (branch === null) throw noSuchEntry(conversationId, headEntryId);
  return readSource(sql, { ...point, branch, conversationId, headEntryId }, turnId, known);
}

/**
 * The same for a call of the past, as it was then: compactions committed later do not count.
 * @throws StoreError `model_call_not_found`
 */
export async function readProjectionSourceOfCall(
  sql: Database,
  call: { readonly turnId: string; readonly callNumber: number; readonly attempt: number },
): Promise<ProjectionSource> {
  const { turnId, callNumber, attempt } = call;
  const [row] = await sql<Omit<ViewPoint, 'branch' | 'headSequence'>[]>`
    select m.conversation_id, m.head_entry_id, m.compactions, t.compactions_over
    from model_attempts m join turns t on t.id = m.turn_id
    where m.purpose = 'step' and m.turn_id = ${turnId} and m.call_number = ${callNumber} and m.attempt = ${attempt}`;
  if (row === undefined) {
    throw new StoreError(
      'model_call_not_found',
      `turn ${turnId} has no attempt ${attempt} of model call ${callNumber}`,
    );
  }
  return readSource(sql, { ...(await pointAt(sql, row)), ...row }, turnId);
}

/**
 * The same right after a compaction was committed, at the entry that marks it.
 * @throws StoreError `entry_not_found`
 */
export async function readProjectionSourceOfCompaction(
  sql: Database,
  conversationId: string,
  compactionId: string,
): Promise<ProjectionSource> {
  const found = isId(conversationId) && isId(compactionId);
  const [row] = !found
    ? []
    : await sql<(ViewPoint & { readonly turnId: string })[]>`
        select c.conversation_id, e.branch, e.id as head_entry_id, e.sequence as head_sequence, c.number as compactions,
          t.compactions_over, c.turn_id
        from compactions c join turns t on t.id = c.turn_id
        join entries e on e.conversation_id = c.conversation_id and e.id = c.marker_entry_id
        where c.conversation_id = ${conversationId} and c.id = ${compactionId}`;
  if (row === undefined) {
    throw new StoreError('entry_not_found', `conversation ${conversationId} has no compaction ${compactionId}`);
  }
  const { turnId, ...point } = row;
  return readSource(sql, point, turnId);
}

/** The same for a conversation as it stands, with the snapshot of its newest turn; `null` before its first turn. */
export async function readCurrentProjectionSource(
  sql: Database,
  conversationId: string,
): Promise<ProjectionSource | null> {
  if (!isId(conversationId)) return null;
  const [point, turn] = await Promise.all([readCurrentPoint(sql, conversationId), readLastTurn(sql, conversationId)]);
  return point === null || turn === null ? null : readSource(sql, point, turn.turn.turnId);
}

function noSuchEntry(conversationId: string, entryId: string): StoreError {
  return new StoreError('entry_not_found', `conversation ${conversationId} has no entry ${entryId}`);
}

async function readSource(
  sql: Database,
  point: ViewPoint,
  turnId: string,
  known?: KnownTurn,
): Promise<ProjectionSource> {
  const [scope, { snapshot, givenUp }] = await Promise.all([
    readViewScope(sql, point),
    known ?? readSnapshot(sql, turnId),
  ]);
  // Only the next step reads a view again.
  const held = known === undefined ? new Map<string, Entry>() : heldEntries(point.conversationId);
  const columns = entryColumns(sql, [...held.keys()]);
  const [rows, operations, newest] = await Promise.all([
    sql<EntryColumns[]>`
      ${entriesInScope(sql, scope, columns, sql`left join contents o on o.id = e.original_id`)}`,
    readOperationsInForce(sql, scope),
    readNewestCompaction(sql, scope),
  ]);
  const { summary } = scope;
  const inForce = summary !== null || operations.length > 0;
  const entries = rows.map((row) => held.get(row.id) ?? toEntry(row));
  if (known !== undefined) holdEntries(point.conversationId, entries);
  return {
    input: {
      agent: snapshot,
      policy: snapshot.policy,
      ...(snapshot.runtimeAdvice !== undefined && { runtime: await readRuntime(sql, point, turnId) }),
      entries,
      summary,
      operations,
      changedThroughSequence: inForce ? (newest?.changedThroughSequence ?? Infinity) : 0,
    },
    snapshot,
    givenUp,
    headSequence: point.headSequence,
    point,
    compactionId: newest?.compactionId ?? null,
  };
}

async function readRuntime(sql: Database, point: ViewPoint, turnId: string): Promise<RuntimeNote> {
  const [row] = await sql<{ answers: number; results: number }[]>`
    select count(*) filter (where kind = 'assistant')::int as answers,
      count(*) filter (where kind = 'tool_result')::int as results
    from entries where conversation_id = ${point.conversationId} and turn_id = ${turnId} and sequence <= ${point.headSequence}`;
  return { iteration: (row?.answers ?? 0) + 1, toolCalls: row?.results ?? 0 };
}

export interface WindowSource extends ViewOutline {
  readonly snapshot: AgentSnapshot;
  readonly fixed: Measurements;
  readonly calibration: Calibration;
}

export async function readWindowSource(sql: Database, conversationId: string): Promise<WindowSource | null> {
  if (!isId(conversationId)) return null;
  const [point, turn] = await Promise.all([readCurrentPoint(sql, conversationId), readLastTurn(sql, conversationId)]);
  if (point === null || turn === null) return null;
  const [outline, { snapshot, fixed }] = await Promise.all([
    readViewOutline(sql, point),
    readSnapshot(sql, turn.turn.turnId),
  ]);
  const calibration = await readCalibration(sql, {
    conversationId,
    model: snapshot.model,
    limits: snapshot.modelLimits,
  });
  return { ...outline, snapshot, fixed, calibration };
}
