-- A search of an agent read all its conversations twice, and how far each is indexed: to know which are behind, and how many passages they
-- have in all. Upkeep did so each minute. Now both are kept, and what a search reads no longer grows with the conversations of the agent.

alter table conversations add column is_unindexed boolean not null default false;
comment on column conversations.is_unindexed is
  'The search index may lack something of it. Set by the database with each entry and compaction, taken back by who indexes.';
update conversations c set is_unindexed = true
where (c.last_sequence > 0 or c.compactions > 0) and not exists (
  select from search_progress p
  where p.conversation_id = c.id and p.through_sequence >= c.last_sequence and p.through_compaction >= c.compactions);
-- Neither the sequence nor the number of compactions is in an index: they change several times a step, in updates that touch none.
create index conversations_unindexed on conversations (agent) where is_unindexed;

create function note_unindexed() returns trigger language plpgsql as $$
begin
  new.is_unindexed := true;
  return new;
end $$;
create trigger note_unindexed before insert or update of last_sequence, compactions on conversations for each row
  when ((new.last_sequence > 0 or new.compactions > 0) and not new.is_unindexed) execute function note_unindexed();
-- Whoever writes entries past the triggers leaves them unindexed too.
alter table conversations enable always trigger note_unindexed;
comment on function note_unindexed() is 'Trigger of conversations: what is appended is not indexed yet. The first entry after it was indexed sets it, the others find it set.';

alter table search_progress add column agent_number integer references search_agents;
alter table search_agents add column passages bigint not null default 0;
comment on column search_progress.agent_number is 'Its agent; null before it has passages.';
comment on column search_agents.passages is 'Passages of all its conversations.';
update search_progress p set agent_number = a.number
from conversations c join search_agents a on a.agent = c.agent where c.id = p.conversation_id;
update search_agents a set passages = p.passages
from (select agent_number, sum(passages) as passages from search_progress group by agent_number) p where p.agent_number = a.number;
create index search_progress_by_size on search_progress (agent_number, passages desc, number);

-- By the database: workers of an older version, which index beside newer ones, know nothing of these columns.
create function number_agent_of_progress() returns trigger language plpgsql as $$
begin
  new.agent_number := (select a.number from conversations c join search_agents a on a.agent = c.agent where c.id = new.conversation_id);
  return new;
end $$;
create trigger number_agent_of_progress before insert or update of passages on search_progress for each row
  when (new.agent_number is null) execute function number_agent_of_progress();
comment on function number_agent_of_progress() is 'Trigger of search_progress: whose conversation it is.';

-- As the owner of the table, since who may delete conversations need not be allowed to write there: so no name is looked up on the way.
create function count_passages_of_agent() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
begin
  execute format('update %I.search_agents set passages = passages + $1 where number = $2', tg_table_schema)
  using coalesce(new.passages, 0) - coalesce(old.passages, 0), coalesce(new.agent_number, old.agent_number);
  return null;
end $$;
-- At the end of the transaction: those that index for one agent at once would wait for each other all the time.
create constraint trigger count_passages_of_agent after insert or update of passages or delete on search_progress
  deferrable initially deferred for each row execute function count_passages_of_agent();
comment on function count_passages_of_agent() is 'Trigger of search_progress: keeps how many passages an agent has.';

-- Without figures of the new columns Postgres takes half of the conversations for unindexed, and reads them all.
analyze conversations (is_unindexed);
analyze search_progress (agent_number, passages);
