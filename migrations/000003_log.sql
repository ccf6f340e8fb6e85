-- The log of a conversation, its timeline, and the ledgers of model and tool calls.

create table contents (
  id uuid primary key, -- UUIDv7.
  conversation_id uuid not null references conversations deferrable, -- Where it belongs.
  created_at timestamptz not null default holdfast_now(), -- When writing began.
  bytes bigint, -- Bytes stored; null until all pieces are written.
  missing_bytes bigint, -- Bytes beyond the storage limit, lost.
  characters bigint, -- Length as UTF-8 with U+FFFD for invalid bytes, in UTF-16 code units.
  unique (conversation_id, id),
  check (((bytes is null) = (missing_bytes is null)) and ((bytes is null) = (characters is null)))
);
comment on table contents
  is 'An original in pieces: clipped output, or bytes that are not UTF-8. A killed attempt may leave one behind.';

create table content_pieces (
  content_id uuid not null references contents deferrable, -- The content.
  number integer not null check (number >= 0), -- Order, from 0.
  data bytea not null, -- The bytes as they came.
  primary key (content_id, number)
);
comment on table content_pieces is 'The bytes of a content in pieces of 256 KB.';

create table entries (
  id uuid not null, -- UUIDv7, made by the writer.
  conversation_id uuid not null, -- The conversation.
  sequence integer not null check (sequence > 0), -- Order of arrival, from 1, without gaps; given by the database.
  branch integer not null, -- Branch on which it was appended. Given by the database.
  parent_id uuid, -- The entry before it on its branch; left out by the writer, the head.
  -- user, assistant, tool_result, compaction (marker), branch_summary or note.
  kind text not null check (kind in ('user', 'assistant', 'tool_result', 'compaction', 'branch_summary', 'note')),
  -- Notes: what it is for, and so where it stands in the view.
  slot text check (slot in ('rules', 'memories', 'continuation', 'plan')),
  note_key text, -- Notes: unique in the turn, so that a repeated write appends once.
  turn_id uuid not null, -- The turn that it belongs to.
  epoch integer not null, -- Epoch of the writer.
  call_number integer check (call_number > 0), -- Answers and results: the model call of the turn that made the group.
  model_attempt integer, -- Answers: the attempt of the model call that gave it.
  call_index integer check (call_index >= 0), -- Results: position among the calls of the answer, from 0.
  tool_call_count integer check (tool_call_count >= 0), -- Answers: how many tool calls it makes.
  tool_name text, -- Results: the tool.
  is_error boolean, -- Results: whether the tool reported a failure.
  message_id text, -- User entries: the message that it was.
  compaction_id uuid, -- Markers: the compaction that was committed here.
  content json not null, -- Content parts, as in src/context/log/content.ts.
  original_id uuid, -- Present when the content shows less than what was produced: the whole of it.
  measurements measurements not null check (measurements is not null), -- Counted of the content.
  -- Measurements summed along the path; only the newest rules count.
  sums measurements not null check (sums is not null),
  created_at timestamptz not null default holdfast_now(), -- When it was appended, or of an import recorded.
  primary key (conversation_id, sequence),
  unique (id, conversation_id),
  foreign key (conversation_id, original_id) references contents (conversation_id, id) deferrable,
  foreign key (conversation_id, message_id) references messages deferrable,
  check (((kind = 'assistant') = (tool_call_count is not null))
    and ((kind = 'assistant') = (model_attempt is not null))),
  check ((kind in ('assistant', 'tool_result')) = (call_number is not null)),
  check ((kind = 'compaction') = (compaction_id is not null)),
  check ((kind = 'user') or (message_id is null)),
  check (((kind = 'note') = (slot is not null)) and ((kind = 'note') or (note_key is null))),
  check (((parent_id is null) = (sequence = 1)) or (branch > 0)),
  check (((kind = 'tool_result') = (call_index is not null)) and ((kind = 'tool_result') = (tool_name is not null))
    and ((kind = 'tool_result') = (is_error is not null)))
);
create index entries_by_original on entries (original_id) where original_id is not null;
create unique index entries_of_call on entries (turn_id, call_number, coalesce(call_index, -1), conversation_id);
create index entries_notes on entries (conversation_id, slot, sequence desc) where kind = 'note';
create index entries_of_branch on entries ((branch + 0), conversation_id, sequence);
create unique index entries_one_marker on entries (compaction_id, conversation_id) where compaction_id is not null;
create unique index entries_one_note on entries (turn_id, note_key, conversation_id) where note_key is not null;
create unique index entries_one_per_message on entries (conversation_id, message_id) where message_id is not null;
create index entries_talk on entries (conversation_id, branch, sequence)
  where ((kind = 'user') or ((kind = 'assistant') and (tool_call_count = 0)));
comment on table entries is 'The append-only log of a conversation, a tree: the originals of everything, for ever.';

create table packed_outlines (
  conversation_id uuid not null references conversations deferrable, -- The conversation.
  block integer not null check (block >= 0), -- Holds the entries after sequence 256 × block, up to 256 × (block + 1).
  outline text not null, -- One line per property, as pack_outlines writes them.
  ids text not null, -- Ids of the entries, 36 characters each.
  primary key (conversation_id, block)
);
comment on table packed_outlines
  is 'Sizes of 256 entries each, for planning; derived from entries. Text is read faster than arrays.';

create table events (
  conversation_id uuid not null, -- The conversation.
  number integer not null check (number > 0), -- Order, from 1, without gaps. Given by the database.
  kind text not null, -- What happened (src/store/log/timeline.ts).
  turn_id uuid, -- The turn in which it happened.
  epoch integer not null, -- Epoch of the writer.
  data jsonb not null default '{}'::jsonb, -- Ids, names, counts and flags.
  created_at timestamptz not null default holdfast_now(), -- When it happened.
  primary key (conversation_id, number)
);
create unique index events_once on events (turn_id, kind, (data ->> 'callNumber'), conversation_id)
  where ((kind in ('compaction_exhausted', 'compaction_cancelled')) and (data ? 'callNumber'));
create index events_redactions on events (conversation_id) where kind = 'secrets_redacted';
comment on table events is 'The timeline of a conversation. Ids, names, counts and flags; never message text.';

-- Without padding: columns of one width stand together. What the end of a try changes stands last.
create table model_attempts (
  turn_id uuid not null, -- The turn.
  -- summary_part: the compaction; else zero, for a key without nulls.
  compaction_id uuid not null default '00000000-0000-0000-0000-000000000000',
  conversation_id uuid not null, -- The conversation.
  head_entry_id uuid, -- step only: newest entry that the request showed.
  started_at timestamptz not null default holdfast_now(), -- When it was registered.
  -- Model call of the turn, or the one that a summary is written before; 0: none.
  call_number integer not null check (call_number >= 0),
  part integer not null default 0 check (part >= 0), -- summary_part: number of the part, from 1; else 0.
  -- Counts the tries of a call, from 1; only the newest may store what it brought.
  attempt integer not null check (attempt > 0),
  epoch integer not null, -- Epoch of the writer.
  estimated_tokens integer not null, -- Tokens of the request by the calibrated estimate.
  compactions integer, -- step only: compactions committed by then; only these count in its view.
  renderer_version integer, -- step only: version of the code that rendered it.
  -- The step's own call, or a part of a summary.
  purpose text not null check (purpose in ('step', 'summary_part')),
  model text not null, -- provider/model.
  view_fingerprint text, -- step only: hash of the view.
  fill json, -- step only: the estimated tokens by kind of content; null: imported.
  registered_by activity_attempt, -- Activity attempt that registered it; an older one was replaced.
  -- registered: the model may have been asked. answered, failed: known.
  state text not null default 'registered' check (state in ('registered', 'answered', 'failed')),
  entry_id uuid, -- step only: the answer.
  stop_reason text, -- Why the model stopped.
  response_id text, -- The vendor's id of the response.
  failure_kind text, -- retryable and permanent use up a retry. lost: never reported. superseded: a newer try had begun.
  failure_evidence text, -- Code of what the classifier found; never the vendor's words.
  input_tokens integer, -- Input tokens, cached ones included; null: not reported.
  cache_read_tokens integer, -- Of them, read from the cache.
  cache_write_tokens integer, -- Of them, written to the cache.
  output_tokens integer, -- Output tokens as reported.
  cost numeric, -- Dollars; null when unknown.
  duration_milliseconds integer, -- From request to end of the answer.
  ended_at timestamptz, -- When answer or failure was stored.
  failure_message json, -- The vendor's words of a final refusal; shown to the user, never logged.
  -- It has ended and something was charged, or nobody knows how much.
  is_paid boolean not null
    generated always as (ended_at is not null and (input_tokens is not null or cost is distinct from 0)) stored,
  primary key (turn_id, call_number, compaction_id, part, attempt, conversation_id),
  check ((purpose = 'step') = (view_fingerprint is not null)),
  check ((purpose = 'summary_part') = (part > 0)),
  check ((part > 0) = (compaction_id <> '00000000-0000-0000-0000-000000000000')),
  check (purpose <> 'step' or call_number > 0),
  check (num_nulls(head_entry_id, compactions, view_fingerprint, renderer_version) in (0, 4)),
  check ((state = 'registered') = (ended_at is null)),
  check ((state = 'failed') = (failure_kind is not null)),
  check ((entry_id is null) or (purpose = 'step' and state = 'answered'))
) with (fillfactor = 80);
create index model_attempts_of_part on model_attempts (compaction_id, part) where purpose = 'summary_part';
create index model_attempts_by_time on model_attempts (started_at);
comment on table model_attempts
  is 'Every try of a paid call, registered before the model is asked: a call paid twice shows.';

create table tool_calls (
  turn_id uuid not null, -- The turn.
  call_number integer not null, -- The model call that asked for it.
  call_index integer not null check (call_index >= 0), -- Position among the calls of the answer, from 0.
  conversation_id uuid not null, -- The conversation.
  epoch integer not null, -- Epoch of the last writer.
  entry_id uuid not null, -- The assistant entry that makes the call.
  provider_call_id text not null, -- The provider's id of the call.
  name text not null, -- The tool.
  arguments json not null, -- Arguments as the model wrote them, valid JSON or not: a JSON string.
  worker_identity text, -- Worker of the newest claim.
  claim_run_id text, -- Workflow run whose activity claimed it last.
  claim_attempt integer check (claim_attempt > 0), -- Attempt of that activity; an older one was replaced.
  claimed_at timestamptz, -- When it was claimed last.
  -- claimed: may have acted.
  state text not null default 'requested' check (state in ('requested', 'claimed', 'finished')),
  attempt integer not null default 0, -- Counts the claims; only the newest may store the result.
  partial_output json, -- Output of the running claim so far, clipped and masked.
  partial_bytes bigint, -- Bytes that it had written by then.
  partial_at timestamptz, -- When this was noted.
  finished_at timestamptz, -- When its result was stored.
  -- outcome_unknown: the worker died. not_run: it never acted.
  outcome text check (outcome in ('succeeded', 'failed', 'outcome_unknown', 'not_run')),
  result_entry_id uuid, -- The entry with its result.
  -- Hash of call and result, for the loop guard; null without result.
  fingerprint text check ((length(fingerprint) >= 1) and (length(fingerprint) <= 64)),
  late_results late_tool_result[], -- Results of replaced attempts: shown to people, never to the model.
  primary key (turn_id, call_number, call_index, conversation_id),
  check (((state = 'requested') and (attempt = 0)) or ((state = 'claimed') and (attempt > 0)
    and (claimed_at is not null)) or (state = 'finished')),
  check ((state = 'finished') = (finished_at is not null)),
  check ((state = 'finished') = (outcome is not null)),
  check ((state = 'finished') = (result_entry_id is not null)),
  check ((claim_run_id is null) = (claim_attempt is null)),
  check ((state = 'claimed') or (partial_output is null)),
  check (((partial_output is null) = (partial_bytes is null)) and ((partial_output is null) = (partial_at is null)))
) with (fillfactor = 70);
comment on table tool_calls is 'The ledger of tool calls: each is claimed before it acts and gets one result.';

alter table conversations add foreign key (id, head_entry_id)
  references entries (conversation_id, id) deferrable initially deferred;
alter table conversations add foreign key (id, usage_entry_id)
  references entries (conversation_id, id) deferrable initially deferred;
alter table messages add foreign key (conversation_id, target_entry_id)
  references entries (conversation_id, id) deferrable initially deferred;
alter table decisions add foreign key (conversation_id, turn_id, call_number, call_index)
  references tool_calls (conversation_id, turn_id, call_number, call_index) deferrable;
alter table entries add foreign key (conversation_id, turn_id, call_number, call_index)
  references tool_calls (conversation_id, turn_id, call_number, call_index) deferrable;

create function packed_numbers(numbers bigint[]) returns text language sql immutable
return (
  select case
    when min(n) = max(n) then min(n)::text
    when max(n) <= 50000 then '~' || string_agg(chr(least(n, 50000)::int + 32), '' order by place)
    else string_agg(n::text, ',' order by place) end
  from unnest(numbers) with ordinality as listed (n, place));
comment on function packed_numbers is 'Numbers as text: one if all are equal, else a character each, else with commas.';

create function pack_outlines(of_conversation uuid, of_block integer) returns void language sql begin atomic
  with block as (
    select * from entries e
    where e.conversation_id = of_conversation and e.sequence > of_block * 256 and e.sequence <= (of_block + 1) * 256
  ), names as (
    select array_agg(distinct turn_id::text) as turns,
      coalesce(array_agg(distinct tool_name) filter (where tool_name is not null), '{}') as tools,
      coalesce(array_agg(distinct slot) filter (where slot is not null), '{}') as slots
    from block
  )
  insert into packed_outlines (conversation_id, block, ids, outline)
  select of_conversation, of_block, string_agg(e.id::text, '' order by e.sequence), concat_ws(E'\n',
    string_agg(case e.kind when 'tool_result' then 't' when 'compaction' then 'c' when 'branch_summary' then 'b'
      else left(e.kind, 1) end, '' order by e.sequence),
    array_to_json(n.turns), array_to_json(n.tools), array_to_json(n.slots),
    packed_numbers(array_agg(array_position(n.turns, e.turn_id::text) order by e.sequence)),
    packed_numbers(array_agg(coalesce(array_position(n.tools, e.tool_name), 0) order by e.sequence)),
    packed_numbers(array_agg(coalesce(array_position(n.slots, e.slot), 0) order by e.sequence)),
    packed_numbers(array_agg(e.branch order by e.sequence)),
    packed_numbers(array_agg(coalesce(e.call_number, 0) order by e.sequence)),
    packed_numbers(array_agg(coalesce(e.call_index, 0) order by e.sequence)),
    packed_numbers(array_agg(coalesce(e.is_error, false)::int order by e.sequence)),
    packed_numbers(array_agg((e.measurements).letters order by e.sequence)),
    packed_numbers(array_agg((e.measurements).symbols order by e.sequence)),
    packed_numbers(array_agg((e.measurements).spaces order by e.sequence)),
    packed_numbers(array_agg((e.measurements).whitespace_runs order by e.sequence)),
    packed_numbers(array_agg((e.measurements).ideographs order by e.sequence)),
    packed_numbers(array_agg((e.measurements).dense order by e.sequence)),
    packed_numbers(array_agg((e.measurements).bytes order by e.sequence)),
    packed_numbers(array_agg((e.measurements).images order by e.sequence)),
    packed_numbers(array_agg((e.measurements).image_patches order by e.sequence)),
    packed_numbers(array_agg((e.measurements).document_pages order by e.sequence)),
    packed_numbers(array_agg((e.measurements).frames order by e.sequence)))
  from block e, names n
  group by n.turns, n.tools, n.slots
  having count(*) = 256
  on conflict do nothing;
end;
comment on function pack_outlines is 'Packs a full block of 256 entries; does nothing while it is not full.';

create function pack_full_block() returns trigger language plpgsql as $$
begin
  perform pack_outlines(new.conversation_id, new.sequence / 256 - 1);
  return null;
end $$;
comment on function pack_full_block is 'Trigger: the entry that fills a block packs it.';

create trigger pack_full_block after insert on entries for each row
  when (new.sequence % 256 = 0)
  execute function pack_full_block();

create function worked_seconds(turn turns) returns double precision language sql stable
return greatest(0, extract(epoch from coalesce(turn.ended_at, holdfast_now()) - turn.begun_at) - coalesce((
  select sum(extract(epoch from upper(waited.during) - lower(waited.during)))
  from unnest((
    select range_agg(tstzrange(d.requested_at, greatest(d.requested_at, coalesce(d.decided_at, holdfast_now()))))
    from decisions d where d.turn_id = turn.id)) as waited (during)), 0))::double precision;
comment on function worked_seconds is 'Seconds of a turn up to its end or now, without waits for people.';

create function recount_totals(conversation uuid) returns void language sql begin atomic
  update turns t set
    steps = (select count(*) from model_attempts m
      where m.conversation_id = conversation and m.turn_id = t.id and m.entry_id is not null),
    tool_calls = (
      select count(*) from tool_calls k
      where k.conversation_id = conversation and k.turn_id = t.id
        and (k.claimed_at is not null or k.state <> 'finished'))
  where t.conversation_id = conversation;
  update conversations c set
    (steps, tool_calls, timeline_since, worked_seconds) = (
      select coalesce(sum(t.steps), 0), coalesce(sum(t.tool_calls), 0), min(t.ended_at),
        coalesce(sum(worked_seconds(t)) filter (where t.ended_at is not null), 0)
      from turns t where t.conversation_id = c.id)
  where c.id = conversation;
end;
comment on function recount_totals is 'Counts the totals of an imported conversation and of its turns.';

create view conversation_text as
select
  e.conversation_id, -- The conversation.
  c.agent, -- Name of its agent.
  e.sequence, -- Order within the conversation, over all branches.
  e.id as entry_id, -- The entry; `holdfast entry` opens it.
  e.branch, -- Branch on which it was appended.
  exists (
    select from branches b
    where b.conversation_id = e.conversation_id and b.branch = c.branch and b.ancestor = e.branch
      and e.sequence <= b.through_sequence) as on_active_branch, -- Whether it is on the active path.
  e.kind, -- Kind of the entry.
  e.slot, -- Notes: what it is for.
  e.tool_name, -- Tool results: the tool.
  e.is_error, -- Tool results: whether the tool reported a failure.
  content_text(e.content) as text, -- What it says; media as a line that names them.
  o.bytes as original_bytes, -- Size of the original when the text shows less.
  e.turn_id, -- The turn that it belongs to.
  e.created_at -- When it was appended; of an imported session, when it was recorded.
from entries e
join conversations c on c.id = e.conversation_id
left join contents o on o.conversation_id = e.conversation_id and o.id = e.original_id;
comment on view conversation_text is 'Everything that was said, one row per entry, as text.';

create view task_steps as
select
  t.conversation_id, -- The conversation.
  t.id as turn_id, -- The turn: the id of the task.
  -- Order within the turn, from 1.
  row_number() over (partition by t.conversation_id, t.id order by a.call_number, a.call_index)::integer as step,
  a.name as tool, -- The tool.
  readable_text(a.arguments) as arguments, -- What it was called with, as the model wrote it.
  r.is_error, -- Whether it reported a failure.
  left(body.text, 2000) as preview, -- The first 2,000 characters of what the model saw of the result.
  coalesce(o.characters, length(body.text))::bigint as characters, -- Characters of the whole result.
  greatest(0, coalesce(o.characters, length(body.text)) - 2000)::bigint as characters_omitted, -- Of them, beyond the preview.
  r.id as result_entry_id, -- The entry of the result; `holdfast entry` opens all of it.
  r.created_at as finished_at -- When the result was stored.
from turns t
join tool_calls a on a.conversation_id = t.conversation_id and a.turn_id = t.id
join entries r on r.conversation_id = t.conversation_id and r.id = a.result_entry_id
left join contents o on o.conversation_id = t.conversation_id and o.id = r.original_id
cross join lateral (select content_text(r.content) as text) as body;
comment on view task_steps is 'The tool calls of each turn in order, each with the beginning of what it returned.';

create view task_files as
select
  s.conversation_id, -- The conversation.
  s.turn_id, -- The turn: the id of the task.
  format('TASK-%s.md', s.turn_id) as file_name, -- TASK-<turn>.md.
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
      E'\n' order by s.step) as text, -- The file, Markdown.
  sum(s.characters)::bigint as characters_returned -- Characters that its tools returned in all.
from task_steps s
group by s.conversation_id, s.turn_id
having count(*) > 1;
comment on view task_files is 'The task file of every turn of several steps, with previews of results.';

create view task_details as
select
  s.conversation_id, -- The conversation.
  s.turn_id, -- The turn: the id of the task.
  format('TASK-%s-detail.log', s.turn_id) as file_name, -- TASK-<turn>-detail.log.
  s.step, -- Order within the turn, from 1.
  s.tool, -- The tool.
  s.arguments, -- What it was called with, as the model wrote it.
  coalesce(
    (select string_agg(p.data, '' order by p.number) from content_pieces p where p.content_id = r.original_id),
    convert_to(content_text(r.content), 'UTF8')) as output, -- The result, byte for byte where an original is stored.
  s.result_entry_id -- The entry of the result.
from task_steps s
join entries r on r.conversation_id = s.conversation_id and r.id = s.result_entry_id;
comment on view task_details is 'The detail log of a task: what each tool call returned, all of it.';
