/** Plans of compactions, and their rows. */
import type {
  CheckFigures,
  CompactionForm,
  CompactionPlan,
  CompactionReason,
  Operation,
} from '../../context/plan/plan.ts';
import type { Queries, Database, Transaction } from '../database/database.ts';
import { isId, newId } from '../database/ids.ts';
import { measurementsText } from '../log/measurement-columns.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { operationColumns, readCurrentPoint, readSummaryInForce, toOperation } from '../conversations/branch-path.ts';
import type { OperationColumns, StoredSummary } from '../conversations/branch-path.ts';
import { EMPTY_CONTENT, insertEntry } from '../log/entry-writer.ts';
import { StoreError } from '../database/errors.ts';
import { abandonCompaction } from '../turns/open-work.ts';
import { jsonText } from '../log/stored-text.ts';
import { writeAsTurn } from '../database/transaction.ts';
import type { TurnWriter } from '../database/transaction.ts';
import type { JsonValue } from '../../context/policy/compaction-hook.ts';
import type { SummaryLedger } from '../../context/summary/summary-message.ts';

/**
 * `planned`: being carried out. `committed`: in force. `failed`: replaced by a weaker form, or none was left. `abandoned`: its turn ended.
 * `written`: of a branch that was left, whose summary is an entry of the one that goes on.
 */
export type CompactionStatus = 'planned' | 'committed' | 'failed' | 'abandoned' | 'written';

export interface ContextLines {
  readonly prepend: readonly string[];
  readonly append: readonly string[];
}

export const NO_CONTEXT_LINES: ContextLines = { prepend: [], append: [] };

export interface CompactionRow {
  readonly compactionId: string;
  readonly conversationId: string;
  readonly turnId: string;
  readonly callNumber: number;
  readonly status: CompactionStatus;
  readonly reason: CompactionReason;
  readonly preset: string;
  readonly form: CompactionForm;
  /** 1 for the first form of a pass, 2 for the weaker one that follows … */
  readonly formNumber: number;
  readonly plan: CompactionPlan;
  readonly focus: string | null;
  /** What a hook stored with it, or the compaction before. */
  readonly details: JsonValue;
  readonly contextLines: ContextLines;
  /** Newest entry when it was planned. */
  readonly headEntryId: string;
  /** The compaction whose summary this one updates. */
  readonly previousCompactionId: string | null;
  readonly markerEntryId: string | null;
  /** The weaker form that replaced a failed one. */
  readonly nextCompactionId: string | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number | null;
  readonly failure: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

export async function getCompaction(sql: Queries, compactionId: string): Promise<CompactionRow> {
  const [row] = isId(compactionId)
    ? await sql<CompactionRow[]>`
        select c.id as "compactionId", c.conversation_id, c.turn_id, c.call_number,
          c.status, c.reason, c.preset, c.form, c.form_number, c.plan, c.focus, c.details,
          coalesce(c.context_lines, '{"prepend": [], "append": []}') as "contextLines", c.head_entry_id,
          c.previous_id as "previousCompactionId", c.marker_entry_id,
          (select n.id from compactions n where n.replaces_id = c.id) as "nextCompactionId", c.tokens_before,
          c.tokens_after, c.failure, iso_time(c.created_at) as "createdAt", iso_time(c.finished_at) as "finishedAt"
        from compactions c where c.id = ${compactionId}`
    : [];
  if (row === undefined) throw new StoreError('compaction_not_found', `there is no compaction ${compactionId}`);
  return { ...row, plan: { ...row.plan, operations: await readOperations(sql, compactionId) } };
}

async function readOperations(sql: Queries, compactionId: string): Promise<Operation[]> {
  const rows = await sql<OperationColumns[]>`
    select ${operationColumns(sql)} from compaction_operations o
    join entries e on e.conversation_id = o.conversation_id and e.sequence = o.entry_sequence
    where o.compaction_id = ${compactionId} order by o.entry_sequence`;
  return rows.map(toOperation);
}

export interface PreviousSummary {
  readonly compactionId: string;
  readonly text: string;
  readonly files: SummaryLedger;
  readonly details: JsonValue;
}

export async function readPreviousSummary(sql: Queries, compactionId: string | null): Promise<PreviousSummary | null> {
  if (compactionId === null) return null;
  const [row] = await sql<{ summary: string | null; files: SummaryLedger | null; details: JsonValue }[]>`
    select summary, files, details from compactions where id = ${compactionId}`;
  if (row === undefined || row.summary === null) return null;
  return { compactionId, text: row.summary, files: row.files ?? { read: [], modified: [] }, details: row.details };
}

export interface StorePlanRequest {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly compactionId: string;
  readonly plan: CompactionPlan;
  readonly reason: CompactionReason;
  readonly preset: string;
  /** The head that the plan was made for; another head refuses the plan as `head_moved`. */
  readonly headEntryId: string;
  readonly hook?: HookData;
  readonly figures?: CheckFigures;
}

export interface HookData {
  /** Kept for the hooks of the next compaction; left out, what the one before kept is carried on. */
  readonly details?: JsonValue;
  readonly contextLines: ContextLines;
  /** Text of the plan's only part; `null`: a model writes the parts. */
  readonly summary: string | null;
}

export const NO_HOOK: HookData = { contextLines: NO_CONTEXT_LINES, summary: null };

/**
 * Stores a plan. While a conversation has an unfinished plan, that one is returned (`joined`): one
 * compaction at a time, and a repeated activity finds what it stored. One under which something was appended is abandoned: no
 * commit would take its numbers. Takes over the focus of the
 * newest compact command that waits; the command is served by the commit.
 * @throws StoreError `stale_epoch`, `head_moved`, `group_split`, `entry_not_found`
 */
export async function storePlan(
  sql: Database,
  request: StorePlanRequest,
): Promise<{ readonly compaction: CompactionRow; readonly joined: boolean }> {
  const { turn, headEntryId, compactionId } = request;
  return writeAsTurn(sql, turn, async (writer) => {
    const [open] = await writer.sql<{ id: string; headEntryId: string }[]>`
      select id, head_entry_id from compactions where conversation_id = ${turn.conversationId} and status = 'planned'`;
    if (open !== undefined) {
      const isCurrent = open.headEntryId === writer.conversation.headEntryId;
      if (isCurrent) return { compaction: await getCompaction(writer.sql, open.id), joined: true };
      await abandonCompaction(writer, 'head_moved');
    }
    requireHead(writer, headEntryId);
    const [command] = await writer.sql<{ focus: string | null }[]>`
      select focus from messages
      where conversation_id = ${turn.conversationId} and kind = 'compact' and consumed_at is null
      order by position desc limit 1`;
    await insertPlan(writer, { ...request, focus: command?.focus ?? null, formNumber: 1, replaces: null });
    if (request.plan.opensWithMarker) await openWithMarker(writer, request);
    return { compaction: await getCompaction(writer.sql, compactionId), joined: false };
  });
}

/**
 * Appends the marker at which the view will begin: from here on the compaction is a task in the log, which the
 * next step serves first, and the head is the marker (seeds/opencode.md).
 */
async function openWithMarker({ sql, turn }: TurnWriter, { compactionId, plan }: StorePlanRequest): Promise<void> {
  const marker = await insertEntry(sql, { ...EMPTY_CONTENT, kind: 'compaction', turn, compactionId });
  // The plan takes the newest entry of the branch for the newest of all; another branch may have a newer one.
  const isCut = plan.keptFromMarker;
  const cut = isCut ? planText({ ...plan, firstKeptSequence: marker.sequence }) : null;
  await sql`
    update compactions set head_entry_id = ${marker.id}, epoch = ${turn.epoch}
      ${cut === null ? sql`` : sql`, first_kept_sequence = ${marker.sequence}, covered_through_sequence = ${plan.coveredThroughSequence}, plan = ${cut}::text::json`}
    where id = ${compactionId}`;
}

/** As the row holds it: operations are rows of their own. */
function planText(plan: CompactionPlan): string {
  return jsonText({ ...plan, operations: undefined });
}

export function requireHead({ conversation }: TurnWriter, headEntryId: string): void {
  if (conversation.headEntryId === headEntryId) return;
  throw new StoreError(
    'head_moved',
    `the compaction of conversation ${conversation.id} was planned for entry ${headEntryId}; the head is ${conversation.headEntryId ?? 'none'}`,
  );
}

export interface NewPlan extends StorePlanRequest {
  readonly focus: string | null;
  readonly formNumber: number;
  readonly replaces: string | null;
}

export async function insertPlan(writer: TurnWriter, request: NewPlan): Promise<void> {
  const { sql, turn } = writer;
  const { compactionId, plan } = request;
  const point = await readCurrentPoint(sql, turn.conversationId);
  const previous = point === null ? null : await readSummaryInForce(sql, point);
  await insertRows(sql, request, previous);
  await writer.event('compaction_started', {
    compactionId,
    reason: request.reason,
    willRetry: request.reason === 'overflow',
    preset: request.preset,
    form: plan.form,
    formNumber: request.formNumber,
    parts: plan.parts.length,
    operations: plan.operations.length,
    tokensBefore: Math.round(plan.tokensBefore),
    messages: plan.entriesInView ?? null,
    messagesChanged: plan.messagesChanged ?? null,
    force: request.reason === 'overflow',
    proactive: plan.proactive ?? null,
    ...(request.figures !== undefined && {
      estimatedTokens: request.figures.estimate,
      reportedTokens: request.figures.reported,
      countedTokens: request.figures.effective,
      thresholdTokens: request.figures.threshold,
    }),
  });
}

/**
 * Stores the plan of a summary of the branch that the turn leaves, which no view shows. Repeating it returns the plan that stands.
 * @throws StoreError `stale_epoch`
 */
export async function storeBranchPlan(
  sql: Database,
  request: Pick<StorePlanRequest, 'turn' | 'plan' | 'preset' | 'headEntryId'>,
): Promise<CompactionRow> {
  return writeAsTurn(sql, request.turn, async ({ sql: open }) => {
    const [stored] = await open<{ id: string }[]>`
      select id from compactions where conversation_id = ${request.turn.conversationId} and status = 'planned'`;
    const { id } = stored ?? { id: newId() };
    const asked = { callNumber: 0, reason: 'manual', focus: null, formNumber: 1, replaces: null } as const;
    if (stored === undefined) await insertRows(open, { ...request, ...asked, compactionId: id }, null);
    return getCompaction(open, id);
  });
}

async function insertRows(sql: Transaction, request: NewPlan, previous: StoredSummary | null): Promise<void> {
  const { turn, compactionId, plan, focus, hook = NO_HOOK } = request;
  const cut = plan.opensWithMarker && plan.keptFromMarker && request.replaces === null ? null : plan.firstKeptSequence;
  await sql`
    insert into compactions (id, conversation_id, turn_id, epoch, call_number, reason, preset, form, form_number,
      replaces_id, previous_id, focus, details, context_lines, plan, head_entry_id, first_kept_sequence, covered_through_sequence, tokens_before)
    values (${compactionId}, ${turn.conversationId}, ${turn.turnId}, ${turn.epoch}, ${request.callNumber},
      ${request.reason}, ${request.preset}, ${plan.form}, ${request.formNumber}, ${request.replaces},
      ${previous?.compactionId ?? null}, ${focus === null ? null : jsonText(focus)}::text::json,
      ${jsonText(hook.details ?? previous?.details ?? null)}::text::json, ${jsonText(hook.contextLines)}::text::json,
      ${planText(plan)}::text::json, ${request.headEntryId}, ${cut},
      ${cut === null ? null : plan.coveredThroughSequence},
      ${Math.round(plan.tokensBefore)})`;
  await insertOperations(sql, request, plan.operations);
  await insertParts(sql, request);
}

async function insertOperations(
  sql: Transaction,
  { turn, compactionId }: NewPlan,
  operations: readonly Operation[],
): Promise<void> {
  if (operations.length === 0) return;
  const { count } = await sql`
    insert into compaction_operations (compaction_id, conversation_id, entry_sequence, kind, head_characters,
      tail_characters, array_items, measurements)
    select ${compactionId}, e.conversation_id, e.sequence, o.kind, o.head, o.tail, o.items, o.measurements::measurements
    from unnest(${operations.map(({ entryId }) => entryId)}::uuid[], ${operations.map(({ kind }) => kind)}::text[],
      ${operations.map(({ headCharacters }) => headCharacters ?? null)}::int[],
      ${operations.map(({ tailCharacters }) => tailCharacters ?? null)}::int[],
      ${operations.map(({ arrayItems }) => arrayItems ?? null)}::int[],
      ${operations.map(({ measurements }) => measurementsText(measurements))}::text[])
      as o (entry_id, kind, head, tail, items, measurements)
    join entries e on e.id = o.entry_id and e.conversation_id = ${turn.conversationId}`;
  if (count === operations.length) return;
  throw new StoreError(
    'entry_not_found',
    `${operations.length - count} operations of compaction ${compactionId} name no entry of conversation ${turn.conversationId}`,
  );
}

async function insertParts(sql: Transaction, { turn, compactionId, plan, hook = NO_HOOK }: NewPlan): Promise<void> {
  for (const part of plan.parts) {
    await sql`
      insert into compaction_parts (compaction_id, number, conversation_id, epoch, wave, kind, from_sequence,
        to_sequence, input_estimate, maximum_output, state, text, prompt_version)
      values (${compactionId}, ${part.number}, ${turn.conversationId}, ${turn.epoch}, ${part.wave}, ${part.kind},
        ${part.fromSequence ?? null}, ${part.toSequence ?? null}, ${Math.round(part.inputTokens)},
        ${Math.round(part.maximumOutput)}, ${hook.summary === null ? 'planned' : 'written'},
        ${hook.summary === null ? null : jsonText(hook.summary)}::text::json, ${hook.summary === null ? null : 'hook'})`;
  }
}
