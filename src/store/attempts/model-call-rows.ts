import type { ReportedUsage, StopReason } from '../../models/model-client.ts';
import { reportedUsage } from '../messages/answers.ts';
import type { Database } from '../database/database.ts';
import { isId } from '../database/ids.ts';
import type { ModelFailure } from './model-calls.ts';

export interface ModelCallRow {
  readonly turnId: string;
  readonly callNumber: number;
  readonly attempt: number;
  /** `registered` without an end: the worker died, and nobody knows whether the call was paid. */
  readonly state: 'registered' | 'answered' | 'failed';
  readonly model: string;
  readonly headEntryId: string;
  readonly compactions: number;
  readonly viewFingerprint: string;
  readonly rendererVersion: number;
  readonly estimatedTokens: number;
  readonly usage: ReportedUsage | null;
  /** Dollars. */
  readonly cost: number | null;
  readonly stopReason: StopReason | null;
  readonly failure: {
    readonly kind: ModelFailure['kind'] | 'superseded';
    readonly evidence: string;
    readonly status: number | null;
    readonly message: string | null;
  } | null;
  readonly durationMilliseconds: number | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** Model calls of a conversation or of one turn, oldest first, calls paid twice included; at most `limit` (default 1,000). */
export async function listModelCalls(
  sql: Database,
  request: { readonly conversationId: string; readonly turnId?: string; readonly limit?: number },
): Promise<ModelCallRow[]> {
  const { conversationId, turnId, limit } = request;
  if (!isId(conversationId)) return [];
  return sql<ModelCallRow[]>`
    select m.turn_id as "turnId", m.call_number as "callNumber", m.attempt, m.state, m.model, m.head_entry_id as "headEntryId",
      m.compactions, m.view_fingerprint as "viewFingerprint", m.renderer_version as "rendererVersion",
      m.estimated_tokens as "estimatedTokens", ${reportedUsage(sql)} as usage, m.cost::float8 as cost,
      m.stop_reason as "stopReason", case when m.failure_kind is not null then json_build_object('kind', m.failure_kind,
        'evidence', coalesce(m.failure_evidence, ''), 'status', m.failure_status, 'message', m.failure_message) end as failure,
      m.duration_milliseconds as "durationMilliseconds", iso_time(m.started_at) as "startedAt", iso_time(m.ended_at) as "endedAt"
    from model_attempts m
    where m.conversation_id = ${conversationId} and m.purpose = 'step' and m.turn_id in (
      select id from turns t where t.conversation_id = ${conversationId} ${turnId === undefined ? sql`` : sql`and t.id = ${turnId}`})
    order by m.started_at, m.call_number, m.attempt limit ${limit ?? 1_000}`;
}
