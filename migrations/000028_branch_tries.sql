-- Tries of a branch summary that never reported: the model may have been asked, and paid.

alter table turns add column branch_tries integer not null default 0 check (branch_tries >= 0);
alter table turns add column unreported_branch_tries integer not null default 0 check (unreported_branch_tries >= 0);
comment on column turns.branch_tries is 'Counts the tries of branch summaries in this turn; only the newest may store one.';
comment on column turns.unreported_branch_tries is 'Of them, those that have told nothing: the model may have been asked, and paid.';

alter table branch_summaries add column lost_calls integer not null default 0 check (lost_calls >= 0);
alter table branch_summaries add column lost_cost numeric not null default 0;
comment on column branch_summaries.lost_calls is 'Of model_calls, those whose try never reported: taken for paid as much as the try that did.';
comment on column branch_summaries.lost_cost is 'What of cost is theirs, dollars.';
