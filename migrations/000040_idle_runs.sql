-- A run that found nothing waiting gets no other answer later: a worker of it that was frozen must not begin a turn beside its successor.

create table idle_runs (
  conversation_id uuid not null references conversations,
  run_id text not null,
  answered_at timestamptz not null default holdfast_now(),
  primary key (conversation_id, run_id)
);

comment on table idle_runs is 'Workflow runs that found nothing waiting when they began. A run that began a turn is named by it instead (turns.begun_by_run_id). Kept for a week.';
comment on column idle_runs.conversation_id is 'The conversation.';
comment on column idle_runs.run_id is 'Temporal''s id of the run.';
comment on column idle_runs.answered_at is 'When it was told so.';
