-- Upkeep rings again for a row that stays, but less and less often, and looks at open turns in rotation.

alter table messages add column rung_at timestamptz, add column rings integer not null default 0 check (rings >= 0);
alter table decisions add column rung_at timestamptz, add column rings integer not null default 0 check (rings >= 0);
alter table turns add column looked_at timestamptz;

create function is_ring_due(rung_at timestamptz, rings integer) returns boolean
language sql volatile as $$
  select rung_at is null or rung_at + make_interval(secs => least(10 * 2 ^ least(rings, 9), 3600)) <= holdfast_now()
$$;
comment on function is_ring_due is
  'Whether upkeep may ring for a row: the first time at once, then after 20 s, and after twice as long each time, up to an hour. A turn that keeps a row while it waits for a person would otherwise fill its history with rings.';

comment on column messages.rung_at is 'When upkeep rang for it last; null: never.';
comment on column messages.rings is 'How often upkeep rang for it.';
comment on column decisions.rung_at is 'When upkeep last rang because of what was decided; null: never.';
comment on column decisions.rings is 'How often upkeep rang because of it.';
comment on column turns.looked_at is 'When upkeep last asked Temporal whether its workflow is open; null: never.';
