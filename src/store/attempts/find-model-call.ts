import type { WindowFill } from '../../context/plan/plan.ts';
import type { Database } from '../database/database.ts';
import { isId } from '../database/ids.ts';
import { turnNumber, turnNumbered } from '../turns/turn-number.ts';

/** Which model call of a conversation; each part that is left out means the newest. */
export interface ModelCallAddress {
  /** Number of the turn in its conversation, from 1. */
  readonly turn?: number;
  /** Number of the call in its turn, from 1. */
  readonly callNumber?: number;
  /** Number of the attempt, from 1. A call is repeated after a failure or the loss of its worker. */
  readonly attempt?: number;
}

export interface FoundModelCall {
  readonly turn: number;
  readonly turnId: string;
  readonly callNumber: number;
  readonly attempt: number;
  readonly model: string;
  /** `registered` without an end: the worker died, and nobody knows whether the call was paid. */
  readonly state: 'registered' | 'answered' | 'failed';
  readonly headEntryId: string;
  readonly viewFingerprint: string;
  readonly rendererVersion: number;
  readonly estimatedTokens: number;
  /** The estimate by kind of content; `null` for a call that was imported. */
  readonly fill: WindowFill | null;
  /** Tokens that the provider reported for the whole input, read from its cache or not; `null` when it reported none. */
  readonly reportedTokens: number | null;
  readonly cacheReadTokens: number | null;
  /** Dollars; `null` when unknown. */
  readonly cost: number | null;
  readonly failure: string | null;
  readonly startedAt: Date;
}

export async function findModelCalls(
  sql: Database,
  request: {
    readonly conversationId: string;
    readonly address?: ModelCallAddress;
    /** Only older ones. */
    readonly before?: Required<ModelCallAddress> | undefined;
    readonly limit: number;
  },
): Promise<FoundModelCall[]> {
  const { conversationId, address = {}, before, limit } = request;
  if (!isId(conversationId)) return [];
  const { turn, callNumber, attempt } = address;
  const epochOf = (number: number) =>
    sql`(select epoch from turns where id = ${turnNumbered(sql, conversationId, number)})`;
  return sql<FoundModelCall[]>`
    select ${turnNumber(sql)} as turn, t.id as "turnId", m.call_number, m.attempt, m.model, m.state,
      m.head_entry_id, m.view_fingerprint, m.renderer_version,
      m.estimated_tokens, m.fill, m.input_tokens as "reportedTokens",
      m.cache_read_tokens, m.cost::float8 as cost, m.failure_kind as failure, m.started_at
    from turns t join model_attempts m on m.turn_id = t.id and m.purpose = 'step'
    where t.conversation_id = ${conversationId}
      ${turn === undefined ? sql`` : sql`and t.id = ${turnNumbered(sql, conversationId, turn)}`}
      ${callNumber === undefined ? sql`` : sql`and m.call_number = ${callNumber}`}
      ${attempt === undefined ? sql`` : sql`and m.attempt = ${attempt}`}
      ${before === undefined ? sql`` : sql`and (t.epoch, m.call_number, m.attempt) < (${epochOf(before.turn)}, ${before.callNumber}, ${before.attempt})`}
    order by t.epoch desc, m.call_number desc, m.attempt desc limit ${limit}`;
}

/** The newest call of a conversation that was answered; `null` before the first. */
export async function readLastCall(
  sql: Database,
  conversationId: string,
): Promise<{
  readonly model: string;
  /** Since its answer was stored. */
  readonly ageMilliseconds: number;
  /** No compaction was committed after it. */
  readonly showsNewestCompaction: boolean;
} | null> {
  const [row] = await sql<{ model: string; age: number; newest: boolean }[]>`
    select m.model, (extract(epoch from holdfast_now() - m.ended_at) * 1000)::float8 as age,
      m.compactions = c.compactions as newest
    from conversations c
    join turns t on t.conversation_id = c.id
    join lateral (
      select * from model_attempts a
      where a.turn_id = t.id and a.entry_id is not null order by a.call_number desc limit 1) m on true
    where c.id = ${conversationId}
    order by t.epoch desc limit 1`;
  return row === undefined ? null : { model: row.model, ageMilliseconds: row.age, showsNewestCompaction: row.newest };
}
