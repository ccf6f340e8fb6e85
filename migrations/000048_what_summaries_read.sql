-- A summary may tell more than it covers: one that is asked behind the last request has read the newest entries too, which
-- stay word for word. On a branch that lacks them it would tell what was never said there.

alter table compactions add column read_through_sequence integer;
alter table compactions add foreign key (conversation_id, read_through_sequence) references entries (conversation_id, sequence);
comment on column compactions.read_through_sequence is 'Last entry that the summary, or one that it updates, was told of: in force only where this one lies on the path. Null without summary.';

create function read_through_sequence(of compactions) returns integer language sql stable as $$
  select greatest(
    of.covered_through_sequence,
    (select previous.read_through_sequence from compactions previous where previous.id = of.previous_id),
    (select h.sequence from entries h
     where h.id = of.head_entry_id and (
       of.prompt_version like 'working-summary.shared-prefix@%'
       or exists (select from compaction_parts p where p.compaction_id = of.id and p.request = 'shared_prefix'))))
$$;
comment on function read_through_sequence is 'How far a summary read: what it covers, what the summary before it read, and all of a request that it was asked behind.';

create function note_read_through() returns trigger language plpgsql as $$
begin
  new.read_through_sequence := read_through_sequence(new);
  return new;
end $$;
comment on function note_read_through is 'Trigger: a committed summary tells how far it read, also one from a file of an older version.';

-- Committed ones never change otherwise.
alter table compactions disable trigger user;
do $$
declare
  one compactions;
begin
  for one in select * from compactions where status = 'committed' and summary is not null order by conversation_id, number loop
    update compactions set read_through_sequence = read_through_sequence(one) where id = one.id;
  end loop;
end $$;
alter table compactions enable trigger user;

create trigger note_read_through before insert or update on compactions for each row
  when (new.status = 'committed' and new.summary is not null and new.read_through_sequence is null)
  execute function note_read_through();
alter table compactions add constraint compactions_read_through check (read_through_sequence >= covered_through_sequence);

create or replace view compaction_lineage as
with recursive forms (compaction_id, conversation_id, number, form_id) as (
  select c.id, c.conversation_id, c.number, c.id from compactions c where c.status = 'committed'
  union all
  select f.compaction_id, f.conversation_id, f.number, c.replaces_id
  from forms f join compactions c on c.id = f.form_id
  where c.replaces_id is not null
)
select
  f.conversation_id,
  f.number as generation,
  f.compaction_id,
  c.id as form_id,
  c.form_number,
  c.form,
  c.status,
  c.failure,
  previous.number as updates_generation,
  h.branch,
  c.head_entry_id as planned_at_entry_id,
  c.marker_entry_id,
  parts.read_from_sequence,
  case when parts.shows_all then (
    select max(e.sequence) from entries e
    join branches b on b.conversation_id = e.conversation_id and b.branch = h.branch and b.ancestor = e.branch
      and e.sequence <= b.through_sequence
    where e.conversation_id = f.conversation_id and e.sequence <= h.sequence and e.kind not in ('note', 'compaction'))
  else parts.read_through_sequence end as read_through_sequence,
  parts.parts,
  coalesce(parts.model_calls, 0)::integer as model_calls,
  coalesce(parts.input_tokens, 0)::bigint as input_tokens,
  coalesce(parts.output_tokens, 0)::bigint as output_tokens,
  case when coalesce(parts.calls_of_unknown_cost, 0) = 0 then coalesce(parts.cost, 0) end as cost,
  c.created_at as planned_at,
  c.finished_at
from forms f
join compactions c on c.id = f.form_id
join entries h on h.id = c.head_entry_id
left join compactions previous on previous.id = c.previous_id
left join lateral (
  select min(p.from_sequence) as read_from_sequence, max(p.to_sequence) as read_through_sequence,
    bool_or(p.request = 'shared_prefix') as shows_all,
    count(*)::integer as parts, sum(p.model_calls) as model_calls, sum(p.input_tokens) as input_tokens,
    sum(p.output_tokens) as output_tokens, sum(p.cost) as cost, sum(p.calls_of_unknown_cost) as calls_of_unknown_cost
  from compaction_parts p where p.compaction_id = c.id) as parts on true;
comment on column compaction_lineage.read_through_sequence is 'Last original that it read: behind the last request, the newest of all.';
comment on column compaction_lineage.branch is 'Branch on which it was planned. Its summary is in force where all that was read for it lies on the path.';
