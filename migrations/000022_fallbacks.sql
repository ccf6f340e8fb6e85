-- Models that a turn falls back to when its own fails for good or for long.

alter table turns add column fallbacks jsonb not null default '[]';
comment on column turns.fallbacks is 'Models that were given up, oldest first: {model, callNumber, reason}. Its length says which of the snapshot''s fallbacks is in force.';
comment on column turns.model is 'provider/model in force: the agent''s own, or a fallback.';
comment on column turns.model_limits is 'Limits of the model in force, smaller once an error named a smaller window.';
comment on column turns.policy is 'Policy in force, with the output reserve of the model in force.';
