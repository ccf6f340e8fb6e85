import type { ContentPart } from '../../context/log/content.ts';
import type { ReportedUsage, StopReason } from '../../models/model-client.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Fragment, Queries } from '../database/database.ts';

export interface StoredAnswer {
  readonly entryId: string;
  readonly attempt: number;
  readonly content: readonly ContentPart[];
  readonly stopReason: StopReason;
  readonly usage: ReportedUsage | null;
  readonly headEntryId: string;
  /** Dollars of the turn up to and with this call; `null` when a price is unknown. */
  readonly turnCost: number | null;
}

export interface ModelCallReference {
  readonly turn: TurnReference;
  readonly callNumber: number;
}

export async function readAnswer(sql: Queries, call: ModelCallReference): Promise<StoredAnswer | null> {
  const [row] = await sql<StoredAnswer[]>`
    select m.entry_id, m.attempt, e.content, m.stop_reason, ${reportedUsage(sql)} as usage,
      m.head_entry_id, case when u.calls_of_unknown_cost = 0 then u.cost::float8 end as "turnCost"
    from model_attempts m join entries e on e.conversation_id = m.conversation_id and e.id = m.entry_id
      join turn_usage u on u.turn_id = m.turn_id
    where m.conversation_id = ${call.turn.conversationId} and m.turn_id = ${call.turn.turnId} and m.call_number = ${call.callNumber}`;
  return row ?? null;
}

export function reportedUsage(sql: Queries): Fragment {
  return sql`case when m.input_tokens is not null then json_build_object('input', m.input_tokens,
    'cacheRead', coalesce(m.cache_read_tokens, 0), 'cacheWrite', coalesce(m.cache_write_tokens, 0),
    'output', coalesce(m.output_tokens, 0)) end`;
}
