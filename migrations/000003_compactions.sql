-- Compactions: rows that change what the view shows of the log, never the log.
--
-- In force for a view: the newest committed compaction with a summary whose last covered entry lies on
-- the branch, and of all committed operations on kept entries the newest per entry. A plan becomes
-- visible to the projection only by its commit, so a crash leaves the old view or the new one.

create table compactions (
  id uuid primary key,
  conversation_id uuid not null references conversations,
  turn_id uuid not null,
  epoch integer not null,
  call_number integer not null,
  reason text not null check (reason in ('threshold', 'overflow', 'manual')),
  preset text not null,
  form text not null check (form in ('reduction', 'summary', 'shorter_summary', 'extractive_summary', 'clip_only')),
  form_number integer not null default 1 check (form_number > 0),
  replaces_id uuid unique,
  previous_id uuid,
  focus json,
  plan json not null,
  head_entry_id uuid not null,
  first_kept_sequence integer,
  covered_through_sequence integer,
  tokens_before integer not null,
  tokens_after integer,
  status text not null default 'planned' check (status in ('planned', 'committed', 'failed', 'abandoned')),
  failure text,
  number integer,
  marker_entry_id uuid,
  committed_head_entry_id uuid,
  summary json,
  summary_measurements measurements,
  sections json,
  files json,
  model text,
  prompt_version text,
  view_after measurements,
  created_at timestamptz not null default holdfast_now(),
  finished_at timestamptz,
  unique (conversation_id, id),
  unique (conversation_id, number),
  foreign key (conversation_id, turn_id) references turns (conversation_id, id),
  foreign key (conversation_id, replaces_id) references compactions (conversation_id, id),
  foreign key (conversation_id, previous_id) references compactions (conversation_id, id),
  foreign key (conversation_id, head_entry_id) references entries (conversation_id, id),
  foreign key (conversation_id, first_kept_sequence) references entries (conversation_id, sequence),
  foreign key (conversation_id, covered_through_sequence) references entries (conversation_id, sequence),
  foreign key (conversation_id, marker_entry_id) references entries (conversation_id, id),
  foreign key (conversation_id, committed_head_entry_id) references entries (conversation_id, id),
  constraint compactions_cut check (
    (first_kept_sequence is null) = (covered_through_sequence is null)
    and (first_kept_sequence is null or covered_through_sequence < first_kept_sequence)),
  constraint compactions_finished check ((status = 'planned') = (finished_at is null)),
  constraint compactions_failed check ((status in ('failed', 'abandoned')) = (failure is not null)),
  constraint compactions_committed check (
    (status = 'committed') = (number is not null and marker_entry_id is not null and committed_head_entry_id is not null and view_after is not null and tokens_after is not null)),
  -- A compaction counts only if it shrank, and an empty summary would wipe the history (R20).
  constraint compactions_smaller check (status <> 'committed' or tokens_after < tokens_before),
  constraint compactions_summary check (
    status <> 'committed'
    or (covered_through_sequence is null) = (summary is null)
       and (summary is null or (summary_measurements is not null and length(btrim(summary::text, ' "')) > 0)))
);
create unique index compactions_open on compactions (conversation_id) where status = 'planned';
create index compactions_by_turn on compactions (turn_id, call_number);

comment on table compactions is 'One way of making a view smaller: planned, then committed or not.';
comment on column compactions.id is 'UUIDv7.';
comment on column compactions.conversation_id is 'The conversation.';
comment on column compactions.turn_id is 'The turn that planned it.';
comment on column compactions.epoch is 'Epoch of the last writer.';
comment on column compactions.call_number is 'The model call before which it was planned.';
comment on column compactions.reason is 'threshold: the estimate was over the trigger. overflow: the provider refused the request. manual: the user asked.';
comment on column compactions.preset is 'Name of the policy.';
comment on column compactions.form is 'From the preset''s own form to ever weaker ones.';
comment on column compactions.form_number is 'Which form of the pass this is, from 1.';
comment on column compactions.replaces_id is 'The failed plan of the same pass that this one replaces.';
comment on column compactions.previous_id is 'The compaction whose summary this one updates.';
comment on column compactions.focus is 'What the user asked the summary to dwell on, a JSON string.';
comment on column compactions.plan is 'The plan (src/context/plan.ts): cut, operations, parts.';
comment on column compactions.head_entry_id is 'Newest entry when it was planned; the commit demands the same.';
comment on column compactions.first_kept_sequence is 'The cut point: first entry kept verbatim; null when the cut stays where it is.';
comment on column compactions.covered_through_sequence is 'Last entry that the summary covers; null without summary.';
comment on column compactions.tokens_before is 'Tokens of the view before, by the calibrated estimate.';
comment on column compactions.tokens_after is 'Tokens after, measured the same way; smaller, or the commit is refused.';
comment on column compactions.status is 'planned; committed (in force); failed (a weaker form or nothing follows); abandoned (its turn ended).';
comment on column compactions.failure is 'Code of why it failed or was abandoned.';
comment on column compactions.number is 'Counts the committed compactions of the conversation, from 1.';
comment on column compactions.marker_entry_id is 'The entry that marks the commit in the log.';
comment on column compactions.committed_head_entry_id is 'Newest entry after the commit: the marker or the continuation note.';
comment on column compactions.summary is 'The summary, a JSON string.';
comment on column compactions.summary_measurements is 'Counted of the summary as it stands in the view.';
comment on column compactions.sections is 'Its sections: title and text.';
comment on column compactions.files is 'Files read and modified, cumulative.';
comment on column compactions.model is 'provider/model that wrote it; null without a model.';
comment on column compactions.prompt_version is 'Version of the prompts.';
comment on column compactions.view_after is 'Measurements of the view right after the commit, at the marker.';
comment on column compactions.created_at is 'When it was planned.';
comment on column compactions.finished_at is 'When it was committed, failed or abandoned.';

alter table conversations add foreign key (id, compaction_id) references compactions (conversation_id, id);
alter table entries add foreign key (conversation_id, compaction_id) references compactions (conversation_id, id);

create trigger refuse_stale_epoch before insert or update on compactions for each row execute function refuse_stale_epoch();
create trigger refuse_delete before delete on compactions for each row execute function refuse_change();
create trigger refuse_truncate before truncate on compactions for each statement execute function refuse_change();

create function protect_compaction() returns trigger language plpgsql as $$
begin
  raise exception using errcode = 'HF003', message = format('compaction %s is %s: what was finished stays', old.id, old.status);
end $$;
comment on function protect_compaction is 'Trigger: a finished compaction never changes.';
create trigger protect_compaction before update on compactions for each row
  when (old.status <> 'planned') execute function protect_compaction();

-- A cut may fall between groups only: an answer's results follow it without another group between,
-- so only the newest answer before the cut can have results behind it.
create function refuse_split_group() returns trigger language plpgsql as $$
declare
  answer entries;
begin
  if new.first_kept_sequence is null then return new; end if;
  select e.* into answer
  from entries e
  join branches b on b.conversation_id = e.conversation_id and b.ancestor = e.branch and e.sequence <= b.through_sequence
  join conversations c on c.id = e.conversation_id and c.branch = b.branch
  where e.conversation_id = new.conversation_id and e.kind = 'assistant' and e.sequence < new.first_kept_sequence
  order by e.sequence desc limit 1;
  if found and exists (
    select from entries r
    where r.turn_id = answer.turn_id and r.call_number = answer.call_number and r.kind = 'tool_result'
      and r.sequence >= new.first_kept_sequence
  ) then
    raise exception using errcode = 'HF006',
      message = format('compaction %s keeps entries from %s on, a tool result among them whose call %s would be dropped', new.id, new.first_kept_sequence, answer.sequence);
  end if;
  return new;
end $$;
comment on function refuse_split_group is 'Trigger: an answer and its tool results stay together (HF006).';
create trigger refuse_split_group before insert or update of first_kept_sequence on compactions for each row execute function refuse_split_group();

create table compaction_kept_entries (
  compaction_id uuid not null,
  conversation_id uuid not null,
  entry_id uuid not null,
  primary key (compaction_id, entry_id),
  foreign key (conversation_id, compaction_id) references compactions (conversation_id, id),
  foreign key (conversation_id, entry_id) references entries (conversation_id, id)
);
comment on table compaction_kept_entries is 'Older user messages that stay verbatim before the cut.';
comment on column compaction_kept_entries.compaction_id is 'The compaction.';
comment on column compaction_kept_entries.conversation_id is 'The conversation of both.';
comment on column compaction_kept_entries.entry_id is 'The kept entry.';
create trigger refuse_change before update or delete on compaction_kept_entries for each row execute function refuse_change();
create trigger refuse_truncate before truncate on compaction_kept_entries for each statement execute function refuse_change();

create table compaction_operations (
  compaction_id uuid not null,
  conversation_id uuid not null,
  entry_sequence integer not null,
  kind text not null check (kind in ('clip', 'clear', 'strip')),
  head_characters integer check (head_characters >= 0),
  tail_characters integer check (tail_characters >= 0),
  measurements measurements not null,
  primary key (compaction_id, entry_sequence),
  foreign key (conversation_id, compaction_id) references compactions (conversation_id, id),
  foreign key (conversation_id, entry_sequence) references entries (conversation_id, sequence),
  check ((kind = 'clip') = (head_characters is not null and tail_characters is not null))
);
create index compaction_operations_by_entry on compaction_operations (conversation_id, entry_sequence);
comment on table compaction_operations is 'How one kept entry is shown from a commit on. The original stays in the log.';
comment on column compaction_operations.compaction_id is 'The compaction.';
comment on column compaction_operations.conversation_id is 'The conversation of both.';
comment on column compaction_operations.entry_sequence is 'The entry.';
comment on column compaction_operations.kind is 'clip: head and tail. clear: a placeholder. strip: without images.';
comment on column compaction_operations.head_characters is 'Clip: characters kept at the start.';
comment on column compaction_operations.tail_characters is 'Clip: characters kept at the end.';
comment on column compaction_operations.measurements is 'Measurements of the entry as it is shown.';
create trigger refuse_change before update or delete on compaction_operations for each row execute function refuse_change();
create trigger refuse_truncate before truncate on compaction_operations for each statement execute function refuse_change();

create table compaction_parts (
  compaction_id uuid not null,
  number integer not null check (number > 0),
  conversation_id uuid not null,
  epoch integer not null,
  wave integer not null check (wave > 0),
  kind text not null check (kind in ('history', 'turn_prefix', 'merge')),
  from_sequence integer,
  to_sequence integer,
  input_estimate integer not null,
  maximum_output integer not null,
  state text not null default 'planned' check (state in ('planned', 'written', 'failed')),
  attempt integer not null default 0,
  failures integer not null default 0,
  failed_attempt integer not null default 0,
  failure text,
  text json,
  prompt_version text,
  model text,
  model_calls integer not null default 0,
  input_tokens bigint not null default 0,
  cache_read_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost numeric not null default 0,
  calls_of_unknown_cost integer not null default 0,
  duration_milliseconds integer not null default 0,
  primary key (compaction_id, number),
  foreign key (conversation_id, compaction_id) references compactions (conversation_id, id),
  foreign key (conversation_id, from_sequence) references entries (conversation_id, sequence),
  foreign key (conversation_id, to_sequence) references entries (conversation_id, sequence),
  check ((kind = 'merge') = (from_sequence is null) and (from_sequence is null) = (to_sequence is null)),
  check (from_sequence <= to_sequence),
  check ((state = 'written') = (text is not null))
);
comment on table compaction_parts is 'What each summarizing call reads, and its text.';
comment on column compaction_parts.compaction_id is 'The compaction.';
comment on column compaction_parts.number is 'From 1.';
comment on column compaction_parts.conversation_id is 'The conversation.';
comment on column compaction_parts.epoch is 'Epoch of the last writer.';
comment on column compaction_parts.wave is 'Parts of a wave run in parallel, waves one after another.';
comment on column compaction_parts.kind is 'history, turn_prefix (the dropped beginning of a turn) or merge (of the texts before).';
comment on column compaction_parts.from_sequence is 'First entry it reads; null for a merge.';
comment on column compaction_parts.to_sequence is 'Last entry it reads; null for a merge.';
comment on column compaction_parts.input_estimate is 'Tokens of its input, estimated by the plan.';
comment on column compaction_parts.maximum_output is 'Longest answer, in tokens.';
comment on column compaction_parts.state is 'planned; written; failed: no further try.';
comment on column compaction_parts.attempt is 'Counts the tries; only the newest may store a text or a failure.';
comment on column compaction_parts.failures is 'Failures of the model; a worker''s death or a rate limit is none.';
comment on column compaction_parts.failed_attempt is 'Newest attempt whose failure was counted: a repeated report counts once.';
comment on column compaction_parts.failure is 'Code of the newest failure.';
comment on column compaction_parts.text is 'The text, a JSON string.';
comment on column compaction_parts.prompt_version is 'Version of the prompt.';
comment on column compaction_parts.model is 'provider/model that was asked.';
comment on column compaction_parts.model_calls is 'Calls that were paid.';
comment on column compaction_parts.input_tokens is 'Input tokens of these calls, cached ones included.';
comment on column compaction_parts.cache_read_tokens is 'Of them, read from the cache.';
comment on column compaction_parts.cache_write_tokens is 'Of them, written to the cache.';
comment on column compaction_parts.output_tokens is 'Output tokens of these calls.';
comment on column compaction_parts.cost is 'Dollars, over the calls whose price is known.';
comment on column compaction_parts.calls_of_unknown_cost is 'Calls whose price is unknown.';
comment on column compaction_parts.duration_milliseconds is 'Of these calls together.';
create trigger refuse_stale_epoch before insert or update on compaction_parts for each row execute function refuse_stale_epoch();
create trigger refuse_delete before delete on compaction_parts for each row execute function refuse_change();
create trigger refuse_truncate before truncate on compaction_parts for each statement execute function refuse_change();

create function protect_compaction_part() returns trigger language plpgsql as $$
begin
  raise exception using errcode = 'HF005',
    message = format('part %s of compaction %s is %s at attempt %s', old.number, old.compaction_id, old.state, old.attempt);
end $$;
comment on function protect_compaction_part is 'Trigger: a written text stays, and attempts never fall back (HF005).';
create trigger protect_compaction_part before update on compaction_parts for each row
  when (old.state = 'written' or new.attempt < old.attempt) execute function protect_compaction_part();
