-- The views for psql read of other conversations nothing when they are asked for one, or for one turn. A condition passes into a
-- view only through columns that all of it is made by: a window's partition, a group, a join; a recursion must begin inside.

-- The messages of a turn, however long its conversation is.
create index entries_said_in_turn on entries (turn_id, sequence) where kind = 'user';

-- By the turns, because the calls are found by their turn.
create or replace view task_steps as
select
  t.conversation_id,
  t.id as turn_id,
  row_number() over (partition by t.conversation_id, t.id order by a.call_number, a.call_index)::integer as step,
  a.name as tool,
  readable_text(a.arguments) as arguments,
  r.is_error,
  left(body.text, 2000) as preview,
  coalesce(o.characters, length(body.text))::bigint as characters,
  greatest(0, coalesce(o.characters, length(body.text)) - 2000)::bigint as characters_omitted,
  r.id as result_entry_id,
  r.created_at as finished_at
from turns t
join tool_calls a on a.turn_id = t.id
join entries r on r.conversation_id = t.conversation_id and r.id = a.result_entry_id
left join contents o on o.conversation_id = t.conversation_id and o.id = r.original_id
cross join lateral (select content_text(r.content) as text) as body;

create or replace view task_files as
select
  s.conversation_id,
  s.turn_id,
  format('TASK-%s.md', s.turn_id) as file_name,
  format(E'# Task %s\n\n%s\n\n', s.turn_id, coalesce((
    select string_agg(left(content_text(e.content), 2000), E'\n\n' order by e.sequence)
    from entries e where e.turn_id = s.turn_id and e.kind = 'user'), ''))
    || string_agg(
      format(E'## %s. %s%s\n\n%s\n\n%s%s\n', s.step, s.tool, case when s.is_error then ' (failed)' else '' end,
        left(s.arguments, 500), s.preview,
        case when s.characters_omitted > 0
          then format(E'\n\n[%s of %s characters omitted; entry %s]', s.characters_omitted, s.characters, s.result_entry_id)
          else '' end),
      E'\n' order by s.step) as text,
  sum(s.characters)::bigint as characters_returned
from task_steps s
group by s.conversation_id, s.turn_id
having count(*) > 1;

create or replace view task_details as
select
  s.conversation_id,
  s.turn_id,
  format('TASK-%s-detail.log', s.turn_id) as file_name,
  s.step,
  s.tool,
  s.arguments,
  coalesce(
    (select string_agg(p.data, '' order by p.number) from content_pieces p where p.content_id = r.original_id),
    convert_to(content_text(r.content), 'UTF8')) as output,
  s.result_entry_id
from task_steps s
join entries r on r.conversation_id = s.conversation_id and r.id = s.result_entry_id;

create or replace view conversation_text as
select
  e.conversation_id,
  c.agent,
  e.sequence,
  e.id as entry_id,
  e.branch,
  exists (
    select from branches b
    where b.conversation_id = e.conversation_id and b.branch = c.branch and b.ancestor = e.branch
      and e.sequence <= b.through_sequence) as on_active_branch,
  e.kind,
  e.slot,
  e.tool_name,
  e.is_error,
  content_text(e.content) as text,
  o.bytes as original_bytes,
  e.turn_id,
  e.created_at
from entries e
join conversations c on c.id = e.conversation_id
left join contents o on o.conversation_id = e.conversation_id and o.id = e.original_id;

create or replace view compaction_lineage as
select
  g.conversation_id,
  g.number as generation,
  g.id as compaction_id,
  f.id as form_id,
  f.form_number,
  f.form,
  f.status,
  f.failure,
  previous.number as updates_generation,
  h.branch,
  f.head_entry_id as planned_at_entry_id,
  f.marker_entry_id,
  parts.read_from_sequence,
  case when parts.shows_all then (
    select max(e.sequence) from entries e
    join branches b on b.conversation_id = e.conversation_id and b.branch = h.branch and b.ancestor = e.branch
      and e.sequence <= b.through_sequence
    where e.conversation_id = g.conversation_id and e.sequence <= h.sequence and e.kind not in ('note', 'compaction'))
  else parts.read_through_sequence end as read_through_sequence,
  parts.parts,
  coalesce(parts.model_calls, 0)::integer as model_calls,
  coalesce(parts.input_tokens, 0)::bigint as input_tokens,
  coalesce(parts.output_tokens, 0)::bigint as output_tokens,
  case when coalesce(parts.calls_of_unknown_cost, 0) = 0 then coalesce(parts.cost, 0) end as cost,
  f.created_at as planned_at,
  f.finished_at
from compactions g
cross join lateral (
  with recursive forms as (
    select g.id, g.replaces_id, g.previous_id, g.form_number, g.form, g.status, g.failure,
      g.head_entry_id, g.marker_entry_id, g.created_at, g.finished_at
    union all
    select c.id, c.replaces_id, c.previous_id, c.form_number, c.form, c.status, c.failure,
      c.head_entry_id, c.marker_entry_id, c.created_at, c.finished_at
    from forms n join compactions c on c.conversation_id = g.conversation_id and c.id = n.replaces_id
  )
  select * from forms) as f
join entries h on h.conversation_id = g.conversation_id and h.id = f.head_entry_id
left join compactions previous on previous.conversation_id = g.conversation_id and previous.id = f.previous_id
left join lateral (
  select min(p.from_sequence) as read_from_sequence, max(p.to_sequence) as read_through_sequence,
    bool_or(p.request = 'shared_prefix') as shows_all,
    count(*)::integer as parts, sum(p.model_calls) as model_calls, sum(p.input_tokens) as input_tokens,
    sum(p.output_tokens) as output_tokens, sum(p.cost) as cost, sum(p.calls_of_unknown_cost) as calls_of_unknown_cost
  from compaction_parts p where p.compaction_id = f.id) as parts on true
where g.status = 'committed';

create or replace view summaries as
select
  c.conversation_id,
  c.number as generation,
  c.id as compaction_id,
  c.reason as trigger,
  c.preset,
  c.form,
  paid.tries,
  readable_text(c.focus) as focus,
  c.covered_through_sequence,
  case when c.covered_through_sequence is not null then (
    select count(*)::integer from entries e
    join branches b on b.conversation_id = e.conversation_id and b.ancestor = e.branch and e.sequence <= b.through_sequence
    where e.conversation_id = c.conversation_id and b.branch = h.branch and e.sequence <= c.covered_through_sequence)
  else 0 end as entries_covered,
  c.first_kept_sequence,
  (select count(*)::integer from compaction_operations o where o.compaction_id = c.id) as entries_shortened,
  (select count(*)::integer from compaction_kept_entries k where k.compaction_id = c.id) as entries_kept,
  c.tokens_before,
  c.tokens_after,
  c.model,
  paid.model_calls,
  paid.input_tokens,
  paid.output_tokens,
  paid.cost,
  readable_text(c.summary) as text,
  c.created_at as planned_at,
  c.finished_at as committed_at,
  h.branch
from compactions c
join entries h on h.conversation_id = c.conversation_id and h.id = c.head_entry_id
cross join lateral (
  with recursive forms (id, replaces_id) as (
    select c.id, c.replaces_id
    union all
    select f.id, f.replaces_id
    from forms n join compactions f on f.conversation_id = c.conversation_id and f.id = n.replaces_id
  )
  select count(*)::integer as tries,
    coalesce(sum(parts.model_calls), 0)::integer as model_calls, coalesce(sum(parts.input_tokens), 0)::bigint as input_tokens,
    coalesce(sum(parts.output_tokens), 0)::bigint as output_tokens,
    case when coalesce(sum(parts.calls_of_unknown_cost), 0) = 0 then coalesce(sum(parts.cost), 0) end as cost
  from forms
  -- Each form's own: joined to all of them at once, the parts of every compaction would be read.
  cross join lateral (
    select sum(p.model_calls) as model_calls, sum(p.input_tokens) as input_tokens, sum(p.output_tokens) as output_tokens,
      sum(p.cost) as cost, sum(p.calls_of_unknown_cost) as calls_of_unknown_cost
    from compaction_parts p where p.compaction_id = forms.id) as parts) as paid
where c.status = 'committed';
