import { inScope } from './invariant.ts';
import type { Breach, Invariant } from './invariant.ts';

/** Events of which a turn can hold but one, by what names it in their data; all others may rightly say the same again. */
const TOLD_ONCE = [
  ['turn_begun', '{}'],
  ['turn_ended', '{}'],
  ['turn_continued', '{runId}'],
  ['message_taken', '{messageId}'],
  ['model_call_started', '{callNumber,attempt}'],
  ['model_call_reclaimed', '{callNumber,attempt}'],
  ['model_call_answered', '{callNumber}'],
  ['model_call_failed', '{callNumber,attempt}'],
  ['tool_call_reclaimed', '{callNumber,callIndex,attempt}'],
  ['tool_call_finished', '{callNumber,callIndex}'],
  ['decision_requested', '{callNumber,callIndex}'],
  ['decision_made', '{callNumber,callIndex}'],
  ['compaction_started', '{compactionId}'],
  ['compaction_part_written', '{compactionId,part}'],
  ['compaction_committed', '{compactionId}'],
  ['note_added', '{entryId}'],
  ['rules_changed', '{entryId}'],
];

export const LOG_INVARIANTS: readonly Invariant[] = [
  {
    name: 'log_without_gaps',
    holds: 'the entries of a conversation are numbered from 1 without a gap, and the conversation knows the last one',
    find: (sql, scope) => sql<Breach[]>`
      select c.id as "conversationId", 'entries' as subject,
        format('%s entries, the last number %s, the conversation says %s', count(e.id), coalesce(max(e.sequence), 0), c.last_sequence) as found
      from conversations c left join entries e on e.conversation_id = c.id
      where ${inScope(sql, sql`c.id`, scope)}
      group by c.id
      having count(e.id) <> c.last_sequence or coalesce(max(e.sequence), 0) <> c.last_sequence
      limit ${scope.limit}`,
  },
  {
    name: 'head_is_newest',
    holds: 'the head of a conversation is the newest entry of its branch',
    find: (sql, scope) => sql<Breach[]>`
      select c.id as "conversationId", format('entry %s', newest.sequence) as subject,
        format('the head is entry %s of branch %s', h.sequence, c.branch) as found
      from conversations c
      left join entries h on h.id = c.head_entry_id
      join lateral (select max(e.sequence) as sequence from entries e where e.conversation_id = c.id and e.branch = c.branch) newest on true
      where ${inScope(sql, sql`c.id`, scope)} and newest.sequence is distinct from h.sequence
        and (h.branch = c.branch or newest.sequence is not null)
      limit ${scope.limit}`,
  },
  {
    name: 'parents_along_branches',
    holds:
      'the parent of an entry is the entry before it on its branch, and of the first one of a branch an entry where it forked',
    find: (sql, scope) => sql<Breach[]>`
      select conversation_id, subject, found from (
        select e.conversation_id, format('entry %s', e.sequence) as subject,
          format('its parent is entry %s, before it on branch %s is %s', p.sequence, e.branch, lag(e.sequence) over w) as found,
          case when lag(e.id) over w is not null then e.parent_id is distinct from lag(e.id) over w
            when e.parent_id is null then false
            else not exists (
              select from branches b where b.conversation_id = e.conversation_id and b.branch = e.branch
                and b.ancestor = p.branch and p.sequence <= b.through_sequence and p.sequence < e.sequence) end as astray
        from entries e left join entries p on p.id = e.parent_id
        where ${inScope(sql, sql`e.conversation_id`, scope)}
        window w as (partition by e.conversation_id, e.branch order by e.sequence)
      ) chained where astray
      limit ${scope.limit}`,
  },
  {
    name: 'message_enters_once',
    holds:
      'every message that was taken has exactly one entry, of the turn that took it, unless it was taken back with the change of branch before it, and no entry has a message that still waits',
    find: (sql, scope) => sql<Breach[]>`
      select m.conversation_id, format('message %s', m.id) as subject,
        format('%s by %s, entries: %s%s', case when m.consumed_at is null then 'not taken' else 'taken' end,
          coalesce('turn ' || m.turn_id, 'no turn'), count(e.id), ' of turn ' || string_agg(e.turn_id::text, ', ')) as found
      from messages m left join entries e on (e.conversation_id, e.message_id) = (m.conversation_id, m.id)
      where ${inScope(sql, sql`m.conversation_id`, scope)} and m.kind = 'message'
      group by m.conversation_id, m.id
      having count(e.id) <> (case when m.turn_id is null then 0 else 1 end)
        or bool_or(e.turn_id <> m.turn_id)
        or (m.consumed_at is not null and m.turn_id is null and m.follows_id is null)
      limit ${scope.limit}`,
  },
  {
    name: 'messages_in_order',
    holds: 'messages of one mode enter in the order in which they came',
    find: (sql, scope) => sql<Breach[]>`
      select conversation_id, subject, found from (
        select m.conversation_id, format('message %s', m.id) as subject,
          format('entry %s after entry %s', e.sequence, lag(e.sequence) over w) as found,
          e.sequence < lag(e.sequence) over w as early
        from messages m join entries e on (e.conversation_id, e.message_id) = (m.conversation_id, m.id)
        where ${inScope(sql, sql`m.conversation_id`, scope)}
        window w as (partition by m.conversation_id, m.mode order by m.position)
      ) ordered where early
      limit ${scope.limit}`,
  },
  {
    name: 'one_result_per_call',
    holds:
      'every tool call of an answer is in the ledger, and after its turn each has exactly one result in the log, which has no other results',
    find: (sql, scope) => sql<Breach[]>`
      select e.conversation_id, format('call %s of turn %s', e.call_number, e.turn_id) as subject,
        format('%s calls, %s in the ledger, %s finished, %s results', e.tool_call_count, count(t.turn_id),
          count(*) filter (where t.state = 'finished'), count(r.id)) as found
      from entries e
      join turns u on u.id = e.turn_id
      left join tool_calls t on t.turn_id = e.turn_id and t.call_number = e.call_number
      left join entries r on r.id = t.result_entry_id and r.kind = 'tool_result'
        and (r.turn_id, r.call_number, r.call_index) = (t.turn_id, t.call_number, t.call_index)
      where ${inScope(sql, sql`e.conversation_id`, scope)} and e.kind = 'assistant'
      group by e.conversation_id, e.sequence, u.id, u.conversation_id
      having count(t.turn_id) <> e.tool_call_count
        or count(r.id) <> count(*) filter (where t.state = 'finished')
        or (u.outcome is not null and count(r.id) <> e.tool_call_count)
      union all
      select r.conversation_id, format('call %s.%s of turn %s', r.call_number, r.call_index, r.turn_id),
        format('entry %s is a result of it; %s', r.sequence, case when t.turn_id is null then 'no such call is in the ledger'
          else format('the ledger names %s', coalesce('entry ' || o.sequence, 'none')) end)
      from entries r
      left join tool_calls t on (t.turn_id, t.call_number, t.call_index) = (r.turn_id, r.call_number, r.call_index)
      left join entries o on o.id = t.result_entry_id
      where ${inScope(sql, sql`r.conversation_id`, scope)} and r.kind = 'tool_result' and t.result_entry_id is distinct from r.id
      limit ${scope.limit}`,
  },
  {
    name: 'result_follows_call',
    holds:
      'the result of a tool call stands behind it on the same branch, so that a view that shows the call shows the result',
    find: (sql, scope) => sql<Breach[]>`
      select t.conversation_id, format('call %s.%s of turn %s', t.call_number, t.call_index, t.turn_id) as subject,
        format('called by entry %s on branch %s, its result is entry %s on branch %s', a.sequence, a.branch, r.sequence, r.branch) as found
      from tool_calls t
      join entries a on a.id = t.entry_id
      join entries r on r.id = t.result_entry_id
      where ${inScope(sql, sql`t.conversation_id`, scope)} and (r.branch <> a.branch or r.sequence <= a.sequence)
      limit ${scope.limit}`,
  },
  {
    name: 'answers_answer_something',
    holds:
      'no answer stands directly behind an answer of the same turn: the model was not asked with nothing to answer to',
    find: (sql, scope) => sql<Breach[]>`
      select e.conversation_id, format('entry %s', e.sequence) as subject,
        format('answer of call %s behind the answer of call %s', e.call_number, p.call_number) as found
      from entries e join entries p on p.id = e.parent_id
      where ${inScope(sql, sql`e.conversation_id`, scope)} and e.kind = 'assistant' and p.kind = 'assistant'
        and e.turn_id = p.turn_id and e.call_number <> p.call_number
      limit ${scope.limit}`,
  },
  {
    name: 'events_once',
    holds: 'the timeline tells each thing once, whatever was tried again',
    find: (sql, scope) => sql<Breach[]>`
      select e.conversation_id, format('%s of turn %s', e.kind, e.turn_id) as subject,
        format('told %s times (%s)', count(*), array_to_string(k.key, ', ')) as found
      from (values ${sql(TOLD_ONCE)}) w (kind, names)
      join events e on e.kind = w.kind
      cross join lateral (select array(select e.data ->> name from unnest(w.names::text[]) name) as key) k
      where ${inScope(sql, sql`e.conversation_id`, scope)}
      group by e.conversation_id, e.turn_id, e.kind, k.key having count(*) > 1
      limit ${scope.limit}`,
  },
  {
    name: 'original_is_whole',
    holds: 'an original kept in pieces has all its pieces, with as many bytes as it says',
    find: (sql, scope) => sql<Breach[]>`
      select o.conversation_id, format('original %s', o.id) as subject,
        format('%s pieces up to number %s with %s bytes, %s bytes said', count(p.number), max(p.number), coalesce(sum(length(p.data)), 0), o.bytes) as found
      from contents o left join content_pieces p on p.content_id = o.id
      where ${inScope(sql, sql`o.conversation_id`, scope)} and exists (select from entries e where e.original_id = o.id)
      group by o.id
      having o.bytes is null or coalesce(sum(length(p.data)), 0) <> o.bytes or count(p.number) <> coalesce(max(p.number) + 1, 0)
      limit ${scope.limit}`,
  },
];
