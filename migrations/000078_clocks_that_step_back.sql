-- A clock of the database that steps back left times ahead of it: they held until the clock came there again.

-- What was sent before a turn began, during it or behind its end is told by the epoch, which beginning and end of a turn raise: no clock
-- is asked.
alter table messages add column sent_epoch integer check (sent_epoch >= 0);
comment on column messages.sent_epoch is
  'Epoch of the conversation when it arrived: lower than that of a turn that began later, and higher than that of one that had ended. Null: an older version or an import wrote it, and the times tell.';

-- What such turns took off the totals is added again.
update conversations c set worked_seconds = c.worked_seconds + negative.seconds
from (
  select t.conversation_id, -sum(worked_seconds(t)) as seconds
  from turns t where t.ended_at is not null and worked_seconds(t) < 0 group by t.conversation_id) as negative
where c.id = negative.conversation_id;

create or replace function worked_seconds(turn turns) returns double precision language sql stable as $$
  select greatest(0, extract(epoch from coalesce(turn.ended_at, holdfast_now()) - turn.begun_at) - coalesce((
    select sum(extract(epoch from upper(waited.during) - lower(waited.during)))
    from unnest((
      select range_agg(tstzrange(d.requested_at, greatest(d.requested_at, coalesce(d.decided_at, holdfast_now()))))
      from decisions d where d.turn_id = turn.id)) as waited (during)), 0))::double precision
$$;
comment on function worked_seconds is 'Seconds from the turn''s begin to its end or now, without those in which it waited for people: a night is not work. Never less than none: a clock that stepped back meanwhile gives no time back.';

create or replace function is_ring_due(rung_at timestamptz, rings integer) returns boolean
language sql volatile as $$
  select rung_at is null or rung_at > holdfast_now() + interval '1 minute'
    or rung_at + make_interval(secs => least(10 * 2 ^ least(rings, 9), 3600)) <= holdfast_now()
$$;
comment on function is_ring_due is
  'Whether upkeep may ring for a row: the first time at once, then after 20 s, and after twice as long each time, up to an hour. A turn that keeps a row while it waits for a person would otherwise fill its history with rings. A ring that lies more than a minute ahead is of a clock that stepped back since.';
