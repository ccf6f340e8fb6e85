-- A search that names a time read each passage of that time, more with every day that a conversation goes on. Blocks that lie wholly
-- within it are now taken as they are. Passages may come in any order of time, as imported ones do: both ends are kept for each block.

alter table search_blocks add column earliest timestamptz, add column latest timestamptz;
comment on column search_blocks.earliest is 'When the first of its passages was said (passages.said_at, else created_at), or before: it stays when passages go. Null: there is none.';
comment on column search_blocks.latest is 'The same of the last, or after.';

update search_blocks b set earliest = p.earliest, latest = p.latest
from (
  select (id / 4096)::int as number, min(coalesce(said_at, created_at)) as earliest, max(coalesce(said_at, created_at)) as latest
  from passages group by 1) p
where b.number = p.number;

-- By the database: workers of an older version, which index beside newer ones, know nothing of these columns.
create function widen_times_of_blocks() returns trigger language plpgsql as $$
begin
  update search_blocks b set earliest = least(b.earliest, p.earliest), latest = greatest(b.latest, p.latest)
  from (
    select (id / 4096)::int as number, min(coalesce(said_at, created_at)) as earliest, max(coalesce(said_at, created_at)) as latest
    from added group by 1) p
  where b.number = p.number;
  return null;
end $$;
create trigger widen_times_of_blocks after insert on passages referencing new table as added
  for each statement execute function widen_times_of_blocks();
comment on function widen_times_of_blocks() is 'Keeps from when to when the passages of a block were said.';
