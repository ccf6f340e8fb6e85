/** What the check before a model call reads: one query, and for a plan the sizes of the entries. */
import type { Measurements } from '../../context/log/measurements.ts';
import type { Calibration, ModelLimits, Operation, SummaryInForce } from '../../context/plan/plan.ts';
import type { CompactionPolicy } from '../../context/policy/policy.ts';
import type { ReportedUsage } from '../../models/model-client.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { reportedUsage } from '../attempts/usage.ts';
import { calibrationColumns, toCalibration } from '../providers/calibrations.ts';
import type { CalibrationColumns, LearnedCalibration } from '../providers/calibrations.ts';
import type { Database, Queries } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { staleEpoch } from '../messages/waiting.ts';
import { snapshotColumns, withSnapshot } from '../turns/turns.ts';
import type { SnapshotColumns, TurnSettings } from '../turns/turns.ts';
import { parseMeasurements } from '../log/measurement-columns.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { OutlineTable } from '../../context/log/outline-table.ts';
import { readOperationsInForce, readViewScope, readCurrentPoint } from '../conversations/branch-path.ts';
import type { ViewPoint } from '../conversations/branch-path.ts';
import { readOutlines } from '../log/packed-outlines.ts';

export interface FitCheck extends TurnSettings {
  readonly headEntryId: string;
  readonly headSequence: number;
  /** Where the view stands. */
  readonly point: ViewPoint;
  /** Measurements of the view at the head, without `fixed`. */
  readonly view: Measurements;
  readonly model: string;
  readonly modelLimits: ModelLimits;
  readonly policy: CompactionPolicy;
  readonly calibration: Calibration;
  /** What the calibration was when it was read. */
  readonly learned: LearnedCalibration;
  /** The newest usage that the provider reported for this model since the newest compaction; older usage never counts (R3). */
  readonly reported: {
    readonly usage: ReportedUsage;
    readonly answer: Measurements;
    readonly since: Measurements;
  } | null;
  readonly compactionId: string | null;
  /** A compaction that is planned and not finished: join it instead of planning another (R4). */
  readonly plannedCompactionId: string | null;
  readonly compactRequests: readonly string[];
  /** Messages wait for the next step. Not in a turn for a command, which has none. */
  readonly steers: boolean;
  /** Model calls of the turn that were answered. */
  readonly steps: number;
}

type FitColumns = SnapshotColumns &
  Pick<
    FitCheck,
    'headSequence' | 'model' | 'compactionId' | 'plannedCompactionId' | 'compactRequests' | 'steers' | 'steps'
  > &
  Pick<ViewPoint, 'branch' | 'compactions' | 'compactionsOver'> & {
    readonly epoch: number;
    readonly headEntryId: string | null;
    readonly view: string;
    readonly learnedLimits: ModelLimits | null;
    /** By server. */
    readonly calibrations: Readonly<Record<string, CalibrationColumns>> | null;
    readonly usage: ReportedUsage | null;
    readonly answer: string | null;
    readonly since: string | null;
  };

/**
 * One query whose cost does not depend on the conversation's length: sums at the head, plus the
 * offset that the newest compaction left, are the view.
 * @throws StoreError `stale_epoch`, `turn_not_found`, `entry_not_found` (nothing was said yet)
 */
export async function readFitCheck(sql: Database, turn: TurnReference): Promise<FitCheck> {
  const [row] = await sql<FitColumns[]>`
    select c.epoch, c.head_entry_id, h.branch, h.sequence as "headSequence", c.compactions, c.compactions_over,
      h.sums + c.view_offset as view, t.model, t.model_limits as "learnedLimits", ${snapshotColumns(sql)},
      (select json_object_agg(f.server, ${calibrationColumns(sql)})
        from model_facts f where f.tenant = c.tenant and f.model = t.model) as calibrations, c.compaction_id,
      p.id as "plannedCompactionId", h.sums - u.sums as since, u.measurements as answer, ${reportedUsage(sql)} as usage,
      array(
        select q.id from messages q
        where q.conversation_id = c.id and q.consumed_at is null and q.kind = 'compact') as "compactRequests",
      not t.command_only and exists (
        select from messages q
        where q.conversation_id = c.id and q.consumed_at is null and q.kind = 'message' and q.mode = 'steer') as steers,
      t.steps + c.steps as steps
    from conversations c
    join turns t on t.id = ${turn.turnId} and t.conversation_id = c.id
    left join entries h on h.conversation_id = c.id and h.id = c.head_entry_id
    left join compactions p on p.conversation_id = c.id and p.status = 'planned'
    left join entries u on u.conversation_id = c.id and u.id = c.usage_entry_id
    left join model_attempts m
      on m.conversation_id = c.id and m.turn_id = u.turn_id and m.call_number = u.call_number and m.entry_id = u.id
        -- Another model's count says nothing about this one's.
        and m.model = t.model
    where c.id = ${turn.conversationId}`;
  if (row === undefined) throw new StoreError('turn_not_found', `there is no turn ${turn.turnId}`);
  const { epoch, headEntryId } = row;
  if (epoch !== turn.epoch) throw staleEpoch(turn, epoch);
  if (headEntryId === null) {
    throw new StoreError('entry_not_found', `conversation ${turn.conversationId} has no entries`);
  }
  const { conversationId } = turn;
  return toFitCheck({ ...row, conversationId, headEntryId }, await withSnapshot(sql, row));
}

function toFitCheck(row: FitColumns & Pick<ViewPoint, 'conversationId' | 'headEntryId'>, settings: TurnSettings) {
  const { conversationId, headEntryId, headSequence, branch, compactions, compactionsOver, usage, answer, since } = row;
  const modelLimits = row.learnedLimits ?? settings.snapshot.modelLimits;
  const learned = toCalibration(row.calibrations?.[modelLimits.server ?? '']);
  return {
    ...settings,
    headEntryId,
    headSequence,
    point: { conversationId, headEntryId, headSequence, branch, compactions, ...definedOf({ compactionsOver }) },
    model: row.model,
    modelLimits,
    policy: settings.snapshot.policy,
    compactionId: row.compactionId,
    plannedCompactionId: row.plannedCompactionId,
    compactRequests: row.compactRequests,
    steers: row.steers,
    steps: row.steps,
    learned,
    view: parseMeasurements(row.view),
    calibration: learned.calibration,
    reported:
      usage === null || since === null || answer === null
        ? null
        : { usage, answer: parseMeasurements(answer), since: parseMeasurements(since) },
  };
}

/** Passes that the turn made after overflows that the provider reported. */
export async function countRecoveries(sql: Queries, { conversationId, turnId }: TurnReference): Promise<number> {
  const [row] = await sql<{ recoveries: number }[]>`
    select count(*)::int as recoveries from compactions
    where conversation_id = ${conversationId} and turn_id = ${turnId} and reason = 'overflow' and status = 'committed'`;
  return row?.recoveries ?? 0;
}

export interface ViewOutline {
  /** Outlines of the branch that the view needs: kept ones, kept older user messages, newest notes. Oldest first. */
  readonly entries: OutlineTable;
  readonly summary: SummaryInForce | null;
  readonly operations: readonly Operation[];
}

export interface PlanSource extends ViewOutline {
  readonly headEntryId: string;
  readonly headSequence: number;
}

/**
 * What planning reads: sizes, never text.
 * @throws StoreError `stale_epoch`, `entry_not_found` (nothing was said yet)
 */
export async function readPlanSource(sql: Database, turn: TurnReference): Promise<PlanSource> {
  const point = await readCurrentPoint(sql, turn.conversationId);
  if (point === null) throw noEntries(turn.conversationId);
  if (point.epoch !== turn.epoch) throw staleEpoch(turn, point.epoch);
  const outline = await readViewOutline(sql, point);
  return { ...outline, headEntryId: point.headEntryId, headSequence: point.headSequence };
}

export async function readViewOutline(sql: Queries, point: ViewPoint): Promise<ViewOutline> {
  const scope = await readViewScope(sql, point);
  const [entries, operations] = await Promise.all([readOutlines(sql, scope), readOperationsInForce(sql, scope)]);
  return { entries, summary: scope.summary, operations };
}

function noEntries(conversationId: string): StoreError {
  return new StoreError('entry_not_found', `conversation ${conversationId} has no entries`);
}
