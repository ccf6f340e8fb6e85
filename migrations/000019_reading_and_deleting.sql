-- For the user: a conversation can be deleted, imported again, kept for a time and read with psql.

-- Deleting -----------------------------------------------------------------------------------------

-- The log stays append-only for everybody but one function. The call stack tells it, in whatever language the server
-- speaks: a setting could be made by whoever writes.
create or replace function refuse_change() returns trigger language plpgsql as $$
declare
  stack text;
begin
  if tg_op = 'DELETE' then
    get diagnostics stack = pg_context;
    if stack ~ 'PL/pgSQL([^"\n]*[^"\na-z_])?delete_conversation\(uuid\)' then return old; end if;
  end if;
  raise exception using errcode = 'HF003', message = format('%s is append-only: %s refused', tg_table_name, lower(tg_op));
end $$;
comment on function refuse_change is 'Trigger: what was written stays (HF003), until delete_conversation removes the whole conversation.';

create function delete_conversation(conversation uuid) returns table (workflow_id text, run_id text)
language plpgsql as $$
declare
  found_row conversations;
  replication text := current_setting('session_replication_role');
  runs jsonb;
  terms text[];
  deletes text;
begin
  select * into found_row from conversations c where c.id = conversation for update;
  if not found then return; end if;
  if found_row.active_turn_id is not null then
    raise exception using errcode = 'HF007',
      message = format('conversation %s has an open turn: stop it, then delete', conversation);
  end if;
  select coalesce(jsonb_agg(distinct jsonb_build_object('workflow', t.workflow_id, 'run', each_run)), '[]')
  into runs
  from turns t cross join lateral unnest(array[t.begun_by_run_id, t.run_id]) as each_run
  where t.conversation_id = conversation;
  terms := array(
    select s.term from search_statistics s join search_progress p on p.number = s.conversation_number
    where p.conversation_id = conversation);
  -- First and by itself: the index goes by its own triggers and references.
  delete from search_progress where conversation_id = conversation;
  -- References between these tables are checked row by row, some without an index, because nothing else ever
  -- asks for them. All rows go together, so that the checks could only agree; who may, leaves them out.
  begin
    perform set_config('session_replication_role', 'replica', true);
  exception when insufficient_privilege then null;
  end;
  -- One statement, because tables refer to each other in circles. Every table that names its conversation is in it.
  select string_agg(
    format('%I as (delete from %I.%I where conversation_id = $1)', 'of_' || c.relname, n.nspname, c.relname), ', ')
  into deletes
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'conversation_id' and not a.attisdropped
  where c.relkind in ('r', 'p') and not c.relispartition
    and n.oid = (select relnamespace from pg_class where oid = 'conversations'::regclass);
  execute
    'with pieces as (delete from content_pieces where content_id in (select id from contents where conversation_id = $1)), '
    || 'late as (delete from late_tool_results where turn_id in (select id from turns where conversation_id = $1)), '
    -- Forgetting a memory forgets what it had superseded.
    || 'older as (with recursive superseded (id) as ('
    || 'select m.id from memories m where m.superseded_by in (select id from memories where conversation_id = $1) '
    || 'union select m.id from memories m join superseded s on m.superseded_by = s.id) '
    || 'delete from memories where id in (select id from superseded) and conversation_id is distinct from $1), '
    || deletes || ' delete from conversations where id = $1'
  using conversation;
  delete from search_vocabulary v
  where v.term = any(terms) and not exists (select from search_statistics s where s.term = v.term);
  if current_setting('session_replication_role') <> replication then
    perform set_config('session_replication_role', replication, true);
  end if;
  return query select each ->> 'workflow', each ->> 'run' from jsonb_array_elements(runs) as each;
end $$;
comment on function delete_conversation is
  'Removes a conversation for good: entries, originals, summaries, events, search index, and memories that were learned in it. Refused while a turn is open (HF007). Returns the workflow runs whose histories Temporal still keeps. Nothing, when there is no such conversation. Fast for a role that may set session_replication_role.';

-- A whole conversation that is imported comes in an order of its own; it is checked at the end.
do $$
declare
  reference record;
begin
  for reference in
    select c.conrelid::regclass as of_table, c.conname
    from pg_constraint c join pg_class t on t.oid = c.conrelid
    where c.contype = 'f' and not c.condeferrable
      and t.relnamespace = (select relnamespace from pg_class where oid = 'conversations'::regclass)
  loop
    execute format('alter table %s alter constraint %I deferrable initially immediate', reference.of_table, reference.conname);
  end loop;
end $$;

-- Upkeep that is not due at every look ---------------------------------------------------------------

create table upkeep_marks (
  task text primary key,
  done_at timestamptz not null
);
comment on table upkeep_marks is 'When upkeep last did what is not due at every look.';
comment on column upkeep_marks.task is 'Name of the task.';
comment on column upkeep_marks.done_at is 'When a worker took it up last.';

-- Reading ------------------------------------------------------------------------------------------

create function readable_json(original json) returns json
language sql immutable parallel safe as $$
  -- An escape counts when an even number of backslashes stands before it.
  select case when original::text ~ '\\u(0000|[dD][89a-fA-F])'
    then regexp_replace(original::text, '((?<!\\)(?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\1\\ufffd', 'g')::json
    else original end
$$;
comment on function readable_json is 'The JSON with U+FFFD for NUL and lone surrogates, which Postgres can keep but not read.';

create function readable_text(original json) returns text
language sql immutable parallel safe as $$ select readable_json(original) #>> '{}' $$;
comment on function readable_text is 'A JSON string as text, with U+FFFD for NUL and lone surrogates.';

create function content_text(content json) returns text
language sql immutable parallel safe as $$
  select coalesce(string_agg(
    case part ->> 'type'
      when 'text' then part ->> 'text'
      when 'thinking' then '[thinking] ' || (part ->> 'text')
      when 'tool_call' then format('[call %s] %s(%s)', part ->> 'index', part ->> 'name', part ->> 'arguments')
      when 'image' then format('[image %s, %s x %s]', part ->> 'mediaType', part ->> 'width', part ->> 'height')
      when 'file' then format('[file %s, %s]', part ->> 'name', part ->> 'mediaType')
    end, E'\n' order by number), '')
  from json_array_elements(readable_json(content)) with ordinality as parts (part, number)
$$;
comment on function content_text is 'Content parts as text for a person: media as a line that names them.';

create view conversation_text as
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
left join contents o on o.id = e.original_id;
comment on view conversation_text is 'Everything that was said, one row per entry, as text. Ask for one conversation and order by sequence.';
comment on column conversation_text.conversation_id is 'The conversation.';
comment on column conversation_text.agent is 'Name of its agent.';
comment on column conversation_text.sequence is 'Order within the conversation, over all branches.';
comment on column conversation_text.entry_id is 'The entry; `holdfast entry` opens it.';
comment on column conversation_text.branch is 'Branch on which it was appended.';
comment on column conversation_text.on_active_branch is 'Whether it lies on the path that the conversation goes on with.';
comment on column conversation_text.kind is 'user, assistant, tool_result, compaction (marker), branch_summary or note.';
comment on column conversation_text.slot is 'Notes: what it is for.';
comment on column conversation_text.tool_name is 'Tool results: the tool.';
comment on column conversation_text.is_error is 'Tool results: whether the tool reported a failure.';
comment on column conversation_text.text is 'What it says; NUL and lone surrogates as U+FFFD, media as a line that names them.';
comment on column conversation_text.original_bytes is 'Size of the original when the text shows less; `holdfast entry` prints all of it.';
comment on column conversation_text.turn_id is 'The turn that it belongs to.';
comment on column conversation_text.created_at is 'When it was appended.';

create view compaction_lineage as
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
  parts.read_through_sequence,
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
    count(*)::integer as parts, sum(p.model_calls) as model_calls, sum(p.input_tokens) as input_tokens,
    sum(p.output_tokens) as output_tokens, sum(p.cost) as cost, sum(p.calls_of_unknown_cost) as calls_of_unknown_cost
  from compaction_parts p where p.compaction_id = c.id) as parts on true;
comment on view compaction_lineage is 'How each generation came about: one row per form that was tried for it, from the first to the one that was committed.';
comment on column compaction_lineage.conversation_id is 'The conversation.';
comment on column compaction_lineage.generation is 'Number of the committed compaction, from 1.';
comment on column compaction_lineage.compaction_id is 'The committed compaction.';
comment on column compaction_lineage.form_id is 'The plan of this form; the committed compaction itself in the last row.';
comment on column compaction_lineage.form_number is 'Which form of the pass it is, from 1.';
comment on column compaction_lineage.form is 'reduction, summary, shorter_summary, extractive_summary or clip_only.';
comment on column compaction_lineage.status is 'committed, or failed and replaced by the next form.';
comment on column compaction_lineage.failure is 'Code of why it failed.';
comment on column compaction_lineage.updates_generation is 'The generation whose summary it carries on; null for a first one.';
comment on column compaction_lineage.branch is 'Branch on which it was planned. It is in force where what it covers lies on the path.';
comment on column compaction_lineage.planned_at_entry_id is 'Newest entry when it was planned.';
comment on column compaction_lineage.marker_entry_id is 'The entry that marks the commit in the log.';
comment on column compaction_lineage.read_from_sequence is 'First original that the summarizing model read; null when none was read.';
comment on column compaction_lineage.read_through_sequence is 'Last original that it read.';
comment on column compaction_lineage.parts is 'Calls that the plan asked for; their texts are in compaction_parts.';
comment on column compaction_lineage.model_calls is 'Calls that were paid.';
comment on column compaction_lineage.input_tokens is 'Input tokens of these calls.';
comment on column compaction_lineage.output_tokens is 'Output tokens of these calls.';
comment on column compaction_lineage.cost is 'Dollars; null when a price is unknown.';
comment on column compaction_lineage.planned_at is 'When it was planned.';
comment on column compaction_lineage.finished_at is 'When it was committed or failed.';

create view summaries as
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
  c.finished_at as committed_at
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
comment on view summaries is 'Every committed compaction: what it covered and won, what it cost, and the summary. One row per generation of a conversation.';
comment on column summaries.conversation_id is 'The conversation.';
comment on column summaries.generation is 'Counts the committed compactions of the conversation, from 1.';
comment on column summaries.compaction_id is 'The compaction; `holdfast entry` and recall_open open its summary by this id.';
comment on column summaries.trigger is 'threshold, overflow, manual or maintenance.';
comment on column summaries.preset is 'Name of the policy.';
comment on column summaries.form is 'reduction, summary, shorter_summary, extractive_summary or clip_only.';
comment on column summaries.tries is 'Forms that were planned until this one was committed.';
comment on column summaries.focus is 'What the user asked the summary to dwell on.';
comment on column summaries.covered_through_sequence is 'Last entry that the summary covers; null without summary.';
comment on column summaries.entries_covered is 'Entries of its branch up to there.';
comment on column summaries.first_kept_sequence is 'The cut point: first entry kept verbatim.';
comment on column summaries.entries_shortened is 'Entries that it clipped, cleared or stripped.';
comment on column summaries.entries_kept is 'Entries before the cut that stay verbatim.';
comment on column summaries.tokens_before is 'Tokens of the view before, by the calibrated estimate.';
comment on column summaries.tokens_after is 'Tokens after, measured the same way.';
comment on column summaries.model is 'provider/model that wrote the summary; null without a model.';
comment on column summaries.model_calls is 'Calls that were paid, over all tries.';
comment on column summaries.input_tokens is 'Input tokens of these calls.';
comment on column summaries.output_tokens is 'Output tokens of these calls.';
comment on column summaries.cost is 'Dollars; null when a price is unknown.';
comment on column summaries.text is 'The summary; null for a compaction without one.';
comment on column summaries.planned_at is 'When it was planned.';
comment on column summaries.committed_at is 'When it came into force.';
