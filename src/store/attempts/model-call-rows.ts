import type { ReportedUsage, StopReason } from '../../models/model-client.ts';
import { toReportedUsage } from '../messages/answers.ts';
import type { ReportedUsageColumns } from '../messages/answers.ts';
import type { Database } from '../database/database.ts';
import { isId } from '../database/ids.ts';
import type { ModelFailure } from './model-calls.ts';
import { isoTime, isoTimeOrNull } from '../log/stored-text.ts';

export interface ModelCallRow {
  readonly turnId: string;
  readonly callNumber: number;
  readonly attempt: number;
  /** `registered` without an end: the worker died, and nobody knows whether the call was paid. */
  readonly state: 'registered' | 'answered' | 'failed';
  readonly model: string;
  readonly headEntryId: string;
  /** Compactions that had been committed when it was made. */
  readonly compactions: number;
  readonly viewFingerprint: string;
  readonly rendererVersion: number;
  readonly estimatedTokens: number;
  readonly usage: ReportedUsage | null;
  /** Dollars. */
  readonly cost: number | null;
  readonly stopReason: StopReason | null;
  readonly failure: {
    /** `superseded`: an answer that came after a newer attempt had registered. */
    readonly kind: ModelFailure['kind'] | 'superseded';
    readonly evidence: string;
    readonly status: number | null;
    /** The vendor's own words. */
    readonly message: string | null;
  } | null;
  readonly durationMilliseconds: number | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

interface ModelCallColumns extends ReportedUsageColumns {
  readonly turn_id: string;
  readonly call_number: number;
  readonly attempt: number;
  readonly state: ModelCallRow['state'];
  readonly model: string;
  readonly head_entry_id: string;
  readonly compactions: number;
  readonly view_fingerprint: string;
  readonly renderer_version: number;
  readonly estimated_tokens: number;
  readonly cost: number | null;
  readonly stop_reason: StopReason | null;
  readonly failure_kind: ModelFailure['kind'] | 'superseded' | null;
  readonly failure_evidence: string | null;
  readonly failure_status: number | null;
  readonly failure_message: string | null;
  readonly duration_milliseconds: number | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

/** Model calls of a conversation or of one turn, oldest first, calls paid twice included; at most `limit` (default 1,000). */
export async function listModelCalls(
  sql: Database,
  request: { readonly conversationId: string; readonly turnId?: string; readonly limit?: number },
): Promise<ModelCallRow[]> {
  const { conversationId, turnId, limit } = request;
  if (!isId(conversationId)) return [];
  const rows = await sql<ModelCallColumns[]>`
    select turn_id, call_number, attempt, state, model, head_entry_id, compactions, view_fingerprint,
      renderer_version, estimated_tokens, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens,
      cost::float8 as cost, stop_reason, failure_kind, failure_evidence, failure_status, failure_message, duration_milliseconds,
      started_at, ended_at
    from model_attempts
    where conversation_id = ${conversationId} and purpose = 'step' and turn_id in (
      select id from turns t where t.conversation_id = ${conversationId} ${turnId === undefined ? sql`` : sql`and t.id = ${turnId}`})
    order by started_at, call_number, attempt limit ${limit ?? 1_000}`;
  return rows.map(toModelCallRow);
}

function toModelCallRow(row: ModelCallColumns): ModelCallRow {
  return {
    turnId: row.turn_id,
    callNumber: row.call_number,
    attempt: row.attempt,
    state: row.state,
    model: row.model,
    headEntryId: row.head_entry_id,
    compactions: row.compactions,
    viewFingerprint: row.view_fingerprint,
    rendererVersion: row.renderer_version,
    estimatedTokens: row.estimated_tokens,
    usage: toReportedUsage(row),
    cost: row.cost,
    stopReason: row.stop_reason,
    failure:
      row.failure_kind === null
        ? null
        : {
            kind: row.failure_kind,
            evidence: row.failure_evidence ?? '',
            status: row.failure_status,
            message: row.failure_message,
          },
    durationMilliseconds: row.duration_milliseconds,
    startedAt: isoTime(row.started_at),
    endedAt: isoTimeOrNull(row.ended_at),
  };
}
