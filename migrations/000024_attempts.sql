-- What tells tries of the same work apart: who claimed a tool call, which tries of a summary never reported, which step an event is of.

alter table tool_calls add column claim_run_id text;
alter table tool_calls add column claim_attempt integer check (claim_attempt > 0);
alter table tool_calls add check ((claim_run_id is null) = (claim_attempt is null));
comment on column tool_calls.claim_run_id is 'Temporal''s id of the workflow run whose activity claimed it last; null in claims of older versions.';
comment on column tool_calls.claim_attempt is 'The attempt of that activity: an older one of the same run has been replaced, whenever it wakes up.';

alter table compaction_parts add column unreported_tries integer not null default 0 check (unreported_tries >= 0);
alter table compaction_parts add column lost_calls integer not null default 0 check (lost_calls >= 0);
alter table compaction_parts add column lost_cost numeric not null default 0;
comment on column compaction_parts.unreported_tries is 'Tries that registered and have told nothing: the model may have been asked, and paid.';
comment on column compaction_parts.lost_calls is 'Of model_calls, those whose try never reported: taken for paid as much as the try that did.';
comment on column compaction_parts.lost_cost is 'What of cost is theirs, dollars.';

-- An event that no other write of its activity stands for is written once for a step, whoever repeats the activity.
create unique index events_once on events (turn_id, kind, (data ->> 'callNumber'))
  where kind in ('compaction_exhausted', 'compaction_cancelled') and data ? 'callNumber';
