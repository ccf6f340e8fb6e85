-- What a command of a killed worker left running is ended by the key of its call, once that has its result. With its conversation
-- deleted before a worker of that machine looked, nobody knew the key any more, and a daemon stayed for good.

create table deleted_calls (
  key_hash bytea primary key,
  deleted_at timestamptz not null default now()
);
create index deleted_calls_deleted_at on deleted_calls (deleted_at);
comment on table deleted_calls is 'Tool calls of deleted conversations that a worker may not have lived to end: for a day, so that what they left running is ended.';
comment on column deleted_calls.key_hash is 'SHA-256 of the idempotency key of the call. Nothing else of it is kept.';
comment on column deleted_calls.deleted_at is 'A day later the next deletion of such a call removes the row.';

-- As the owner of the table, since who may delete conversations need not be allowed to write: so no name is looked up on the way.
create function keep_deleted_call() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
begin
  execute format('insert into %I.deleted_calls (key_hash) values (sha256($1)) on conflict do nothing', tg_table_schema)
  using convert_to(concat_ws(':', old.turn_id, old.call_number, old.call_index), 'UTF8');
  execute format('delete from %I.deleted_calls where deleted_at < now() - interval ''1 day''', tg_table_schema);
  return null;
end $$;
comment on function keep_deleted_call is 'Trigger of tool_calls: remembers a call whose worker may have died, by its key alone.';

create trigger tool_calls_deleted after delete on tool_calls
for each row when (
  (old.outcome = 'outcome_unknown' or old.attempt > 1) and old.finished_at > now() - interval '1 day'
) execute function keep_deleted_call();
-- The function that deletes a conversation switches ordinary triggers off.
alter table tool_calls enable always trigger tool_calls_deleted;
