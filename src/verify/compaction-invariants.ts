import { inScope } from './invariant.ts';
import type { Breach, Invariant } from './invariant.ts';

/** What compactions and their summaries must look like. */
export const COMPACTION_INVARIANTS: readonly Invariant[] = [
  {
    name: 'compactions_numbered',
    holds: 'committed compactions are numbered from 1 without a gap, and the conversation names the newest',
    find: (sql, scope) => sql<Breach[]>`
      select c.id as "conversationId", 'compactions' as subject,
        format('%s committed, the last number %s, the conversation says %s', count(k.id), coalesce(max(k.number), 0), c.compactions) as found
      from conversations c left join compactions k on k.conversation_id = c.id and k.status = 'committed'
      where ${inScope(sql, sql`c.id`, scope)}
      group by c.id
      having count(k.id) <> c.compactions or coalesce(max(k.number), 0) <> c.compactions
      limit ${scope.limit}`,
  },
  {
    name: 'compaction_is_whole',
    holds:
      'a committed compaction has all its parts written, all operations that its event counts, and its marker in the log',
    find: (sql, scope) => sql<Breach[]>`
      select k.conversation_id as "conversationId", format('compaction %s', k.id) as subject,
        format('%s parts unwritten, %s of %s operations, marker %s', parts.unwritten, operations.stored,
          coalesce(v.data ->> 'operations', 'unknown'), coalesce(e.kind, 'missing')) as found
      from compactions k
      left join entries e on e.id = k.marker_entry_id and e.compaction_id = k.id
      left join events v on v.conversation_id = k.conversation_id and v.kind = 'compaction_committed' and v.data ->> 'compactionId' = k.id::text
      join lateral (select count(*) as unwritten from compaction_parts p where p.compaction_id = k.id and p.state <> 'written') parts on true
      join lateral (select count(*) as stored from compaction_operations o where o.compaction_id = k.id) operations on true
      where ${inScope(sql, sql`k.conversation_id`, scope)} and k.status = 'committed'
        and (parts.unwritten > 0 or operations.stored is distinct from (v.data ->> 'operations')::int or e.kind is distinct from 'compaction')
      limit ${scope.limit}`,
  },
  {
    name: 'lineage_complete',
    holds: 'everything that a summary covers was read by one of its parts or stands in the summary that it updates',
    find: (sql, scope) => sql<Breach[]>`
      select k.conversation_id as "conversationId", format('compaction %s', k.id) as subject,
        format('entries %s to %s of %s covered ones were read by no part (%s)', min(e.sequence), max(e.sequence), k.covered_through_sequence, count(*)) as found
      from compactions k
      left join compactions previous on previous.id = k.previous_id
      join entries marker on marker.id = k.marker_entry_id
      join branches b on b.conversation_id = k.conversation_id and b.branch = marker.branch
      join entries e on e.conversation_id = k.conversation_id and e.branch = b.ancestor and e.sequence <= b.through_sequence
        and e.kind in ('user', 'assistant', 'tool_result', 'branch_summary')
        and e.sequence > coalesce(previous.covered_through_sequence, 0) and e.sequence <= k.covered_through_sequence
      where ${inScope(sql, sql`k.conversation_id`, scope)} and k.status = 'committed' and k.summary is not null
        and not exists (
          select from compaction_parts p
          where p.compaction_id = k.id and e.sequence between p.from_sequence and p.to_sequence)
      group by k.id
      limit ${scope.limit}`,
  },
  {
    name: 'plan_has_open_turn',
    holds: 'a compaction that is still planned belongs to a turn that is still open',
    find: (sql, scope) => sql<Breach[]>`
      select k.conversation_id as "conversationId", format('compaction %s', k.id) as subject,
        format('planned in turn %s, which ended as %s', k.turn_id, t.outcome) as found
      from compactions k join turns t on t.id = k.turn_id
      where ${inScope(sql, sql`k.conversation_id`, scope)} and k.status = 'planned' and t.outcome is not null
      limit ${scope.limit}`,
  },
];
