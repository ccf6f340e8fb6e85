-- Branches: a conversation goes on from an earlier entry, and what is left behind is summarized.

alter table messages drop constraint messages_kind_check;
alter table messages add constraint messages_kind_check
  check (kind in ('message', 'stop', 'compact', 'resume', 'fork', 'switch'));
alter table messages add column target_entry_id uuid;
alter table messages add column target_branch integer;
alter table messages add column summarizes boolean;
alter table messages add constraint messages_target_entry
  foreign key (conversation_id, target_entry_id) references entries (conversation_id, id) deferrable initially deferred;
alter table messages add constraint messages_branch check (
  (target_entry_id is null or kind = 'fork')
  and (kind = 'switch') = (target_branch is not null)
  and (kind in ('fork', 'switch')) = (summarizes is not null));
comment on column messages.kind is 'message: text for the agent. stop, compact, resume, fork, switch: commands to Holdfast.';
comment on column messages.target_entry_id is 'fork only: the entry after which the new branch begins; null for before the first.';
comment on column messages.target_branch is 'switch only: the branch to go on with.';
comment on column messages.summarizes is 'fork and switch: whether what is left behind is summarized.';

create table branch_summaries (
  entry_id uuid primary key,
  conversation_id uuid not null,
  turn_id uuid not null,
  epoch integer not null,
  left_branch integer not null,
  from_sequence integer not null,
  through_sequence integer not null,
  entries_read integer not null,
  files json not null,
  model text,
  prompt_version text not null,
  model_calls integer not null default 0,
  input_tokens bigint not null default 0,
  cache_read_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost numeric not null default 0,
  calls_of_unknown_cost integer not null default 0,
  created_at timestamptz not null default holdfast_now(),
  foreign key (conversation_id, entry_id) references entries (conversation_id, id) deferrable,
  foreign key (conversation_id, turn_id) references turns (conversation_id, id) deferrable
);
create index branch_summaries_by_conversation on branch_summaries (conversation_id);
create index branch_summaries_by_turn on branch_summaries (turn_id);
comment on table branch_summaries is 'Where the summary of a branch that was left comes from; its text is the entry''s.';
comment on column branch_summaries.entry_id is 'The entry of kind branch_summary.';
comment on column branch_summaries.conversation_id is 'The conversation.';
comment on column branch_summaries.turn_id is 'The turn, without a step, that left the branch.';
comment on column branch_summaries.epoch is 'Epoch of the writer.';
comment on column branch_summaries.left_branch is 'The branch that was left.';
comment on column branch_summaries.from_sequence is 'First entry after the common ancestor.';
comment on column branch_summaries.through_sequence is 'Last entry of the branch.';
comment on column branch_summaries.entries_read is 'Entries that fitted into the request; the newest came first.';
comment on column branch_summaries.files is 'Files read and modified on it.';
comment on column branch_summaries.model is 'provider/model that wrote it; null without a model.';
comment on column branch_summaries.prompt_version is 'Version of the prompt.';
comment on column branch_summaries.model_calls is 'Calls that were paid.';
comment on column branch_summaries.input_tokens is 'Input tokens of these calls, cached ones included.';
comment on column branch_summaries.cache_read_tokens is 'Of them, read from the cache.';
comment on column branch_summaries.cache_write_tokens is 'Of them, written to the cache.';
comment on column branch_summaries.output_tokens is 'Output tokens of these calls.';
comment on column branch_summaries.cost is 'Dollars, over the calls whose price is known.';
comment on column branch_summaries.calls_of_unknown_cost is 'Calls whose price is unknown.';
comment on column branch_summaries.created_at is 'When it was written.';
create trigger refuse_stale_epoch before insert on branch_summaries for each row execute function refuse_stale_epoch();
create trigger refuse_change before update or delete on branch_summaries for each row execute function refuse_change();
create trigger refuse_truncate before truncate on branch_summaries for each statement execute function refuse_change();
