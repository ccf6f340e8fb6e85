-- Whose place at a provider it is: a worker that wakes up late must not give back what another one holds, and who is away gets none.

alter table provider_calls add column holder uuid;
create index provider_calls_by_conversation on provider_calls (conversation_id);
comment on column provider_calls.holder is 'The attempt that asked last: only it renews the place and gives it back. Null: the call waits in its workflow far from its turn, and a place that gets free goes to one that is there.';
comment on column provider_calls.call_key is 'Names the call, so that it keeps its place when its turn waits and comes back. Of a call that is over, with the id behind it once the next try asks.';

comment on column activity_attempt.run_id is 'Of the workflow run that scheduled the activity.';
comment on column activity_attempt.activity_id is 'Temporal''s id of the activity, unique in the run.';
comment on column activity_attempt.attempt is 'From 1.';
