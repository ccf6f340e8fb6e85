import { inScope } from './invariant.ts';
import type { Breach, Invariant } from './invariant.ts';

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
      select k.conversation_id, format('compaction %s', k.id) as subject,
        format('%s parts unwritten, %s of %s operations, marker %s', parts.unwritten, operations.stored,
          coalesce(v.data ->> 'operations', 'unknown'), coalesce(e.kind, 'missing')) as found
      from compactions k
      left join entries e on e.id = k.marker_entry_id and e.compaction_id = k.id
      left join events v on v.conversation_id = k.conversation_id and v.kind = 'compaction_committed' and v.data ->> 'compactionId' = k.id::text
      join lateral (select count(*) as unwritten from compaction_parts p where p.compaction_id = k.id and p.state <> 'written') parts on true
      join lateral (select count(*) as stored from compaction_operations o where o.compaction_id = k.id) operations on true
      where ${inScope(sql, sql`k.conversation_id`, scope)} and k.status = 'committed'
        and (parts.unwritten > 0 or operations.stored <> (v.data ->> 'operations')::int or e.kind is distinct from 'compaction')
      limit ${scope.limit}`,
  },
  {
    name: 'lineage_complete',
    holds:
      'everything that a summary covers was read by one of its parts or stands in the summary that it updates, and the summary of a branch that was left covers all that the new one does not share',
    find: (sql, scope) => sql<Breach[]>`
      (select k.conversation_id, format('compaction %s', k.id) as subject,
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
      group by k.id, k.conversation_id)
      union all
      (select s.conversation_id, format('branch summary, entry %s', n.sequence),
        format('of %s entries of branch %s, %s are neither shared with branch %s nor in %s to %s, or both',
          count(*), s.left_branch, count(*) filter (where f.is_shared = f.is_covered), n.branch, s.from_sequence, s.through_sequence)
      from branch_summaries s
      join entries n on n.id = s.entry_id
      join branches l on l.conversation_id = s.conversation_id and l.branch = s.left_branch
      join entries e on e.conversation_id = s.conversation_id and e.branch = l.ancestor and e.sequence <= l.through_sequence
        and e.sequence < n.sequence
      join lateral (select e.sequence between s.from_sequence and s.through_sequence as is_covered, exists (
        select from branches b where b.conversation_id = s.conversation_id and b.branch = n.branch and b.ancestor = e.branch
          and e.sequence <= b.through_sequence) as is_shared) f on true
      where ${inScope(sql, sql`s.conversation_id`, scope)}
      group by s.entry_id, n.conversation_id, n.sequence
      having count(*) filter (where f.is_shared = f.is_covered) > 0)
      limit ${scope.limit}`,
  },
];
