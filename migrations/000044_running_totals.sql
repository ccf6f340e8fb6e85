-- Running totals of steps, tool calls and time, so that the check of limits before a step reads two rows and not the whole ledger.

alter table turns add column steps integer not null default 0;
alter table turns add column tool_calls integer not null default 0;
alter table conversations add column steps integer not null default 0;
alter table conversations add column tool_calls integer not null default 0;
alter table conversations add column worked_seconds double precision not null default 0;

comment on column turns.steps is 'Model calls that were answered.';
comment on column turns.tool_calls is 'Tool calls that the model asked for, without those that the turn''s end kept from running.';
comment on column conversations.steps is 'Model calls of the agent that were answered, over all turns.';
comment on column conversations.tool_calls is 'Tool calls of all turns, without those that the end of a turn kept from running.';
comment on column conversations.worked_seconds is 'Seconds from begin to end of each turn that has ended, without those in which it waited for people (worked_seconds).';

create function worked_seconds(turn turns) returns double precision language sql stable as $$
  select (extract(epoch from coalesce(turn.ended_at, holdfast_now()) - turn.begun_at) - coalesce((
    select sum(extract(epoch from upper(waited.during) - lower(waited.during)))
    from unnest((
      select range_agg(tstzrange(d.requested_at, greatest(d.requested_at, coalesce(d.decided_at, holdfast_now()))))
      from decisions d where d.turn_id = turn.id)) as waited (during)), 0))::double precision
$$;
comment on function worked_seconds is 'Seconds from the turn''s begin to its end or now, without those in which it waited for people: a night is not work.';

create function recount_totals(conversation uuid) returns void language sql as $$
  update turns t set
    steps = (select count(*) from model_calls m where m.turn_id = t.id and m.entry_id is not null),
    tool_calls = (select count(*) from tool_calls k where k.turn_id = t.id and (k.claimed_at is not null or k.state <> 'finished'))
  where t.conversation_id = conversation;
  update conversations c set
    (steps, tool_calls, worked_seconds) = (
      select coalesce(sum(t.steps), 0), coalesce(sum(t.tool_calls), 0),
        coalesce(sum(worked_seconds(t)) filter (where t.ended_at is not null), 0)
      from turns t where t.conversation_id = c.id)
  where c.id = conversation;
$$;
comment on function recount_totals is 'Counts the totals of a conversation and its turns anew, for rows that an older version or an import wrote.';

select recount_totals(id) from conversations;
