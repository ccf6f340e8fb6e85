-- The log of a conversation, its timeline, and the ledgers of model and tool calls.

create table contents (
  id uuid primary key,
  conversation_id uuid not null references conversations deferrable,
  created_at timestamptz not null default holdfast_now(),
  bytes bigint,
  missing_bytes bigint,
  characters bigint,
  unique (conversation_id, id),
  check (((bytes is null) = (missing_bytes is null)) and ((bytes is null) = (characters is null)))
);
comment on table contents
  is 'An original in pieces: clipped output, or bytes that are not UTF-8. A killed attempt may leave one behind.';
comment on column contents.id is 'UUIDv7.';
comment on column contents.conversation_id is 'Where it belongs.';
comment on column contents.created_at is 'When writing began.';
comment on column contents.bytes is 'Bytes stored; null until all pieces are written.';
comment on column contents.missing_bytes is 'Bytes beyond the storage limit, lost.';
comment on column contents.characters is 'Length as UTF-8 with U+FFFD for invalid bytes, in UTF-16 code units.';

create table content_pieces (
  content_id uuid not null references contents deferrable,
  number integer not null check (number >= 0),
  data bytea not null,
  primary key (content_id, number)
);
comment on table content_pieces is 'The bytes of a content in pieces of 256 KB.';
comment on column content_pieces.content_id is 'The content.';
comment on column content_pieces.number is 'Order, from 0.';
comment on column content_pieces.data is 'The bytes as they came.';

create table entries (
  id uuid not null,
  conversation_id uuid not null,
  sequence integer not null check (sequence > 0),
  branch integer not null,
  parent_id uuid,
  kind text not null check (kind in ('user', 'assistant', 'tool_result', 'compaction', 'branch_summary', 'note')),
  slot text check (slot in ('rules', 'memories', 'continuation', 'plan')),
  note_key text,
  turn_id uuid not null,
  epoch integer not null,
  call_number integer check (call_number > 0),
  model_attempt integer,
  call_index integer check (call_index >= 0),
  tool_call_count integer check (tool_call_count >= 0),
  tool_name text,
  is_error boolean,
  message_id text,
  compaction_id uuid,
  content json not null,
  original_id uuid,
  measurements measurements not null check (measurements is not null),
  sums measurements not null check (sums is not null),
  created_at timestamptz not null default holdfast_now(),
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
comment on column entries.id is 'UUIDv7, made by the writer.';
comment on column entries.conversation_id is 'The conversation.';
comment on column entries.sequence is 'Order of arrival, from 1, without gaps; given by the database.';
comment on column entries.branch is 'Branch on which it was appended. Given by the database.';
comment on column entries.parent_id is 'The entry before it on its branch; left out by the writer, the head.';
comment on column entries.kind is 'user, assistant, tool_result, compaction (marker), branch_summary or note.';
comment on column entries.slot is 'Notes: what it is for, and so where it stands in the view.';
comment on column entries.note_key is 'Notes: unique in the turn, so that a repeated write appends once.';
comment on column entries.turn_id is 'The turn that it belongs to.';
comment on column entries.epoch is 'Epoch of the writer.';
comment on column entries.call_number is 'Answers and results: the model call of the turn that made the group.';
comment on column entries.model_attempt is 'Answers: the attempt of the model call that gave it.';
comment on column entries.call_index is 'Results: position among the calls of the answer, from 0.';
comment on column entries.tool_call_count is 'Answers: how many tool calls it makes.';
comment on column entries.tool_name is 'Results: the tool.';
comment on column entries.is_error is 'Results: whether the tool reported a failure.';
comment on column entries.message_id is 'User entries: the message that it was.';
comment on column entries.compaction_id is 'Markers: the compaction that was committed here.';
comment on column entries.content is 'Content parts, as in src/context/log/content.ts.';
comment on column entries.original_id is 'Present when the content shows less than what was produced: the whole of it.';
comment on column entries.measurements is 'Counted of the content.';
comment on column entries.sums is 'Measurements summed along the path; only the newest rules count.';
comment on column entries.created_at is 'When it was appended, or of an import recorded.';

create table packed_outlines (
  conversation_id uuid not null references conversations deferrable,
  block integer not null check (block >= 0),
  outline text not null,
  ids text not null,
  primary key (conversation_id, block)
);
comment on table packed_outlines
  is 'Sizes of 256 entries each, for planning; derived from entries. Text is read faster than arrays.';
comment on column packed_outlines.conversation_id is 'The conversation.';
comment on column packed_outlines.block is 'Holds the entries after sequence 256 × block, up to 256 × (block + 1).';
comment on column packed_outlines.outline is 'One line per property, as pack_outlines writes them.';
comment on column packed_outlines.ids is 'Ids of the entries, 36 characters each.';

create table events (
  conversation_id uuid not null,
  number integer not null check (number > 0),
  kind text not null,
  turn_id uuid,
  epoch integer not null,
  data jsonb not null default '{}'::jsonb,
  created_at timestamptz not null default holdfast_now(),
  primary key (conversation_id, number)
);
create unique index events_once on events (turn_id, kind, (data ->> 'callNumber'), conversation_id)
  where ((kind in ('compaction_exhausted', 'compaction_cancelled')) and (data ? 'callNumber'));
create index events_redactions on events (conversation_id) where kind = 'secrets_redacted';
comment on table events is 'The timeline of a conversation. Ids, names, counts and flags; never message text.';
comment on column events.conversation_id is 'The conversation.';
comment on column events.number is 'Order, from 1, without gaps. Given by the database.';
comment on column events.kind is 'What happened (src/store/log/timeline.ts).';
comment on column events.turn_id is 'The turn in which it happened.';
comment on column events.epoch is 'Epoch of the writer.';
comment on column events.data is 'Ids, names, counts and flags.';
comment on column events.created_at is 'When it happened.';

-- Without padding: columns of one width stand together. What the end of a try changes stands last.
create table model_attempts (
  turn_id uuid not null,
  compaction_id uuid not null default '00000000-0000-0000-0000-000000000000',
  conversation_id uuid not null,
  head_entry_id uuid,
  started_at timestamptz not null default holdfast_now(),
  call_number integer not null check (call_number >= 0),
  part integer not null default 0 check (part >= 0),
  attempt integer not null check (attempt > 0),
  epoch integer not null,
  estimated_tokens integer not null,
  compactions integer,
  renderer_version integer,
  purpose text not null check (purpose in ('step', 'summary_part', 'branch_summary')),
  model text not null,
  view_fingerprint text,
  registered_by activity_attempt,
  state text not null default 'registered' check (state in ('registered', 'answered', 'failed')),
  entry_id uuid,
  stop_reason text,
  response_id text,
  failure_kind text,
  failure_evidence text,
  failure_status integer,
  input_tokens integer,
  cache_read_tokens integer,
  cache_write_tokens integer,
  output_tokens integer,
  cost numeric,
  duration_milliseconds integer,
  ended_at timestamptz,
  failure_message json,
  is_paid boolean not null
    generated always as (ended_at is not null and (input_tokens is not null or cost is distinct from 0)) stored,
  primary key (turn_id, call_number, compaction_id, part, attempt, conversation_id),
  check ((purpose = 'step') = (view_fingerprint is not null)),
  check ((purpose = 'summary_part') = (part > 0)),
  check ((part > 0) = (compaction_id <> '00000000-0000-0000-0000-000000000000')),
  check (case purpose when 'step' then call_number > 0 when 'branch_summary' then call_number = 0 else true end),
  check (num_nulls(head_entry_id, compactions, view_fingerprint, renderer_version) in (0, 4)),
  check ((state = 'registered') = (ended_at is null)),
  check ((state = 'failed') = (failure_kind is not null)),
  check ((entry_id is null) or (purpose = 'step' and state = 'answered'))
) with (fillfactor = 80);
create index model_attempts_of_part on model_attempts (compaction_id, part) where purpose = 'summary_part';
create index model_attempts_by_time on model_attempts (started_at);
comment on table model_attempts
  is 'Every try of a paid call, registered before the model is asked: a call paid twice shows.';
comment on column model_attempts.purpose
  is 'The step''s own call, a part of a compaction''s summary, or a branch summary.';
comment on column model_attempts.compaction_id is 'summary_part: the compaction; else zero, for a key without nulls.';
comment on column model_attempts.part is 'summary_part: number of the part, from 1; else 0.';
comment on column model_attempts.is_paid is 'It has ended and something was charged, or nobody knows how much.';
comment on column model_attempts.turn_id is 'The turn.';
comment on column model_attempts.call_number
  is 'Model call of the turn, or the one that a summary is written before; 0: none.';
comment on column model_attempts.attempt
  is 'Counts the tries of a call, from 1; only the newest may store what it brought.';
comment on column model_attempts.conversation_id is 'The conversation.';
comment on column model_attempts.epoch is 'Epoch of the writer.';
comment on column model_attempts.model is 'provider/model.';
comment on column model_attempts.head_entry_id is 'step only: newest entry that the request showed.';
comment on column model_attempts.compactions
  is 'step only: compactions committed by then; only these count in its view.';
comment on column model_attempts.view_fingerprint is 'step only: hash of the view.';
comment on column model_attempts.renderer_version is 'step only: version of the code that rendered it.';
comment on column model_attempts.estimated_tokens is 'Tokens of the request by the calibrated estimate.';
comment on column model_attempts.state is 'registered: the model may have been asked. answered, failed: known.';
comment on column model_attempts.entry_id is 'step only: the answer.';
comment on column model_attempts.stop_reason is 'Why the model stopped.';
comment on column model_attempts.response_id is 'The vendor''s id of the response.';
comment on column model_attempts.failure_kind
  is 'retryable and permanent use up a retry. lost: never reported. superseded: a newer try had begun.';
comment on column model_attempts.failure_evidence is 'Code of what the classifier found; never the vendor''s words.';
comment on column model_attempts.failure_status is 'HTTP status.';
comment on column model_attempts.input_tokens is 'Input tokens, cached ones included; null: not reported.';
comment on column model_attempts.cache_read_tokens is 'Of them, read from the cache.';
comment on column model_attempts.cache_write_tokens is 'Of them, written to the cache.';
comment on column model_attempts.output_tokens is 'Output tokens as reported.';
comment on column model_attempts.cost is 'Dollars; null when unknown.';
comment on column model_attempts.duration_milliseconds is 'From request to end of the answer.';
comment on column model_attempts.started_at is 'When it was registered.';
comment on column model_attempts.ended_at is 'When answer or failure was stored.';
comment on column model_attempts.failure_message
  is 'The vendor''s words of a final refusal; shown to the user, never logged.';
comment on column model_attempts.registered_by is 'Activity attempt that registered it; an older one was replaced.';

create table tool_calls (
  turn_id uuid not null,
  call_number integer not null,
  call_index integer not null check (call_index >= 0),
  conversation_id uuid not null,
  epoch integer not null,
  entry_id uuid not null,
  provider_call_id text not null,
  name text not null,
  arguments json not null,
  worker_identity text,
  claim_run_id text,
  claim_attempt integer check (claim_attempt > 0),
  claim_id uuid,
  claimed_at timestamptz,
  given_back integer not null default 0,
  state text not null default 'requested' check (state in ('requested', 'claimed', 'finished')),
  attempt integer not null default 0,
  partial_output json,
  partial_bytes bigint,
  partial_at timestamptz,
  finished_at timestamptz,
  outcome text check (outcome in ('succeeded', 'failed', 'outcome_unknown', 'not_run')),
  result_entry_id uuid,
  fingerprint text check ((length(fingerprint) >= 1) and (length(fingerprint) <= 64)),
  late_results late_tool_result[],
  primary key (turn_id, call_number, call_index, conversation_id),
  check (((state = 'requested') and (attempt = 0)) or ((state = 'claimed') and (attempt > 0)
    and (claimed_at is not null)) or (state = 'finished')),
  check ((state = 'finished') = (finished_at is not null)),
  check ((state = 'finished') = (outcome is not null)),
  check ((state = 'finished') = (result_entry_id is not null)),
  check ((claim_run_id is null) = (claim_attempt is null)),
  check ((given_back >= 0) and (given_back <= attempt)),
  check ((state = 'claimed') or (partial_output is null)),
  check (((partial_output is null) = (partial_bytes is null)) and ((partial_output is null) = (partial_at is null)))
) with (fillfactor = 70);
comment on table tool_calls is 'The ledger of tool calls: each is claimed before it acts and gets one result.';
comment on column tool_calls.turn_id is 'The turn.';
comment on column tool_calls.call_number is 'The model call that asked for it.';
comment on column tool_calls.call_index is 'Position among the calls of the answer, from 0.';
comment on column tool_calls.conversation_id is 'The conversation.';
comment on column tool_calls.epoch is 'Epoch of the last writer.';
comment on column tool_calls.entry_id is 'The assistant entry that makes the call.';
comment on column tool_calls.provider_call_id is 'The provider''s id of the call.';
comment on column tool_calls.name is 'The tool.';
comment on column tool_calls.arguments is 'Arguments as the model wrote them, valid JSON or not: a JSON string.';
comment on column tool_calls.state is 'claimed: may have acted, unless all claims were given back.';
comment on column tool_calls.attempt is 'Counts the claims; only the newest may store the result.';
comment on column tool_calls.worker_identity is 'Worker of the newest claim.';
comment on column tool_calls.claimed_at is 'When it was claimed last.';
comment on column tool_calls.finished_at is 'When its result was stored.';
comment on column tool_calls.outcome is 'outcome_unknown: the worker died. not_run: it never acted.';
comment on column tool_calls.result_entry_id is 'The entry with its result.';
comment on column tool_calls.partial_output is 'Output of the running claim so far, clipped and masked.';
comment on column tool_calls.partial_bytes is 'Bytes that it had written by then.';
comment on column tool_calls.partial_at is 'When this was noted.';
comment on column tool_calls.claim_run_id is 'Workflow run whose activity claimed it last.';
comment on column tool_calls.claim_attempt is 'Attempt of that activity; an older one was replaced.';
comment on column tool_calls.fingerprint is 'Hash of call and result, for the loop guard; null without result.';
comment on column tool_calls.claim_id is 'Made by the worker, so that it recognizes its own claim.';
comment on column tool_calls.given_back is 'Claims given back before the tool began; if all, nothing acted.';
comment on column tool_calls.late_results is 'Results of replaced attempts: shown to people, never to the model.';

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
    packed_numbers(array_agg(coalesce(e.tool_call_count, 0) order by e.sequence)),
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
    (steps, tool_calls, worked_seconds) = (
      select coalesce(sum(t.steps), 0), coalesce(sum(t.tool_calls), 0),
        coalesce(sum(worked_seconds(t)) filter (where t.ended_at is not null), 0)
      from turns t where t.conversation_id = c.id)
  where c.id = conversation;
end;
comment on function recount_totals is 'Counts the totals of an imported conversation and of its turns.';
