-- A worker that wakes up within beginTurn may do so for a run that was terminated, when a later run has begun a turn and ended it. With
-- no turn open nothing told the two apart, and a turn of the dead run took what waited for the next one.
alter table turns add column begin_scheduled_at timestamptz;

comment on column turns.begin_scheduled_at is 'When Temporal first scheduled the activity that began it, by Temporal''s clock: a run whose own was scheduled earlier may have been replaced. Null: begun by an older version, or imported.';
