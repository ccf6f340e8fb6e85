import { inScope } from './invariant.ts';
import type { Breach, Invariant } from './invariant.ts';

/** Dollars. Costs of calls paid several times are multiplied before they are stored, which is not exact. */
const COST_TOLERANCE = 0.000_001;
/** Seconds. The order in which they are added may differ. */
const TIME_TOLERANCE = 0.01;

export const USAGE_INVARIANTS: readonly Invariant[] = [
  {
    name: 'usage_adds_up',
    holds:
      'the tokens and the cost of a turn are those of all tries of its model calls and summaries, calls paid twice included; its steps are its answers, its tool calls those that they ask for and that its end did not keep from running',
    find: (sql, scope) => sql<Breach[]>`
      select t.conversation_id, format('turn %s', t.id) as subject,
        format('%s input (%s read from a cache, %s written) and %s output tokens, %s dollars, %s steps, %s tool calls; its calls add up to %s (%s, %s) and %s, %s, %s, %s',
          u.input_tokens, u.cache_read_tokens, u.cache_write_tokens, u.output_tokens, u.cost, u.steps, u.tool_calls,
          paid.input, paid.cache_read, paid.cache_write, paid.output, paid.cost, ledger.steps, ledger.tool_calls) as found
      from turns t join turn_usage u on u.turn_id = t.id
      join lateral (
        select coalesce(sum(m.input_tokens), 0) as input, coalesce(sum(m.cache_read_tokens), 0) as cache_read,
          coalesce(sum(m.cache_write_tokens), 0) as cache_write, coalesce(sum(m.output_tokens), 0) as output,
          coalesce(sum(m.cost), 0) as cost
        from model_attempts m where m.turn_id = t.id and m.is_paid) paid on true
      join lateral (
        select (select count(*) from model_attempts m where m.turn_id = t.id and m.entry_id is not null) as steps,
          (select count(*) from tool_calls k
            where k.turn_id = t.id and (k.claimed_at is not null or k.state <> 'finished')) as tool_calls) ledger on true
      where ${inScope(sql, sql`t.conversation_id`, scope)} and not t.is_timeline_deleted
        and ((u.input_tokens, u.cache_read_tokens, u.cache_write_tokens, u.output_tokens, u.steps, u.tool_calls)
            is distinct from (paid.input, paid.cache_read, paid.cache_write, paid.output, ledger.steps, ledger.tool_calls)
          or abs(u.cost - paid.cost) > ${COST_TOLERANCE})
      limit ${scope.limit}`,
  },
  {
    name: 'totals_add_up',
    holds:
      'what a conversation has used in all, which its limits are checked against, is what its turns have used; its time is that of those that have ended',
    find: (sql, scope) => sql<Breach[]>`
      select c.id as "conversationId", 'totals' as subject,
        format('%s calls, %s input and %s output tokens, %s dollars and %s calls of unknown cost, %s steps, %s tool calls, %s seconds; its turns add up to %s, %s and %s, %s and %s, %s, %s, %s',
          c.model_calls, c.input_tokens, c.output_tokens, c.cost, c.calls_of_unknown_cost, c.steps, c.tool_calls, c.worked_seconds,
          turns.model_calls, turns.input, turns.output, turns.cost, turns.unknown, turns.steps, turns.tool_calls, turns.seconds) as found
      from conversations c
      join lateral (
        select coalesce(sum(u.model_calls), 0) as model_calls, coalesce(sum(u.input_tokens), 0) as input,
          coalesce(sum(u.cache_read_tokens), 0) as cache_read, coalesce(sum(u.cache_write_tokens), 0) as cache_write,
          coalesce(sum(u.output_tokens), 0) as output, coalesce(sum(u.cost), 0) as cost,
          coalesce(sum(u.calls_of_unknown_cost), 0) as unknown, coalesce(sum(u.steps), 0) as steps,
          coalesce(sum(u.tool_calls), 0) as tool_calls,
          coalesce(sum(worked_seconds(t)) filter (where t.ended_at is not null), 0) as seconds
        from turns t join turn_usage u on u.turn_id = t.id where t.conversation_id = c.id) turns on true
      where ${inScope(sql, sql`c.id`, scope)}
        and ((c.model_calls, c.input_tokens, c.cache_read_tokens, c.cache_write_tokens, c.output_tokens, c.calls_of_unknown_cost,
              c.steps, c.tool_calls)
            is distinct from (turns.model_calls, turns.input, turns.cache_read, turns.cache_write, turns.output, turns.unknown,
              turns.steps, turns.tool_calls)
          or abs(c.cost - turns.cost) > ${COST_TOLERANCE} or abs(c.worked_seconds - turns.seconds) > ${TIME_TOLERANCE})
      limit ${scope.limit}`,
  },
];
