-- What a person decided for all turns of an agent outlasts the conversation in which it was decided.

create table standing_decisions (
  agent text not null,
  rule text not null,
  state text not null check (state in ('approved', 'denied')),
  decided_at timestamptz not null,
  turn_id uuid not null,
  call_number integer not null,
  call_index integer not null,
  primary key (agent, rule)
);

insert into standing_decisions
select distinct on (agent, rule) agent, rule, state, decided_at, turn_id, call_number, call_index from decisions
where scope = 'agent' order by agent, rule, decided_at desc;

drop index decisions_standing;

comment on table standing_decisions is 'What a person said to all calls of an agent under a rule, until it is ended.';
comment on column standing_decisions.agent is 'Name of the agent.';
comment on column standing_decisions.rule is 'The rule of the configuration, or the tool''s own.';
comment on column standing_decisions.state is 'What the calls get: approved or denied.';
comment on column standing_decisions.decided_at is 'When it was decided; against decisions for a turn, the newest counts.';
comment on column standing_decisions.turn_id is 'The turn in which it was decided. Its conversation may be gone, and with it the reason that was given.';
comment on column standing_decisions.call_number is 'The model call that asked for the tool on which it was decided.';
comment on column standing_decisions.call_index is 'Position of that call in the answer.';
