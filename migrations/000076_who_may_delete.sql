-- Postgres names a function in the call stack as it was called when a connection first used it: with its schema where another of its name
-- was found before it then. A deletion by a role that fires triggers on such a connection was refused later.

create or replace function refuse_change() returns trigger language plpgsql as $$
declare
  stack text;
  qualified text := format('%I.delete_conversation(uuid)', tg_table_schema);
  remover text;
begin
  if tg_op = 'DELETE' then
    get diagnostics stack = pg_context;
    foreach remover in array array[qualified, qualified::regprocedure::text] loop
      remover := regexp_replace(remover, '([].*+?^${}()|[\\])', '\\\1', 'g');
      if stack ~ ('PL/pgSQL([^"\n]*[^"\na-z0-9_$.])?' || remover) then return old; end if;
    end loop;
  end if;
  raise exception using errcode = 'HF003', message = format('%s is append-only: %s refused', tg_table_name, lower(tg_op));
end $$;
