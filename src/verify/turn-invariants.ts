import { OVERFLOW_RECOVERIES_PER_TURN } from '../turn/limits.ts';
import { inScope } from './invariant.ts';
import type { Breach, Invariant } from './invariant.ts';

export const TURN_INVARIANTS: readonly Invariant[] = [
  {
    name: 'ended_turn_leaves_nothing_open',
    holds:
      'a turn that has ended has no open tool call, no planned compaction, nothing that waits for a person, and is not the active one',
    find: (sql, scope) => sql<Breach[]>`
      select t.conversation_id, format('turn %s', t.id) as subject,
        format('ended as %s with %s open tool calls, %s planned compactions, %s waiting decisions%s', t.outcome, open.calls,
          planned.compactions, asked.decisions,
          case when c.active_turn_id = t.id then ', still active' else '' end) as found
      from turns t
      join conversations c on c.id = t.conversation_id
      join lateral (select count(*) as calls from tool_calls k where k.turn_id = t.id and k.state <> 'finished') open on true
      join lateral (select count(*) as compactions from compactions k where k.turn_id = t.id and k.status = 'planned') planned on true
      join lateral (select count(*) as decisions from decisions d where d.turn_id = t.id and d.state = 'waiting') asked on true
      where ${inScope(sql, sql`t.conversation_id`, scope)} and t.outcome is not null
        and (open.calls > 0 or planned.compactions > 0 or asked.decisions > 0 or c.active_turn_id = t.id)
      limit ${scope.limit}`,
  },
  {
    name: 'open_turn_is_active',
    holds: 'a turn without an outcome is the active turn of its conversation and holds its epoch',
    find: (sql, scope) => sql<Breach[]>`
      select t.conversation_id, format('turn %s', t.id) as subject,
        format('epoch %s of %s, active turn %s', t.epoch, c.epoch, c.active_turn_id) as found
      from turns t join conversations c on c.id = t.conversation_id
      where ${inScope(sql, sql`t.conversation_id`, scope)} and t.outcome is null
        and (c.active_turn_id is distinct from t.id or c.epoch <> t.epoch)
      limit ${scope.limit}`,
  },
  {
    name: 'stop_meets_its_turn',
    holds:
      'a stop that a turn took ended that turn, and one that no turn took came while none was open but one that was lost',
    find: (sql, scope) => sql<Breach[]>`
      select m.conversation_id, format('stop %s', m.id) as subject,
        format('%s, while turn %s was open and ended as %s', case when m.turn_id is null then 'taken by no turn' else 'taken by it' end,
          t.id, coalesce(t.outcome, 'nothing yet')) as found
      from messages m
      join turns t on t.conversation_id = m.conversation_id
        and case when m.turn_id is null
          then t.epoch = m.sent_epoch and t.ended_at > m.consumed_at and t.outcome <> 'interrupted'
          else t.id = m.turn_id and t.outcome is null end
      where ${inScope(sql, sql`m.conversation_id`, scope)} and m.kind = 'stop' and m.consumed_at is not null
      limit ${scope.limit}`,
  },
  {
    name: 'stop_meets_what_came_before',
    holds:
      'what was sent to a turn before a stop that a turn took, messages and compactions, was taken by that turn or an earlier one; what was queued is not meant',
    find: (sql, scope) => sql<Breach[]>`
      select conversation_id, subject, found from (
        select m.conversation_id, format('%s %s', m.kind, m.id) as subject,
          format('taken by turn %s, after a stop that was sent later had ended an earlier turn', t.id) as found,
          m.kind in ('message', 'compact') and (m.mode = 'steer' or m.follows_id is not null)
            and t.epoch > min(t.epoch) filter (where m.kind = 'stop') over later
            and t.epoch > min(t.epoch) filter (where m.kind = 'stop') over stored_later as escaped
        from messages m join turns t on t.id = m.turn_id
        where ${inScope(sql, sql`m.conversation_id`, scope)}
        -- Of two that are sent at the same moment the later one may be stored first; of two with a clock that steps back in between, the
        -- later one has the earlier time.
        window later as (
          partition by m.conversation_id order by m.created_at
          range between interval '1 second' following and unbounded following),
          stored_later as (partition by m.conversation_id order by m.position rows between 1 following and unbounded following)
      ) taken where escaped
      limit ${scope.limit}`,
  },
  {
    name: 'one_answer_per_call',
    holds: 'an answer in the log is that of the only try of its model call that counts as answered',
    find: (sql, scope) => sql<Breach[]>`
      select m.conversation_id, format('call %s of turn %s', m.call_number, m.turn_id) as subject,
        format('%s tries with an answer in the log', count(m.entry_id)) as found
      from model_attempts m
      where m.purpose = 'step' and ${inScope(sql, sql`m.conversation_id`, scope)}
      group by m.conversation_id, m.turn_id, m.call_number
      having count(m.entry_id) > 1
      union all
      select e.conversation_id, format('call %s of turn %s', e.call_number, e.turn_id),
        format('entry %s answers it; its try %s is %s with %s', e.sequence, e.model_attempt, coalesce(m.state, 'missing'),
          coalesce('entry ' || a.sequence, 'no entry'))
      from entries e
      join turns t on t.id = e.turn_id and not t.is_timeline_deleted
      left join model_attempts m
        on (m.turn_id, m.call_number, m.attempt, m.purpose) = (e.turn_id, e.call_number, e.model_attempt, 'step')
      left join entries a on a.id = m.entry_id
      where ${inScope(sql, sql`e.conversation_id`, scope)} and e.kind = 'assistant'
        and (m.state is distinct from 'answered' or m.entry_id is distinct from e.id)
      limit ${scope.limit}`,
  },
  {
    name: 'one_recovery_per_turn',
    holds:
      'a turn recovers from as many overflows that the provider reported as its policy allows for each of its models',
    find: (sql, scope) => sql<Breach[]>`
      select k.conversation_id, format('turn %s', k.turn_id) as subject,
        format('%s compactions after an overflow', count(*)) as found
      from compactions k join turns t on t.id = k.turn_id
      where ${inScope(sql, sql`k.conversation_id`, scope)} and k.reason = 'overflow' and k.status = 'committed'
      group by k.conversation_id, k.turn_id, t.id, t.conversation_id
      having count(*) > coalesce((model_in_force(t) -> 'policy' ->> 'overflowRecoveries')::int, ${OVERFLOW_RECOVERIES_PER_TURN})
        * (1 + coalesce(jsonb_array_length(t.fallbacks), 0))
      limit ${scope.limit}`,
  },
  {
    name: 'decision_is_obeyed',
    holds:
      'a tool call that a person was asked about ran only where it was allowed, and was answered only where it was answered',
    find: (sql, scope) => sql<Breach[]>`
      select k.conversation_id, format('call %s.%s of turn %s', k.call_number, k.call_index, k.turn_id) as subject,
        format('%s although the decision is %s', k.outcome, d.state) as found
      from decisions d join tool_calls k using (turn_id, call_number, call_index)
      where ${inScope(sql, sql`d.conversation_id`, scope)} and k.outcome in ('succeeded', 'failed')
        and d.state not in ('approved', 'answered')
      limit ${scope.limit}`,
  },
];
