-- A call that was claimed and never begun (the reply to the claim's commit was lost, or a stop or a shutdown came first) was told as one
-- of unknown outcome. The worker that made the claim knows better: it recognizes the claim, and gives it back if the tool is not to begin.

alter table tool_calls add column claim_id uuid;
alter table tool_calls add column given_back integer not null default 0;
alter table tool_calls add constraint tool_calls_given_back_claims check (given_back between 0 and attempt);
comment on column tool_calls.claim_id is
  'Made by the worker for its newest claim, so that it knows a claim for its own whose reply it never got; older versions leave it as it was.';
comment on column tool_calls.given_back is
  'How many claims, from the first one on, were given back by their workers before the tool began. As many as attempts: nothing acted yet.';
comment on column tool_calls.state is
  'requested: had no effect yet. claimed: may have acted, unless all claims were given back. finished: has its result.';
comment on column tool_calls.outcome is
  'succeeded, failed, outcome_unknown (claimed, nobody knows the rest) or not_run (never claimed, given back, or not allowed).';
