-- Working files of a task (seeds/wolffish.md): a task file with previews of what tools returned, and a detail log with all
-- of it, as views over the rows that are there anyway.

create view task_steps as
select
  a.conversation_id,
  a.turn_id,
  row_number() over (partition by a.turn_id order by a.call_number, a.call_index)::integer as step,
  a.name as tool,
  readable_text(a.arguments) as arguments,
  r.is_error,
  left(body.text, 2000) as preview,
  coalesce(o.characters, length(body.text))::bigint as characters,
  greatest(0, coalesce(o.characters, length(body.text)) - 2000)::bigint as characters_omitted,
  r.id as result_entry_id,
  r.created_at as finished_at
from tool_calls a
join entries r on r.id = a.result_entry_id
left join contents o on o.id = r.original_id
cross join lateral (select content_text(r.content) as text) as body;
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
comment on column task_steps.result_entry_id is 'The entry of the result; `holdfast entry` and recall_open open all of it.';
comment on column task_steps.finished_at is 'When the result was stored.';

create view task_files as
select
  s.conversation_id,
  s.turn_id,
  format('TASK-%s.md', s.turn_id) as file_name,
  format(E'# Task %s\n\n%s\n\n', s.turn_id, coalesce((
    select string_agg(left(content_text(e.content), 2000), E'\n\n' order by e.sequence)
    from entries e where e.conversation_id = s.conversation_id and e.turn_id = s.turn_id and e.kind = 'user'), ''))
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
comment on view task_files is 'The task file of every turn of several steps: the task, and each tool call with a preview of its result.';
comment on column task_files.conversation_id is 'The conversation.';
comment on column task_files.turn_id is 'The turn: the id of the task.';
comment on column task_files.file_name is 'TASK-<turn>.md.';
comment on column task_files.text is 'The file, Markdown.';
comment on column task_files.characters_returned is 'Characters that its tools returned in all.';

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
join entries r on r.id = s.result_entry_id;
comment on view task_details is 'The detail log of a task: what each tool call returned, all of it.';
comment on column task_details.conversation_id is 'The conversation.';
comment on column task_details.turn_id is 'The turn: the id of the task.';
comment on column task_details.file_name is 'TASK-<turn>-detail.log.';
comment on column task_details.step is 'Order within the turn, from 1.';
comment on column task_details.tool is 'The tool.';
comment on column task_details.arguments is 'What it was called with, as the model wrote it.';
comment on column task_details.output is 'The original, byte for byte; it need not be UTF-8.';
comment on column task_details.result_entry_id is 'The entry of the result.';
