import type { ContentPart } from '../context/content.ts';
import type { Database } from './database.ts';
import { isoTime } from './stored-text.ts';
import type { ToolCallOutcome } from './tool-call-rows.ts';

/** A result that came too late, for people. */
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

interface LateColumns {
  readonly turn_id: string;
  readonly call_number: number;
  readonly call_index: number;
  readonly attempt: number;
  readonly worker_identity: string;
  readonly outcome: ToolCallOutcome;
  readonly content: readonly ContentPart[];
  readonly received_at: Date;
}

/** Results of turns that are kept beside the log, in order of arrival. */
export async function listLateToolResults(sql: Database, turnIds: readonly string[]): Promise<LateToolResult[]> {
  if (turnIds.length === 0) return [];
  const rows = await sql<LateColumns[]>`
    select t.turn_id, t.call_number, t.call_index, l.attempt, l.worker_identity, l.outcome, l.content, l.received_at
    from tool_calls t cross join unnest(t.late_results) l
    where t.turn_id = any(${[...turnIds]}::uuid[]) order by l.received_at, t.call_number, t.call_index, l.attempt`;
  return rows.map((row) => ({
    turnId: row.turn_id,
    callNumber: row.call_number,
    callIndex: row.call_index,
    attempt: row.attempt,
    workerIdentity: row.worker_identity,
    outcome: row.outcome,
    content: row.content,
    receivedAt: isoTime(row.received_at),
  }));
}
