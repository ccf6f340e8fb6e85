-- Views for people with psql. A condition on one conversation or turn reads nothing of others.

create view turn_usage as
select
  t.conversation_id,
  t.id as turn_id,
  t.model_calls + coalesce(c.model_calls, 0) as model_calls,
  t.input_tokens + coalesce(c.input_tokens, 0) as input_tokens,
  t.cache_read_tokens + coalesce(c.cache_read_tokens, 0) as cache_read_tokens,
  t.cache_write_tokens + coalesce(c.cache_write_tokens, 0) as cache_write_tokens,
  t.output_tokens + coalesce(c.output_tokens, 0) as output_tokens,
  t.cost + coalesce(c.cost, 0) as cost,
  t.calls_of_unknown_cost + coalesce(c.calls_of_unknown_cost, 0) as calls_of_unknown_cost,
  t.steps + coalesce(c.steps, 0) as steps,
  t.tool_calls + coalesce(c.tool_calls, 0) as tool_calls
from turns t left join conversations c on c.id = t.conversation_id and c.active_turn_id = t.id;

create view task_steps as
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
join tool_calls a on a.conversation_id = t.conversation_id and a.turn_id = t.id
join entries r on r.conversation_id = t.conversation_id and r.id = a.result_entry_id
left join contents o on o.conversation_id = t.conversation_id and o.id = r.original_id
cross join lateral (select content_text(r.content) as text) as body;

create view task_files as
select
  s.conversation_id,
  s.turn_id,
  format('TASK-%s.md', s.turn_id) as file_name,
  format(E'# Task %s\n\n%s\n\n', s.turn_id, coalesce((
    select string_agg(left(content_text(e.content), 2000), E'\n\n' order by e.sequence)
    from entries e
    where e.conversation_id = s.conversation_id and e.turn_id = s.turn_id and e.kind = 'user'), ''))
    || string_agg(
      format(E'## %s. %s%s\n\n%s\n\n%s%s\n', s.step, s.tool, case when s.is_error then ' (failed)' else '' end,
        left(s.arguments, 500), s.preview,
        case when s.characters_omitted > 0
          then format(E'\n\n[%s of %s characters omitted; entry %s]',
            s.characters_omitted, s.characters, s.result_entry_id)
          else '' end),
      E'\n' order by s.step) as text,
  sum(s.characters)::bigint as characters_returned
from task_steps s
group by s.conversation_id, s.turn_id
having count(*) > 1;

create view task_details as
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
left join contents o on o.conversation_id = e.conversation_id and o.id = e.original_id;

create function paid_for_compactions(
  of_compactions uuid[], out model_calls integer, out input_tokens bigint, out output_tokens bigint, out cost numeric)
language sql stable begin atomic
  select count(*)::integer, coalesce(sum(m.input_tokens), 0)::bigint, coalesce(sum(m.output_tokens), 0)::bigint,
    case when count(*) = count(m.cost) then coalesce(sum(m.cost), 0) end
  from model_attempts m where m.purpose = 'summary_part' and m.compaction_id = any(of_compactions) and m.is_paid;
end;
comment on function paid_for_compactions
  is 'What the summarizing calls of compactions came to, tries paid in vain included.';

create view compaction_lineage as
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
  parts.read_through_sequence,
  parts.parts,
  paid.model_calls,
  paid.input_tokens,
  paid.output_tokens,
  paid.cost,
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
    count(*)::integer as parts
  from compaction_parts p where p.compaction_id = f.id) as parts on true
cross join lateral paid_for_compactions(array[f.id]) as paid
where g.status = 'committed';

create view summaries as
select
  c.conversation_id,
  c.number as generation,
  c.id as compaction_id,
  c.reason as trigger,
  c.preset,
  c.form,
  cardinality(forms.ids) as tries,
  readable_text(c.focus) as focus,
  c.covered_through_sequence,
  case when c.covered_through_sequence is not null then (
    select count(*)::integer from entries e
    join branches b on b.conversation_id = e.conversation_id and b.ancestor = e.branch
      and e.sequence <= b.through_sequence
    where e.conversation_id = c.conversation_id and b.branch = h.branch and e.sequence <= c.covered_through_sequence)
  else 0 end as entries_covered,
  c.first_kept_sequence,
  (select count(*)::integer from compaction_operations o where o.compaction_id = c.id) as entries_shortened,
  json_array_length(c.plan -> 'keptSequences') as entries_kept,
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
  select array_agg(id) as ids from forms) as forms
cross join lateral paid_for_compactions(forms.ids) as paid
where c.status = 'committed';

comment on view compaction_lineage is 'How each compaction came about: one row per form that was tried for it.';
comment on column compaction_lineage.conversation_id is 'The conversation.';
comment on column compaction_lineage.generation is 'Number of the committed compaction, from 1.';
comment on column compaction_lineage.compaction_id is 'The committed compaction.';
comment on column compaction_lineage.form_id is 'The plan of this form; in the last row the committed one.';
comment on column compaction_lineage.form_number is 'Which form of the pass it is, from 1.';
comment on column compaction_lineage.form is 'reduction, summary, shorter_summary, extractive_summary or clip_only.';
comment on column compaction_lineage.status is 'committed, or failed and replaced by the next form.';
comment on column compaction_lineage.failure is 'Code of why it failed.';
comment on column compaction_lineage.updates_generation is 'The generation whose summary it carries on, or null.';
comment on column compaction_lineage.branch is 'Branch on which it was planned.';
comment on column compaction_lineage.planned_at_entry_id is 'Newest entry when it was planned.';
comment on column compaction_lineage.marker_entry_id is 'The entry that marks the commit in the log.';
comment on column compaction_lineage.read_from_sequence is 'First entry that the summarizing model read, or null.';
comment on column compaction_lineage.read_through_sequence is 'Last entry that it read.';
comment on column compaction_lineage.parts is 'Calls that the plan asked for; their texts are in compaction_parts.';
comment on column compaction_lineage.model_calls is 'Calls that were paid.';
comment on column compaction_lineage.input_tokens is 'Input tokens of these calls.';
comment on column compaction_lineage.output_tokens is 'Output tokens of these calls.';
comment on column compaction_lineage.cost is 'Dollars; null when a price is unknown.';
comment on column compaction_lineage.planned_at is 'When it was planned.';
comment on column compaction_lineage.finished_at is 'When it was committed or failed.';
comment on view conversation_text is 'Everything that was said, one row per entry, as text.';
comment on column conversation_text.conversation_id is 'The conversation.';
comment on column conversation_text.agent is 'Name of its agent.';
comment on column conversation_text.sequence is 'Order within the conversation, over all branches.';
comment on column conversation_text.entry_id is 'The entry; `holdfast entry` opens it.';
comment on column conversation_text.branch is 'Branch on which it was appended.';
comment on column conversation_text.on_active_branch is 'Whether it is on the active path.';
comment on column conversation_text.kind is 'Kind of the entry.';
comment on column conversation_text.slot is 'Notes: what it is for.';
comment on column conversation_text.tool_name is 'Tool results: the tool.';
comment on column conversation_text.is_error is 'Tool results: whether the tool reported a failure.';
comment on column conversation_text.text is 'What it says; media as a line that names them.';
comment on column conversation_text.original_bytes is 'Size of the original when the text shows less.';
comment on column conversation_text.turn_id is 'The turn that it belongs to.';
comment on column conversation_text.created_at is 'When it was appended; of an imported session, when it was recorded.';
comment on view summaries is 'Every committed compaction: what it covered, gained and cost, and its summary.';
comment on column summaries.conversation_id is 'The conversation.';
comment on column summaries.generation is 'Counts the committed compactions of the conversation, from 1.';
comment on column summaries.compaction_id is 'The compaction; `holdfast entry` opens its summary by this id.';
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
comment on column summaries.branch is 'Branch on which it was made.';
comment on view task_details is 'The detail log of a task: what each tool call returned, all of it.';
comment on column task_details.conversation_id is 'The conversation.';
comment on column task_details.turn_id is 'The turn: the id of the task.';
comment on column task_details.file_name is 'TASK-<turn>-detail.log.';
comment on column task_details.step is 'Order within the turn, from 1.';
comment on column task_details.tool is 'The tool.';
comment on column task_details.arguments is 'What it was called with, as the model wrote it.';
comment on column task_details.output is 'The result, byte for byte where an original is stored.';
comment on column task_details.result_entry_id is 'The entry of the result.';
comment on view task_files is 'The task file of every turn of several steps, with previews of results.';
comment on column task_files.conversation_id is 'The conversation.';
comment on column task_files.turn_id is 'The turn: the id of the task.';
comment on column task_files.file_name is 'TASK-<turn>.md.';
comment on column task_files.text is 'The file, Markdown.';
comment on column task_files.characters_returned is 'Characters that its tools returned in all.';
comment on view task_steps is 'The tool calls of each turn in order, each with the beginning of what it returned.';
comment on column task_steps.conversation_id is 'The conversation.';
comment on column task_steps.turn_id is 'The turn: the id of the task.';
comment on column task_steps.step is 'Order within the turn, from 1.';
comment on column task_steps.tool is 'The tool.';
comment on column task_steps.arguments is 'What it was called with, as the model wrote it.';
comment on column task_steps.is_error is 'Whether it reported a failure.';
comment on column task_steps.preview is 'The first 2,000 characters of what the model saw of the result.';
comment on column task_steps.characters is 'Characters of the whole result.';
comment on column task_steps.characters_omitted is 'Of them, beyond the preview.';
comment on column task_steps.result_entry_id is 'The entry of the result; `holdfast entry` opens all of it.';
comment on column task_steps.finished_at is 'When the result was stored.';
comment on view turn_usage is 'What each turn has used: an open turn writes to the conversation''s sums alone.';
comment on column turn_usage.conversation_id is 'The conversation.';
comment on column turn_usage.turn_id is 'The turn.';
comment on column turn_usage.model_calls is 'Calls of models that were paid, summaries and repeated calls included.';
comment on column turn_usage.input_tokens is 'Input tokens of all these calls, cached ones included.';
comment on column turn_usage.cache_read_tokens is 'Of them, read from the provider''s cache.';
comment on column turn_usage.cache_write_tokens is 'Of them, written to the provider''s cache.';
comment on column turn_usage.output_tokens is 'Output tokens of all these calls.';
comment on column turn_usage.cost is 'Dollars, over the calls whose price is known.';
comment on column turn_usage.calls_of_unknown_cost is 'Calls whose price is unknown: unless 0, the cost is unknown.';
comment on column turn_usage.steps is 'Model calls that were answered.';
comment on column turn_usage.tool_calls is 'Tool calls that the model asked for, without those that the end prevented.';
