-- Summaries name their branch, and only the one function gets past the append-only log.

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
join entries h on h.id = c.head_entry_id
cross join lateral (
  with recursive forms (id, replaces_id) as (
    select c.id, c.replaces_id
    union all select f.id, f.replaces_id from forms n join compactions f on f.id = n.replaces_id
  )
  select count(distinct forms.id)::integer as tries,
    coalesce(sum(p.model_calls), 0)::integer as model_calls, coalesce(sum(p.input_tokens), 0)::bigint as input_tokens,
    coalesce(sum(p.output_tokens), 0)::bigint as output_tokens,
    case when coalesce(sum(p.calls_of_unknown_cost), 0) = 0 then coalesce(sum(p.cost), 0) end as cost
  from forms left join compaction_parts p on p.compaction_id = forms.id) as paid
where c.status = 'committed';
comment on column summaries.branch is 'Branch on which it was made. It is in force where all that was read for it lies on the path.';

-- Postgres writes the name of a function with its schema where the search path would find another, or none, under that name.
-- The one that may delete lies in the schema of the tables, so its name is asked for in the same words. Before it stands
-- nothing that could make another name of it: neither a schema nor a letter, a digit or a quote.
create or replace function refuse_change() returns trigger language plpgsql as $$
declare
  stack text;
  remover text;
begin
  if tg_op = 'DELETE' then
    get diagnostics stack = pg_context;
    remover := regexp_replace(
      format('%I.delete_conversation(uuid)', tg_table_schema)::regprocedure::text, '([].*+?^${}()|[\\])', '\\\1', 'g');
    if stack ~ ('PL/pgSQL([^"\n]*[^"\na-z0-9_$.])?' || remover) then return old; end if;
  end if;
  raise exception using errcode = 'HF003', message = format('%s is append-only: %s refused', tg_table_name, lower(tg_op));
end $$;
