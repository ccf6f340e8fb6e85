-- A worker that was frozen and wakes up late must not ask a model for what Temporal has given to another one meanwhile.

create type activity_attempt as (run_id text, activity_id text, attempt integer);

alter table model_calls add column registered_by activity_attempt;
alter table compaction_parts add column registered_by activity_attempt;
alter table turns add column branch_registered_by activity_attempt;

comment on column model_calls.registered_by is 'The attempt of an activity that registered it: an older one of the same activity has been replaced. Null in rows of older versions.';
comment on column compaction_parts.registered_by is 'The attempt of an activity that registered the newest try: an older one of the same activity has been replaced.';
comment on column turns.branch_registered_by is 'The attempt of an activity that registered the newest try of the branch summary: an older one of the same activity has been replaced.';
