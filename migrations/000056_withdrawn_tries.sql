-- A withdrawal may be said twice, since the reply of its commit can be lost: the second one must not take back the try of another.
alter table compaction_parts add column withdrawn_attempt integer not null default 0;
comment on column compaction_parts.withdrawn_attempt is 'Newest try that ended unpaid before a model had answered.';
alter table turns add column withdrawn_branch_try integer not null default 0;
comment on column turns.withdrawn_branch_try is 'Newest try of its branch summary that ended unpaid.';
