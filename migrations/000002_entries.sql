-- The log: entries, and the calls of models and tools that they record.
--
-- An entry is appended by inserting it: the trigger locks the conversation, checks the epoch and the
-- head, gives the sequence, the branch and the sums along the parent chain, and moves the head. So
-- the log has no gaps and no twigs that nobody asked for, and "how big is the view" is one row.

create table entries (
  id uuid primary key,
  conversation_id uuid not null, -- exists, because the turn does
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
  message_id text references messages,
  compaction_id uuid,
  content json not null,
  original_id uuid,
  measurements measurements not null,
  sums measurements not null,
  created_at timestamptz not null default holdfast_now(),
  unique (conversation_id, sequence),
  unique (conversation_id, id),
  foreign key (conversation_id, parent_id) references entries (conversation_id, id),
  foreign key (conversation_id, turn_id) references turns (conversation_id, id),
  foreign key (conversation_id, original_id) references contents (conversation_id, id),
  constraint entries_note check ((kind = 'note') = (slot is not null) and (kind = 'note' or note_key is null)),
  constraint entries_assistant check ((kind = 'assistant') = (tool_call_count is not null) and (kind = 'assistant') = (model_attempt is not null)),
  constraint entries_tool_result check ((kind = 'tool_result') = (call_index is not null) and (kind = 'tool_result') = (tool_name is not null) and (kind = 'tool_result') = (is_error is not null)),
  constraint entries_call check ((kind in ('assistant', 'tool_result')) = (call_number is not null)),
  constraint entries_message check (kind = 'user' or message_id is null),
  constraint entries_compaction check ((kind = 'compaction') = (compaction_id is not null)),
  constraint entries_parent check (((parent_id is null) = (sequence = 1)) or branch > 0)
);
create unique index entries_one_answer on entries (turn_id, call_number) where kind = 'assistant';
create unique index entries_one_result on entries (turn_id, call_number, call_index) where kind = 'tool_result';
create unique index entries_one_per_message on entries (message_id) where message_id is not null;
create unique index entries_one_marker on entries (compaction_id) where compaction_id is not null;
create unique index entries_one_note on entries (turn_id, note_key) where note_key is not null;
create index entries_notes on entries (conversation_id, slot, sequence desc) where kind = 'note';

comment on table entries is 'The append-only log of a conversation, a tree: the originals of everything, for ever.';
comment on column entries.id is 'UUIDv7, made by the writer.';
comment on column entries.conversation_id is 'The conversation.';
comment on column entries.sequence is 'Order of arrival within the conversation, from 1, without gaps. Given by the database.';
comment on column entries.branch is 'Branch on which it was appended. Given by the database.';
comment on column entries.parent_id is 'The entry before it on its branch; left out by the writer, the head.';
comment on column entries.kind is 'user, assistant, tool_result, compaction (marker), branch_summary or note.';
comment on column entries.slot is 'Notes: what it is for, and so where it stands in the view.';
comment on column entries.note_key is 'Notes: the writer''s key within the turn, so that a repeated write appends once.';
comment on column entries.turn_id is 'The turn that it belongs to.';
comment on column entries.epoch is 'Epoch of the writer: above the turn''s own where a successor closed its open tool calls.';
comment on column entries.call_number is 'Answers and results: the model call of the turn that made the group.';
comment on column entries.model_attempt is 'Answers: the attempt of the model call that gave it.';
comment on column entries.call_index is 'Results: position among the calls of the answer, from 0.';
comment on column entries.tool_call_count is 'Answers: how many tool calls it makes.';
comment on column entries.tool_name is 'Results: the tool.';
comment on column entries.is_error is 'Results: whether the tool reported a failure.';
comment on column entries.message_id is 'User entries: the message that it was.';
comment on column entries.compaction_id is 'Markers: the compaction that was committed here.';
comment on column entries.content is 'Content parts, as in src/context/content.ts.';
comment on column entries.original_id is 'Present when the content shows less than what was produced: the whole of it.';
comment on column entries.measurements is 'Counted of the content.';
comment on column entries.sums is 'Sums of measurements from the first entry of the path to this one; rules take the place of older rules, as they do in the view. Given by the database.';
comment on column entries.created_at is 'When it was appended.';

alter table conversations add foreign key (id, head_entry_id) references entries (conversation_id, id) deferrable initially deferred;
alter table conversations add foreign key (id, usage_entry_id) references entries (conversation_id, id) deferrable initially deferred;

create function append_entry() returns trigger language plpgsql as $$
declare
  conversation conversations := require_epoch(new.conversation_id, new.epoch);
begin
  if new.parent_id is null then
    new.parent_id := conversation.head_entry_id;
  elsif new.parent_id is distinct from conversation.head_entry_id then
    raise exception using errcode = 'HF002',
      message = format('conversation %s: the head is entry %s, not %s', conversation.id, conversation.head_entry_id, new.parent_id);
  end if;
  if new.sequence is null then
    new.sequence := conversation.last_sequence + 1;
  elsif new.sequence <> conversation.last_sequence + 1 then
    raise exception using errcode = 'HF004',
      message = format('conversation %s: the next sequence is %s, not %s', conversation.id, conversation.last_sequence + 1, new.sequence);
  end if;
  -- An insert that is counted here and then dropped (ON CONFLICT DO NOTHING) would leave a gap. By its id it
  -- cannot be; by another key it leaves a head that does not exist, which no transaction can commit.
  if exists (select from entries e where e.id = new.id) then
    raise exception using errcode = 'unique_violation', message = format('entry %s exists', new.id);
  end if;
  new.branch := conversation.branch;
  new.sums := new.measurements + coalesce((select e.sums from entries e where e.id = new.parent_id), no_measurements());
  -- The view shows the newest rules only; notes of other slots stay visible until a compaction clears them.
  if new.slot = 'rules' then
    new.sums := new.sums - coalesce((
      select e.measurements
      from entries e
      join branches b on b.conversation_id = e.conversation_id and b.ancestor = e.branch and e.sequence <= b.through_sequence
      where e.conversation_id = new.conversation_id and e.kind = 'note' and e.slot = 'rules' and b.branch = new.branch
      order by e.sequence desc limit 1), no_measurements());
  end if;
  -- Here and not in an AFTER trigger, so that several rows of one statement follow each other.
  update conversations c set last_sequence = new.sequence, head_entry_id = new.id where c.id = new.conversation_id;
  return new;
end $$;
comment on function append_entry is 'Trigger: fences, numbers and sums up an entry and makes it the head.';
create trigger append_entry before insert on entries for each row execute function append_entry();
create trigger refuse_change before update or delete on entries for each row execute function refuse_change();
create trigger refuse_truncate before truncate on entries for each statement execute function refuse_change();

-- Model calls --------------------------------------------------------------------------------------

create table model_calls (
  turn_id uuid not null,
  call_number integer not null check (call_number > 0),
  attempt integer not null check (attempt > 0),
  conversation_id uuid not null,
  epoch integer not null,
  model text not null,
  head_entry_id uuid not null,
  compactions integer not null,
  view_fingerprint text not null,
  renderer_version integer not null,
  estimated_tokens integer not null,
  measurements measurements not null,
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
  started_at timestamptz not null default holdfast_now(),
  ended_at timestamptz,
  primary key (turn_id, call_number, attempt),
  foreign key (conversation_id, turn_id) references turns (conversation_id, id),
  foreign key (conversation_id, head_entry_id) references entries (conversation_id, id),
  foreign key (conversation_id, entry_id) references entries (conversation_id, id) deferrable initially deferred,
  check ((state = 'registered') = (ended_at is null)),
  check ((state = 'failed') = (failure_kind is not null)),
  check (entry_id is null or state = 'answered')
);
create index model_calls_by_conversation on model_calls (conversation_id, started_at);
comment on table model_calls is 'Every try of every model call of a turn, registered before the model is asked: calls that were paid twice are visible.';
comment on column model_calls.turn_id is 'The turn.';
comment on column model_calls.call_number is 'Counts the model calls of the turn; given by the workflow.';
comment on column model_calls.attempt is 'Counts the tries of the call, from 1; only the newest may store an answer.';
comment on column model_calls.conversation_id is 'The conversation.';
comment on column model_calls.epoch is 'Epoch of the writer.';
comment on column model_calls.model is 'provider/model.';
comment on column model_calls.head_entry_id is 'Newest entry that the request showed.';
comment on column model_calls.compactions is 'How many compactions had been committed: only these count when the view is rebuilt.';
comment on column model_calls.view_fingerprint is 'Hash of the view.';
comment on column model_calls.renderer_version is 'Version of the code that rendered it.';
comment on column model_calls.estimated_tokens is 'Tokens of the request by the calibrated estimate.';
comment on column model_calls.measurements is 'Measurements of the whole request.';
comment on column model_calls.state is 'registered: the model may have been asked. answered, failed: known.';
comment on column model_calls.entry_id is 'The answer.';
comment on column model_calls.stop_reason is 'Why the model stopped.';
comment on column model_calls.response_id is 'The vendor''s id of the response.';
comment on column model_calls.failure_kind is 'overflow, retryable, permanent, aborted, refused or superseded.';
comment on column model_calls.failure_evidence is 'Code of what the classifier found; never the vendor''s words.';
comment on column model_calls.failure_status is 'HTTP status.';
comment on column model_calls.input_tokens is 'Input tokens as reported, cached ones included; null when nothing was reported.';
comment on column model_calls.cache_read_tokens is 'Of them, read from the cache.';
comment on column model_calls.cache_write_tokens is 'Of them, written to the cache.';
comment on column model_calls.output_tokens is 'Output tokens as reported.';
comment on column model_calls.cost is 'Dollars; null when unknown.';
comment on column model_calls.duration_milliseconds is 'From request to end of the answer.';
comment on column model_calls.started_at is 'When it was registered.';
comment on column model_calls.ended_at is 'When answer or failure was stored.';
create trigger refuse_stale_epoch before insert or update on model_calls for each row execute function refuse_stale_epoch();
create trigger refuse_delete before delete on model_calls for each row execute function refuse_change();
create trigger refuse_truncate before truncate on model_calls for each statement execute function refuse_change();

alter table entries add constraint entries_answer_of_call
  foreign key (turn_id, call_number, model_attempt) references model_calls (turn_id, call_number, attempt);

-- Tool calls ---------------------------------------------------------------------------------------

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
  state text not null default 'requested' check (state in ('requested', 'claimed', 'finished')),
  attempt integer not null default 0,
  worker_identity text,
  claimed_at timestamptz,
  finished_at timestamptz,
  outcome text check (outcome in ('succeeded', 'failed', 'outcome_unknown', 'not_run')),
  result_entry_id uuid,
  primary key (turn_id, call_number, call_index),
  foreign key (conversation_id, turn_id) references turns (conversation_id, id),
  -- Deferred, because the statements of a transaction travel together and need no order among them.
  foreign key (conversation_id, entry_id) references entries (conversation_id, id) deferrable initially deferred,
  foreign key (conversation_id, result_entry_id) references entries (conversation_id, id) deferrable initially deferred,
  check ((state = 'requested' and attempt = 0) or (state = 'claimed' and attempt > 0 and claimed_at is not null) or state = 'finished'),
  check ((state = 'finished') = (finished_at is not null)),
  check ((state = 'finished') = (outcome is not null)),
  check ((state = 'finished') = (result_entry_id is not null))
);
create index tool_calls_open on tool_calls (conversation_id) where state <> 'finished';
comment on table tool_calls is 'The ledger of tool calls: each is claimed before it acts and finished with exactly one result.';
comment on column tool_calls.turn_id is 'The turn.';
comment on column tool_calls.call_number is 'The model call that asked for it.';
comment on column tool_calls.call_index is 'Position among the calls of the answer, from 0.';
comment on column tool_calls.conversation_id is 'The conversation.';
comment on column tool_calls.epoch is 'Epoch of the last writer.';
comment on column tool_calls.entry_id is 'The assistant entry that makes the call.';
comment on column tool_calls.provider_call_id is 'The provider''s id of the call.';
comment on column tool_calls.name is 'The tool.';
comment on column tool_calls.arguments is 'Arguments as the model wrote them, valid JSON or not: a JSON string.';
comment on column tool_calls.state is 'requested: had no effect yet. claimed: may have acted. finished: has its result.';
comment on column tool_calls.attempt is 'Counts the claims; only the newest may store the result.';
comment on column tool_calls.worker_identity is 'Worker of the newest claim.';
comment on column tool_calls.claimed_at is 'When it was claimed last.';
comment on column tool_calls.finished_at is 'When its result was stored.';
comment on column tool_calls.outcome is 'succeeded, failed, outcome_unknown (claimed, nobody knows the rest) or not_run (never claimed).';
comment on column tool_calls.result_entry_id is 'The entry with its result.';
create trigger refuse_stale_epoch before insert or update on tool_calls for each row execute function refuse_stale_epoch();
create trigger refuse_delete before delete on tool_calls for each row execute function refuse_change();
create trigger refuse_truncate before truncate on tool_calls for each statement execute function refuse_change();

create function protect_tool_call() returns trigger language plpgsql as $$
begin
  if old.state = 'finished' or new.attempt < old.attempt then
    raise exception using errcode = 'HF005',
      message = format('tool call %s.%s of turn %s is %s at attempt %s', old.call_number, old.call_index, old.turn_id, old.state, old.attempt);
  end if;
  return new;
end $$;
comment on function protect_tool_call is 'Trigger: a result is final, and a claim never falls back to an older attempt (HF005).';
create trigger protect_tool_call before update on tool_calls for each row
  when (old.state = 'finished' or new.attempt < old.attempt) execute function protect_tool_call();

alter table entries add constraint entries_result_of_call
  foreign key (turn_id, call_number, call_index) references tool_calls (turn_id, call_number, call_index);

create table late_tool_results (
  id uuid primary key,
  turn_id uuid not null,
  call_number integer not null,
  call_index integer not null,
  attempt integer not null,
  worker_identity text not null,
  outcome text not null,
  content json not null,
  original_id uuid references contents,
  received_at timestamptz not null default holdfast_now(),
  foreign key (turn_id, call_number, call_index) references tool_calls (turn_id, call_number, call_index)
);
create unique index late_tool_results_once on late_tool_results (turn_id, call_number, call_index, attempt);
comment on table late_tool_results is 'Results of attempts that had been replaced: shown to people, never to the model. The one write that is not fenced.';
comment on column late_tool_results.id is 'UUIDv7.';
comment on column late_tool_results.turn_id is 'The turn.';
comment on column late_tool_results.call_number is 'The model call that asked for it.';
comment on column late_tool_results.call_index is 'Position among the calls of the answer.';
comment on column late_tool_results.attempt is 'The claim that produced it.';
comment on column late_tool_results.worker_identity is 'The worker that produced it.';
comment on column late_tool_results.outcome is 'What the tool reported.';
comment on column late_tool_results.content is 'Content parts.';
comment on column late_tool_results.original_id is 'The whole of it, when the content shows less.';
comment on column late_tool_results.received_at is 'When it came.';
create trigger refuse_change before update or delete on late_tool_results for each row execute function refuse_change();
create trigger refuse_truncate before truncate on late_tool_results for each statement execute function refuse_change();
