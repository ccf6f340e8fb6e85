-- What a turn waits for from a person: leave for a tool call, or the answer to a question of the model.

create table decisions (
  turn_id uuid not null,
  call_number integer not null,
  call_index integer not null,
  conversation_id uuid not null,
  epoch integer not null,
  kind text not null check (kind in ('approval', 'question')),
  agent text not null,
  tool text not null,
  rule text not null,
  state text not null default 'waiting'
    check (state in ('waiting', 'approved', 'denied', 'answered', 'expired', 'withdrawn')),
  scope text check (scope in ('call', 'turn', 'agent')),
  content json,
  decision_id text check (length(decision_id) between 1 and 200),
  requested_at timestamptz not null default holdfast_now(),
  expires_at timestamptz not null,
  decided_at timestamptz,
  primary key (turn_id, call_number, call_index),
  foreign key (turn_id, call_number, call_index) references tool_calls (turn_id, call_number, call_index),
  foreign key (conversation_id, turn_id) references turns (conversation_id, id),
  check ((state = 'waiting') = (decided_at is null)),
  check ((state in ('approved', 'denied', 'answered')) = (scope is not null)),
  check (state <> 'answered' or (kind = 'question' and content is not null)),
  check (state not in ('approved', 'denied') or kind = 'approval')
);
create index decisions_waiting on decisions (conversation_id) where state = 'waiting';
create index decisions_standing on decisions (agent, rule, decided_at) where scope = 'agent';

comment on table decisions is 'Tool calls that wait, or waited, for a person: one row per call, made before the turn begins to wait. The call runs only after its row says so.';
comment on column decisions.turn_id is 'The turn.';
comment on column decisions.call_number is 'The model call that asked for the tool.';
comment on column decisions.call_index is 'Position among the calls of the answer, from 0.';
comment on column decisions.conversation_id is 'The conversation.';
comment on column decisions.epoch is 'Epoch of the writer that asked.';
comment on column decisions.kind is 'approval: may the tool run? question: what does the user answer?';
comment on column decisions.agent is 'Name of the agent: what a decision for all its turns is found by.';
comment on column decisions.tool is 'The tool.';
comment on column decisions.rule is 'What made the call ask: the rule of the configuration, or the tool''s own. A decision for a turn or an agent stands for all calls under it.';
comment on column decisions.state is 'waiting; approved, denied, answered: by a person; expired: by time; withdrawn: the turn ended first.';
comment on column decisions.scope is 'How far the decision reaches: this call, the calls of the turn, all turns of the agent.';
comment on column decisions.content is 'The reason of a denial or the answer to the question, a JSON string.';
comment on column decisions.decision_id is 'Chosen by who decides: sending twice is sending once.';
comment on column decisions.requested_at is 'When the turn began to wait for it.';
comment on column decisions.expires_at is 'When it counts as denied or not answered.';
comment on column decisions.decided_at is 'When it was decided, by whomever; null while it waits.';
create trigger refuse_stale_epoch before insert on decisions for each row execute function refuse_stale_epoch();
create trigger refuse_delete before delete on decisions for each row execute function refuse_change();
create trigger refuse_truncate before truncate on decisions for each statement execute function refuse_change();

-- A decision is final: what a tool call did or did not do followed from it. Only its reach into later turns can be taken back.
create function protect_decision() returns trigger language plpgsql as $$
begin
  if old.state <> 'waiting' and (new.state, new.content::text, new.decided_at, new.decision_id)
    is distinct from (old.state, old.content::text, old.decided_at, old.decision_id) then
    raise exception using errcode = 'HF003',
      message = format('the decision on call %s.%s of turn %s is %s: decisions are final', old.call_number, old.call_index, old.turn_id, old.state);
  end if;
  return new;
end $$;
comment on function protect_decision is 'Trigger: what was decided stays; a standing decision can only end.';
create trigger protect_decision before update on decisions for each row execute function protect_decision();
