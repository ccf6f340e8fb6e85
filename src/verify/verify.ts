import type { Database } from '../store/database/database.ts';
import { turnNumber } from '../store/turns/turn-number.ts';
import { COMPACTION_INVARIANTS } from './compaction-invariants.ts';
import { inScope } from './invariant.ts';
import type { CheckedInvariant, Invariant, VerifyScope } from './invariant.ts';
import { LOG_INVARIANTS } from './log-invariants.ts';
import { TURN_INVARIANTS } from './turn-invariants.ts';
import { USAGE_INVARIANTS } from './usage-invariants.ts';
import { VIEW_INVARIANTS } from './view-invariants.ts';

export const INVARIANTS: readonly Invariant[] = [
  ...LOG_INVARIANTS,
  ...TURN_INVARIANTS,
  ...USAGE_INVARIANTS,
  ...COMPACTION_INVARIANTS,
  ...VIEW_INVARIANTS,
];

const DEFAULT_LIMIT = 20;

export interface VerifyOptions {
  /** Default: all conversations. */
  readonly conversationId?: string | null;
  /** Most breaches listed per invariant. Default: 20. */
  readonly limit?: number;
}

/** A model call that was paid more than once: the worker died after it was asked, before the answer was stored. Not a breach. */
export interface RepeatedCall {
  readonly conversationId: string;
  readonly turnId: string;
  /** Number of the turn in its conversation, from 1, as `holdfast view` takes it. */
  readonly turn: number;
  readonly callNumber: number;
  /** The summary that the call was for, of a compaction or (`null` in it) of a branch; `null`: it was the step's own. */
  readonly summary: { readonly compactionId: string; readonly part: number } | null;
  /** Tries that ended with an answer or nobody knows how. */
  readonly tries: number;
}

export interface Verification {
  readonly conversations: number;
  readonly entries: number;
  readonly turns: number;
  readonly invariants: readonly CheckedInvariant[];
  readonly repeatedCalls: readonly RepeatedCall[];
}

/**
 * Checks what must hold whatever was killed when, reading Postgres only. Turns may be open
 * meanwhile; each invariant is read in one statement, so a running write is seen whole or not at all.
 */
export async function verify(sql: Database, options: VerifyOptions = {}): Promise<Verification> {
  const scope = { conversationId: options.conversationId ?? null, limit: options.limit ?? DEFAULT_LIMIT };
  const invariants: CheckedInvariant[] = [];
  for (const invariant of INVARIANTS) {
    const { name, holds } = invariant;
    invariants.push({ name, holds, breaches: await invariant.find(sql, scope) });
  }
  const within = inScope(sql, sql`conversation_id`, scope);
  const [[counts], repeatedCalls] = await Promise.all([
    sql<{ conversations: number; entries: number; turns: number }[]>`
      select (select count(*)::int from entries where ${within}) as entries,
        (select count(*)::int from turns where ${within}) as turns,
        (select count(*)::int from conversations
          where ${inScope(sql, sql`id`, scope)}) as conversations`,
    findRepeated(sql, scope),
  ]);
  return { conversations: 0, entries: 0, turns: 0, ...counts, invariants, repeatedCalls };
}

function findRepeated(sql: Database, scope: VerifyScope): Promise<RepeatedCall[]> {
  return sql<RepeatedCall[]>`
    select r.conversation_id, r.turn_id, ${turnNumber(sql)} as turn, r.call_number, r.summary, r.tries
    from (
      select m.conversation_id, m.turn_id, m.call_number,
        case m.purpose when 'summary_part' then jsonb_build_object('compactionId', m.compaction_id, 'part', m.part)
          end as summary,
        (count(*) + goes_on.calls)::int as tries
      from model_attempts m
      -- Where a call was left without an answer, the next number asks again.
      cross join lateral (
        select (m.purpose = 'step' and not exists (
            select from model_attempts a
            where a.turn_id = m.turn_id and a.call_number = m.call_number and a.entry_id is not null)
          and exists (
            select from model_attempts n
            where n.turn_id = m.turn_id and n.call_number > m.call_number and n.purpose = 'step'))::int as calls) goes_on
      where ${inScope(sql, sql`m.conversation_id`, scope)} and (m.state <> 'failed' or m.failure_kind in ('superseded', 'lost'))
      group by m.conversation_id, m.turn_id, m.call_number, m.purpose, m.compaction_id, m.part, goes_on.calls
      having count(*) + goes_on.calls > 1) r
    join turns t on t.id = r.turn_id
    order by r.conversation_id, t.epoch, r.call_number`;
}
