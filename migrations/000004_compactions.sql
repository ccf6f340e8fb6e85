-- How views were made smaller: plans, summaries and their parts.

create table compactions (
  id uuid primary key,
  conversation_id uuid not null references conversations deferrable,
  turn_id uuid not null,
  epoch integer not null,
  call_number integer not null,
  reason text not null check (reason in ('threshold', 'overflow', 'manual', 'maintenance')),
  preset text not null,
  form text not null,
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
  details json,
  context_lines json,
  unique (conversation_id, id),
  unique (conversation_id, number),
  foreign key (conversation_id, first_kept_sequence) references entries (conversation_id, sequence) deferrable,
  foreign key (conversation_id, head_entry_id) references entries (conversation_id, id) deferrable,
  foreign key (conversation_id, committed_head_entry_id) references entries (conversation_id, id) deferrable,
  foreign key (conversation_id, marker_entry_id) references entries (conversation_id, id) deferrable,
  foreign key (conversation_id, previous_id) references compactions (conversation_id, id) deferrable,
  foreign key (conversation_id, replaces_id) references compactions (conversation_id, id) deferrable,
  foreign key (conversation_id, turn_id) references turns (conversation_id, id) deferrable,
  check ((status = 'committed') = ((number is not null) and (marker_entry_id is not null)
    and (committed_head_entry_id is not null) and (view_after is not null) and (tokens_after is not null))),
  check (((first_kept_sequence is null) = (covered_through_sequence is null)) and ((first_kept_sequence is null)
    or (covered_through_sequence < first_kept_sequence) or coalesce((plan ->> 'inPlace')::boolean, false))),
  check ((status in ('failed', 'abandoned')) = (failure is not null)),
  check ((status = 'planned') = (finished_at is null)),
  check (form in ('reduction', 'summary', 'shorter_summary', 'extractive_summary', 'clip_only')),
  check ((status <> 'committed') or (tokens_after < tokens_before)),
  check ((status <> 'committed') or (((covered_through_sequence is null) = (summary is null)) and ((summary is null)
    or ((summary_measurements is not null) and (length(btrim((summary)::text, ' "')) > 0)))))
);
create index compactions_by_turn on compactions (turn_id, call_number);
create index compactions_by_previous on compactions (previous_id) where previous_id is not null;
create index compactions_by_head on compactions (head_entry_id);
create index compactions_by_marker on compactions (marker_entry_id) where marker_entry_id is not null;
create index compactions_by_cut on compactions (conversation_id, first_kept_sequence)
  where first_kept_sequence is not null;
create index compactions_by_committed_head on compactions (committed_head_entry_id)
  where committed_head_entry_id is not null;
create unique index compactions_open on compactions (conversation_id) where status = 'planned';
comment on table compactions is 'One way of making a view smaller: planned, then committed or not.';
comment on column compactions.id is 'UUIDv7.';
comment on column compactions.conversation_id is 'The conversation.';
comment on column compactions.turn_id is 'The turn that planned it.';
comment on column compactions.epoch is 'Epoch of the last writer.';
comment on column compactions.call_number is 'The model call before which it was planned.';
comment on column compactions.reason is 'overflow: the provider refused. maintenance: after a turn.';
comment on column compactions.preset is 'Name of the policy.';
comment on column compactions.form is 'From the preset''s own form to ever weaker ones.';
comment on column compactions.form_number is 'Which form of the pass this is, from 1.';
comment on column compactions.replaces_id is 'The failed plan of the same pass that this one replaces.';
comment on column compactions.previous_id is 'The compaction whose summary this one updates.';
comment on column compactions.focus is 'What the user asked the summary to dwell on, a JSON string.';
comment on column compactions.plan is 'The plan (src/context/plan/plan.ts): cut, kept entries, parts.';
comment on column compactions.head_entry_id is 'Newest entry when it was planned; the commit demands the same.';
comment on column compactions.first_kept_sequence is 'The cut point; null when the cut stays where it is.';
comment on column compactions.covered_through_sequence is 'Last entry that the summary covers; null without summary.';
comment on column compactions.tokens_before is 'Tokens of the view before, by the calibrated estimate.';
comment on column compactions.tokens_after is 'Tokens after, measured the same way; smaller, or the commit is refused.';
comment on column compactions.status is 'failed: a weaker form may follow. abandoned: its turn ended.';
comment on column compactions.failure is 'Code of why it failed or was abandoned.';
comment on column compactions.number is 'Counts the committed compactions of the conversation, from 1.';
comment on column compactions.marker_entry_id is 'The entry that marks the commit in the log.';
comment on column compactions.committed_head_entry_id is 'Newest entry after the commit.';
comment on column compactions.summary is 'The summary, a JSON string.';
comment on column compactions.summary_measurements is 'Counted of the summary as it stands in the view.';
comment on column compactions.sections is 'Its sections: title and text.';
comment on column compactions.files is 'Files read and modified, cumulative.';
comment on column compactions.model is 'provider/model that wrote it; null without a model.';
comment on column compactions.prompt_version is 'Version of the prompts.';
comment on column compactions.view_after is 'Measurements of the view right after the commit, at the marker.';
comment on column compactions.created_at is 'When it was planned.';
comment on column compactions.finished_at is 'When it was committed, failed or abandoned.';
comment on column compactions.details is 'What a hook stored with it, carried on to the next one.';
comment on column compactions.context_lines is 'Lines that hooks add to the summary request: prepend and append.';

create table compaction_parts (
  compaction_id uuid not null,
  number integer not null check (number > 0),
  conversation_id uuid not null,
  epoch integer not null,
  wave integer not null check (wave > 0),
  kind text not null check (kind in ('history', 'turn_prefix', 'merge', 'flush')),
  from_sequence integer,
  to_sequence integer,
  input_estimate integer not null,
  maximum_output integer not null,
  state text not null default 'planned' check (state in ('planned', 'written', 'failed')),
  text json,
  prompt_version text,
  model text,
  primary key (compaction_id, number),
  foreign key (conversation_id, compaction_id) references compactions (conversation_id, id) deferrable,
  foreign key (conversation_id, from_sequence) references entries (conversation_id, sequence) deferrable,
  foreign key (conversation_id, to_sequence) references entries (conversation_id, sequence) deferrable,
  check (((kind = 'merge') = (from_sequence is null)) and ((from_sequence is null) = (to_sequence is null))),
  check (from_sequence <= to_sequence),
  check ((state = 'written') = (text is not null))
);
create index compaction_parts_from on compaction_parts (conversation_id, from_sequence) where from_sequence is not null;
create index compaction_parts_to on compaction_parts (conversation_id, to_sequence) where to_sequence is not null;
comment on table compaction_parts is 'What each summarizing call reads, and its text.';
comment on column compaction_parts.compaction_id is 'The compaction.';
comment on column compaction_parts.number is 'From 1.';
comment on column compaction_parts.conversation_id is 'The conversation.';
comment on column compaction_parts.epoch is 'Epoch of the last writer.';
comment on column compaction_parts.wave is 'Parts of a wave run in parallel, waves one after another.';
comment on column compaction_parts.kind is 'turn_prefix: the dropped beginning of a turn. merge: of earlier texts.';
comment on column compaction_parts.from_sequence is 'First entry it reads; null for a merge.';
comment on column compaction_parts.to_sequence is 'Last entry it reads; null for a merge.';
comment on column compaction_parts.input_estimate is 'Tokens of its input, estimated by the plan.';
comment on column compaction_parts.maximum_output is 'Longest answer, in tokens.';
comment on column compaction_parts.state is 'planned; written; failed: no further try.';
comment on column compaction_parts.text is 'The text, a JSON string.';
comment on column compaction_parts.prompt_version is 'Version of the prompt.';
comment on column compaction_parts.model is 'provider/model that wrote it; null without a model.';

create table compaction_operations (
  compaction_id uuid not null,
  conversation_id uuid not null,
  entry_sequence integer not null,
  kind text not null check (kind in ('clip', 'clear', 'strip')),
  head_characters integer check (head_characters >= 0),
  tail_characters integer check (tail_characters >= 0),
  measurements measurements not null check (measurements is not null),
  array_items integer,
  primary key (compaction_id, entry_sequence),
  foreign key (conversation_id, compaction_id) references compactions (conversation_id, id) deferrable,
  foreign key (conversation_id, entry_sequence) references entries (conversation_id, sequence) deferrable,
  check ((kind = 'clip') = ((head_characters is not null) and (tail_characters is not null))),
  check ((array_items is null) or ((array_items > 0) and (kind = 'clip')))
);
create index compaction_operations_by_entry on compaction_operations (conversation_id, entry_sequence);
comment on table compaction_operations is 'How one kept entry is shown from a commit on.';
comment on column compaction_operations.compaction_id is 'The compaction.';
comment on column compaction_operations.conversation_id is 'The conversation of both.';
comment on column compaction_operations.entry_sequence is 'The entry.';
comment on column compaction_operations.kind is 'clip: head and tail. clear: a placeholder. strip: without images.';
comment on column compaction_operations.head_characters is 'Clip: characters kept at the start.';
comment on column compaction_operations.tail_characters is 'Clip: characters kept at the end.';
comment on column compaction_operations.measurements is 'Measurements of the entry as it is shown.';
comment on column compaction_operations.array_items is 'Clip of a JSON array: first items that stay; else null.';

create table branch_summaries (
  entry_id uuid primary key,
  conversation_id uuid not null,
  left_branch integer not null,
  from_sequence integer not null,
  through_sequence integer not null,
  entries_read integer not null,
  files json not null,
  model text,
  prompt_version text not null,
  foreign key (conversation_id, entry_id) references entries (conversation_id, id) deferrable
);
create index branch_summaries_by_conversation on branch_summaries (conversation_id);
comment on table branch_summaries is 'Where the summary of a left branch comes from; the entry holds its text.';
comment on column branch_summaries.entry_id is 'The entry of kind branch_summary.';
comment on column branch_summaries.conversation_id is 'The conversation.';
comment on column branch_summaries.left_branch is 'The branch that was left.';
comment on column branch_summaries.from_sequence is 'First entry after the common ancestor.';
comment on column branch_summaries.through_sequence is 'Last entry of the branch.';
comment on column branch_summaries.entries_read is 'Entries that fitted into the request; the newest came first.';
comment on column branch_summaries.files is 'Files read and modified on it.';
comment on column branch_summaries.model is 'provider/model that wrote it; null without a model.';
comment on column branch_summaries.prompt_version is 'Version of the prompt.';

alter table conversations add foreign key (id, compaction_id)
  references compactions (conversation_id, id) deferrable initially deferred;
alter table entries add foreign key (conversation_id, compaction_id)
  references compactions (conversation_id, id) deferrable;
