-- A search of an agent knew the languages of its hundred largest conversations alone: to read those of a hundred thousand takes as long as
-- the search. They are kept by agent. A language stays when its conversations go: words are looked for in one more form.

alter table search_agents add column languages text[] not null default '{}';
comment on column search_agents.languages is 'Languages of its passages, as search_progress.languages of all its conversations.';

update search_agents a set languages = l.languages
from (
  select c.agent, array_agg(distinct language order by language) as languages
  from search_progress p join conversations c on c.id = p.conversation_id cross join unnest(p.languages) as language
  group by c.agent) l
where l.agent = a.agent;

-- By the database: workers of an older version, which index beside newer ones, know nothing of this column.
create function add_languages_of_agent() returns trigger language plpgsql as $$
begin
  update search_agents a set languages = array(select distinct unnest(a.languages || new.languages) order by 1)
  from conversations c
  where c.id = new.conversation_id and a.agent = c.agent and not a.languages @> new.languages;
  return null;
end $$;
-- At the end of the transaction: two that index for one agent write the same words, and would wait for each other.
create constraint trigger add_languages_of_agent after update of languages on search_progress deferrable initially deferred
  for each row when (new.languages is distinct from old.languages) execute function add_languages_of_agent();
comment on function add_languages_of_agent() is 'Keeps the languages of all passages of an agent.';
