-- Words of a conversation that was deleted stayed in the vocabulary when another that had them was deleted at the same time, or
-- when an index that was being built anew had not come to them; and a word went that another conversation was just indexed with.

create function forget_words(terms text[]) returns void language plpgsql as $$
begin
  -- Who indexes holds it shared from before it looks which words there are until it commits (src/store/search/term-writer.ts), so
  -- that each word has its postings when the next statement looks for them. Two that forget follow each other.
  perform pg_advisory_xact_lock(hashtextextended('search_vocabulary', 0));
  -- By the key of the postings, agent by agent: the statistics have no index that begins with the word, and would be read whole.
  delete from search_vocabulary v
  where v.term = any(terms) and (
    select p.block from search_agents a
    cross join lateral (select p.block from search_postings p where p.agent_number = a.number and p.term = v.term limit 1) p
    limit 1) is null;
end $$;
comment on function forget_words is
  'Takes words out of the vocabulary that no conversation has any more. Called last, after their postings went: indexing waits for it until the transaction ends.';

create or replace function delete_conversation(conversation uuid) returns table (workflow_id text, run_id text)
language plpgsql as $$
declare
  found_row conversations;
  replication text := current_setting('session_replication_role');
  runs jsonb;
  terms text[];
  deletes text;
begin
  select * into found_row from conversations c where c.id = conversation for update;
  if not found then return; end if;
  if found_row.active_turn_id is not null then
    raise exception using errcode = 'HF007',
      message = format('conversation %s has an open turn: stop it, then delete', conversation);
  end if;
  select coalesce(jsonb_agg(distinct jsonb_build_object('workflow', t.workflow_id, 'run', each_run)), '[]')
  into runs
  from turns t cross join lateral unnest(array[t.begun_by_run_id, t.run_id]) as each_run
  where t.conversation_id = conversation;
  terms := array(
    select s.term from search_statistics s join search_progress p on p.number = s.conversation_number
    where p.conversation_id = conversation);
  -- First and by itself: the index goes by its own triggers and references.
  delete from search_progress where conversation_id = conversation;
  -- References between these tables are checked row by row, some without an index, because nothing else ever
  -- asks for them. All rows go together, so that the checks could only agree; who may, leaves them out.
  begin
    perform set_config('session_replication_role', 'replica', true);
  exception when insufficient_privilege then null;
  end;
  -- One statement, because tables refer to each other in circles. Every table that names its conversation is in it.
  select string_agg(
    format('%I as (delete from %I.%I where conversation_id = $1)', 'of_' || c.relname, n.nspname, c.relname), ', ')
  into deletes
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'conversation_id' and not a.attisdropped
  where c.relkind in ('r', 'p') and not c.relispartition
    and n.oid = (select relnamespace from pg_class where oid = 'conversations'::regclass);
  execute
    'with pieces as (delete from content_pieces where content_id in (select id from contents where conversation_id = $1)), '
    || 'late as (delete from late_tool_results where turn_id in (select id from turns where conversation_id = $1)), '
    -- Forgetting a memory forgets what it had superseded.
    || 'older as (with recursive superseded (id) as ('
    || 'select m.id from memories m where m.superseded_by in (select id from memories where conversation_id = $1) '
    || 'union select m.id from memories m join superseded s on m.superseded_by = s.id) '
    || 'delete from memories where id in (select id from superseded) and conversation_id is distinct from $1), '
    || deletes || ' delete from conversations where id = $1'
  using conversation;
  if current_setting('session_replication_role') <> replication then
    perform set_config('session_replication_role', replication, true);
  end if;
  -- Last: who indexes waits for it until this transaction ends.
  perform forget_words(terms);
  return query select each ->> 'workflow', each ->> 'run' from jsonb_array_elements(runs) as each;
end $$;

-- What stayed, and what went, before.
do $$
begin
  perform pg_advisory_xact_lock(hashtextextended('search_vocabulary', 0));
  delete from search_vocabulary v where not exists (select from search_statistics s where s.term = v.term);
  insert into search_vocabulary
  select distinct s.term from search_statistics s
  where left(s.term, 1) <> '@' and not exists (select from search_vocabulary v where v.term = s.term)
  on conflict do nothing;
end $$;
