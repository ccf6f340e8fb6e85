-- The tries of a branch summary that the end of their turn cuts off: their requests were sent, so they count as paid, like those of
-- other summaries.
alter table turns add column branch_input_estimate integer not null default 0 check (branch_input_estimate >= 0);
alter table turns add column lost_branch_calls integer not null default 0 check (lost_branch_calls >= 0);
alter table turns add column lost_branch_tokens bigint not null default 0 check (lost_branch_tokens >= 0);
alter table turns add column lost_branch_cost numeric;
comment on column turns.branch_input_estimate is 'Tokens of the request that asks for the branch summary, as estimated when its newest try was registered.';
comment on column turns.lost_branch_calls is 'Tries of its branch summary that never reported, and that no summary accounts for: taken for paid when the turn ended, for the input that was estimated.';
comment on column turns.lost_branch_tokens is 'Input of lost_branch_calls, as it stands in input_tokens.';
comment on column turns.lost_branch_cost is 'What of cost is theirs, dollars; null when the price is unknown, or there are none.';
