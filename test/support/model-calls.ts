import type { ReportedUsage } from '../../src/models/model-client.ts';
import { reportedUsage } from '../../src/store/attempts/usage.ts';
import type { Database } from '../../src/store/database/database.ts';

interface StoredCall {
  readonly turnId: string;
  readonly callNumber: number;
  readonly attempt: number;
  readonly state: 'registered' | 'answered' | 'failed';
  readonly model: string;
  readonly headEntryId: string;
  readonly compactions: number;
  readonly viewFingerprint: string;
  readonly rendererVersion: number;
  readonly estimatedTokens: number;
  readonly usage: ReportedUsage | null;
  readonly cost: number | null;
  readonly stopReason: string | null;
  readonly failure: {
    readonly kind: string;
    readonly evidence: string;
    readonly message: string | null;
  } | null;
  readonly durationMilliseconds: number | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** Model calls of a conversation or of one turn, oldest first, calls paid twice included. */
export async function listModelCalls(
  sql: Database,
  { conversationId, turnId = null }: { readonly conversationId: string; readonly turnId?: string | null },
): Promise<StoredCall[]> {
  return sql<StoredCall[]>`
    select m.turn_id, m.call_number, m.attempt, m.state, m.model, m.head_entry_id, m.compactions, m.view_fingerprint,
      m.renderer_version, m.estimated_tokens, ${reportedUsage(sql)} as usage, m.cost::float8 as cost, m.stop_reason,
      case when m.failure_kind is not null then json_build_object('kind', m.failure_kind, 'evidence',
        coalesce(m.failure_evidence, ''), 'message', m.failure_message) end as failure,
      m.duration_milliseconds, iso_time(m.started_at) as started_at, iso_time(m.ended_at) as ended_at
    from model_attempts m
    where m.conversation_id = ${conversationId} and m.purpose = 'step' and m.turn_id = coalesce(${turnId}, m.turn_id)
    order by m.started_at, m.call_number, m.attempt`;
}
