import type { ReportedUsage } from '../../models/model-client.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Fragment, Queries } from '../database/database.ts';

/** Sums over model calls that were paid, summaries and repeated calls included. Tokens; dollars. */
export interface TurnUsage {
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  /** `null` when the price of any call is unknown. */
  readonly cost: number | null;
}

/** `TurnUsage` of these sums, which conversations and the view `turn_usage` have alike. @param of the row */
export function usageOf(sql: Queries, of: Fragment): Fragment {
  return sql`json_build_object('modelCalls', ${of}.model_calls, 'inputTokens', ${of}.input_tokens,
    'cacheReadTokens', ${of}.cache_read_tokens, 'cacheWriteTokens', ${of}.cache_write_tokens,
    'outputTokens', ${of}.output_tokens, 'cost', case when ${of}.calls_of_unknown_cost = 0 then ${of}.cost end)`;
}

/**
 * Adds a call to its conversation, and so to the open turn (view `turn_usage`). Returns the turn's cost so far in dollars, `null` when a price is unknown.
 * @param step present when the call was answered: the tool calls that it asks for, and the answer's entry, which becomes the head
 */
export async function addUsage(
  sql: Queries,
  turn: TurnReference,
  usage: ReportedUsage | null,
  cost: number | null,
  step?: { readonly toolCalls: number; readonly entryId: string },
): Promise<number | null> {
  // One version of the row for sums and head: the entry that is inserted next finds itself the head.
  const head =
    step === undefined
      ? sql``
      : sql`, head_entry_id = ${step.entryId}, last_sequence = last_sequence + 1, is_unindexed = true
          ${usage === null ? sql`` : sql`, usage_entry_id = ${step.entryId}`}`;
  const [row] = await sql<{ cost: number | null }[]>`
    update conversations c set
    model_calls = model_calls + 1,
    input_tokens = input_tokens + ${usage?.input ?? 0},
    cache_read_tokens = cache_read_tokens + ${usage?.cacheRead ?? 0},
    cache_write_tokens = cache_write_tokens + ${usage?.cacheWrite ?? 0},
    output_tokens = output_tokens + ${usage?.output ?? 0},
    cost = cost + ${cost ?? 0},
    calls_of_unknown_cost = calls_of_unknown_cost + ${cost === null ? 1 : 0},
    steps = steps + ${step === undefined ? 0 : 1}, tool_calls = tool_calls + ${step?.toolCalls ?? 0} ${head}
    where id = ${turn.conversationId}
    returning (
      select case when t.calls_of_unknown_cost + c.calls_of_unknown_cost = 0 then (t.cost + c.cost)::float8 end
      from turns t where t.id = ${turn.turnId}) as cost`;
  return row?.cost ?? null;
}

export function reportedUsage(sql: Queries): Fragment {
  return sql`case when m.input_tokens is not null then json_build_object('input', m.input_tokens,
    'cacheRead', coalesce(m.cache_read_tokens, 0), 'cacheWrite', coalesce(m.cache_write_tokens, 0),
    'output', coalesce(m.output_tokens, 0)) end`;
}
