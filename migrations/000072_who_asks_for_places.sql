-- A worker that was frozen and wakes up while it waits for a place must not take over what the next attempt of its call has by now.

alter table provider_calls add column asked_by activity_attempt;

comment on column provider_calls.asked_by is 'The attempt of an activity that asked last: an older one of the same activity takes nothing over from it. Null in rows of older versions.';
