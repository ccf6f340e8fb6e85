import type { ContentPart } from '../../context/log/content.ts';
import type { Database } from '../database/database.ts';
import type { ToolCallOutcome } from './tool-call-rows.ts';

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
