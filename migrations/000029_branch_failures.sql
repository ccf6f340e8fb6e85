-- What counts toward the retries of a branch summary: failures of the model, not deaths of workers.

alter table turns add column branch_failures integer not null default 0 check (branch_failures >= 0);
comment on column turns.branch_failures is 'Of branch_tries, those that the model failed: five are retried.';
