-- A search by meaning of an agent added up how many vectors each of its conversations has, to know whether to compare all of them: of a
-- hundred thousand conversations that took as long as the search. They are kept by agent, as its passages are.

alter table search_agents add column vectors bigint not null default 0;
comment on column search_agents.vectors is 'Passages of all its conversations that have a vector or were passed over, as embedding_progress has them.';

create function number_agent_of_vectors() returns trigger language plpgsql as $$
begin
  new.agent_number := (select s.agent_number from search_progress s where s.conversation_id = new.conversation_id);
  return new;
end $$;
comment on function number_agent_of_vectors() is 'Trigger of embedding_progress: whose conversation it is.';

-- As the owner of the table, since who may delete conversations need not be allowed to write there: so no name is looked up on the way.
create function count_vectors_of_agent() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
begin
  execute format('update %I.search_agents set vectors = vectors + $1 where number = $2', tg_table_schema)
  using coalesce(new.passages, 0) - coalesce(old.passages, 0), coalesce(new.agent_number, old.agent_number);
  return null;
end $$;
comment on function count_vectors_of_agent() is 'Trigger of embedding_progress: keeps how many vectors an agent has.';

-- The table is no migration's: it is made where pgvector is, at the first use.
create function keep_vectors_of_agents() returns void language plpgsql as $$
begin
  alter table embedding_progress add column if not exists agent_number integer;
  comment on column embedding_progress.agent_number is 'The agent of the conversation.';
  update embedding_progress e set agent_number = s.agent_number from search_progress s
  where s.conversation_id = e.conversation_id and e.agent_number is null;
  create index if not exists embedding_progress_by_agent on embedding_progress (agent_number);
  drop trigger if exists number_agent_of_vectors on embedding_progress;
  create trigger number_agent_of_vectors before insert or update of passages on embedding_progress for each row
    when (new.agent_number is null) execute function number_agent_of_vectors();
  -- At the end of the transaction: those that make vectors for one agent at once would wait for each other all the time. Always, since a
  -- deletion of a conversation leaves out the triggers that it can.
  drop trigger if exists count_vectors_of_agent on embedding_progress;
  create constraint trigger count_vectors_of_agent after insert or update of passages or delete on embedding_progress
    deferrable initially deferred for each row execute function count_vectors_of_agent();
  alter table embedding_progress enable always trigger count_vectors_of_agent;
  update search_agents a set vectors = coalesce(e.vectors, 0)
  from search_agents known left join (
    select agent_number, sum(passages) as vectors from embedding_progress group by agent_number) e on e.agent_number = known.number
  where a.number = known.number and a.vectors <> coalesce(e.vectors, 0);
end $$;
comment on function keep_vectors_of_agents() is
  'Has the database count the vectors of each agent, from those that are there; by who makes embedding_progress, and where an older version made it.';

do $$
begin
  if to_regclass('embedding_progress') is not null then
    perform keep_vectors_of_agents();
  end if;
-- It is another role's: a worker of that role has them counted.
exception when insufficient_privilege then null;
end $$;
