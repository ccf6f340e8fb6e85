import type { Database } from '../database/database.ts';
import type { NewContent } from '../log/entries.ts';
import { changePins } from '../log/pins.ts';
import { insertEntry } from '../log/entry-writer.ts';
import { jsonText } from '../log/stored-text.ts';
import { readToolCall } from './tool-call-rows.ts';
import type { ToolCallOutcome, ToolCallReference, ToolCallRow } from './tool-call-rows.ts';
import { writeLocked } from '../database/transaction.ts';
import type { Writer } from '../database/transaction.ts';
import type { ContentPart } from '../../context/log/content.ts';

export interface ToolResultToStore extends ToolCallReference, NewContent {
  /** Id of the result's entry, made before, so that the content can name it. Storing the same id again comes to the same. */
  readonly entryId: string;
  /** Number of the claim that ran. A result without a run counts as one claim more, so that an earlier claim reports too late. */
  readonly attempt: number;
  /** The call was not run for this result, because of its arguments, a decision or an earlier claim. Default: false. */
  readonly isWithoutRun?: boolean;
  readonly outcome: ToolCallOutcome;
  readonly workerIdentity: string;
  readonly fingerprint: string;
  readonly plan?: NewContent;
  readonly pin?: string;
}

export type StoredToolResult =
  | { readonly state: 'stored'; readonly entryId: string; readonly outcome: ToolCallOutcome }
  /** Another attempt finished or took over the call, or the turn is over: kept beside the log, never in it. */
  | { readonly state: 'late' };

/**
 * Stores a result with its entry in one transaction.
 * Does not throw for an older attempt or epoch: the result is kept as a late one.
 * @throws StoreError `tool_call_not_found`
 */
export async function storeToolResult(sql: Database, result: ToolResultToStore): Promise<StoredToolResult> {
  const { turn, entryId, outcome } = result;
  return writeLocked(
    sql,
    turn.conversationId,
    async ({ sql: open, writer, conversation }): Promise<StoredToolResult> => {
      const row = await readToolCall(open, { ...result, ...turn });
      if (row.resultEntryId === entryId) return { state: 'stored', entryId, outcome };
      if (conversation?.epoch === turn.epoch && isExpected(result, row)) {
        await appendResult(writer(turn), result, row);
        return { state: 'stored', entryId, outcome };
      }
      // The claim that ran the call, or the end of the turn, reported more meanwhile.
      if (result.isWithoutRun === true) return { state: 'late' };
      // In the name of the turn that owns the conversation: the report itself is not fenced.
      await keepLateResult(writer({ ...turn, epoch: conversation?.epoch ?? 0 }), result);
      return { state: 'late' };
    },
  );
}

function isExpected({ attempt, isWithoutRun = false }: ToolResultToStore, row: ToolCallRow): boolean {
  return isWithoutRun
    ? row.state !== 'finished' && row.attempt === attempt - 1
    : row.state === 'claimed' && row.attempt === attempt;
}

async function appendResult(writer: Writer, result: ToolResultToStore, { name }: ToolCallRow): Promise<void> {
  const { sql, turn, event } = writer;
  const { callNumber, callIndex, outcome, plan, entryId, attempt, fingerprint } = result;
  await Promise.all([
    insertEntry(sql, {
      kind: 'tool_result',
      id: entryId,
      turn,
      content: result.content,
      measurements: result.measurements,
      ...(result.original !== undefined && { original: result.original }),
      callNumber,
      callIndex,
      toolName: name,
      isError: outcome !== 'succeeded',
    }),
    sql`
      update tool_calls set state = 'finished', outcome = ${outcome}, result_entry_id = ${entryId},
        fingerprint = ${fingerprint}, attempt = ${attempt}, finished_at = holdfast_now(), epoch = ${turn.epoch},
        claimed_at = coalesce(claimed_at, holdfast_now()), partial_output = null, partial_bytes = null, partial_at = null
      where conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId} and call_number = ${callNumber} and call_index = ${callIndex}`,
    event('tool_call_finished', { callNumber, callIndex, name, outcome, entryId, attempt }),
    plan !== undefined && appendPlan(writer, plan),
  ]);
  if (result.pin !== undefined) await changePins(writer, { add: [result.pin], remove: [] });
}

async function appendPlan({ sql, turn, event }: Writer, plan: NewContent): Promise<void> {
  const note = await insertEntry(sql, { ...plan, kind: 'note', slot: 'plan', turn });
  await event('note_added', { slot: 'plan', entryId: note.id });
}

async function keepLateResult({ sql, turn, event }: Writer, result: ToolResultToStore): Promise<void> {
  const { callNumber, callIndex, attempt, outcome, workerIdentity } = result;
  const { count } = await sql`
    update tool_calls set epoch = ${turn.epoch}, late_results = late_results || row(${attempt}::int, ${workerIdentity}::text,
      ${outcome}::text, ${jsonText(result.content)}::text::json, ${result.original?.contentId ?? null}::uuid,
      holdfast_now())::late_tool_result
    where conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId} and call_number = ${callNumber} and call_index = ${callIndex}
      and not exists (select from unnest(late_results) l where l.attempt = ${attempt})`;
  if (count > 0) await event('tool_result_late', { callNumber, callIndex, attempt, outcome, workerIdentity });
}

export interface LateToolResult {
  readonly turnId: string;
  readonly callNumber: number;
  readonly callIndex: number;
  readonly attempt: number;
  readonly workerIdentity: string;
  readonly outcome: ToolCallOutcome;
  readonly content: readonly ContentPart[];
  readonly receivedAt: string;
}

export async function listLateToolResults(sql: Database, turnIds: readonly string[]): Promise<LateToolResult[]> {
  if (turnIds.length === 0) return [];
  return sql<LateToolResult[]>`
    select t.turn_id, t.call_number, t.call_index, l.attempt,
      l.worker_identity, l.outcome, l.content, iso_time(l.received_at) as "receivedAt"
    from tool_calls t cross join unnest(t.late_results) l
    where t.turn_id = any(${[...turnIds]}::uuid[]) order by l.received_at, t.call_number, t.call_index, l.attempt`;
}
