-- An inverted index of our own: which passages have a term, with what its weight there depends on, so
-- that a search reads numbers until few passages are left and only then their text. Postgres's GIN index knows
-- neither how often a word stands in a passage nor which passages are short, and reads a passage for each match.
-- What was indexed before is indexed anew by the next search or by upkeep, whichever comes first.

drop index passages_terms;
drop index passages_by_sequence;
truncate passages;
truncate search_statistics;
alter table passages alter column id drop identity;
create index passages_by_time on passages (conversation_id, created_at, id);
update search_progress set through_sequence = 0, through_compaction = 0, passages = 0, words = 0, languages = '{}';

comment on column passages.id is '4,096 times its block, and its place in the block.';
comment on column passages.terms is 'Stems of words, identifiers with their parts, pairs of characters of scripts without spaces, with places; beginning with @: dates (src/store/search).';

create table search_agents (
  number integer generated always as identity primary key,
  agent text not null unique
);
comment on table search_agents is 'Agents by a number that takes little room in the index.';
comment on column search_agents.number is 'Short name of the agent in the index.';
comment on column search_agents.agent is 'As in conversations.';

create table search_blocks (
  number integer generated always as identity primary key,
  conversation_number integer not null references search_progress (number) on delete cascade,
  agent_number integer not null references search_agents,
  is_spoken boolean not null,
  passages integer not null default 0 check (passages between 0 and 4096)
);
create index search_blocks_by_conversation on search_blocks (conversation_number, number);
create index search_blocks_by_agent on search_blocks (agent_number, number);
comment on table search_blocks is 'Up to 4,096 passages of one conversation, in the order of its log.';
comment on column search_blocks.number is 'Begins the ids of its passages.';
comment on column search_blocks.conversation_number is 'The conversation.';
comment on column search_blocks.agent_number is 'Its agent.';
comment on column search_blocks.is_spoken is 'What user and agent said to each other lies side by side, apart from tool calls, results, notes and summaries: a question is next to its answer.';
comment on column search_blocks.passages is 'Passages in it; the next one gets this place.';

create table search_postings (
  agent_number integer not null,
  term text collate "C" not null,
  block integer not null,
  postings bytea not null,
  primary key (agent_number, term, block)
) with (fillfactor = 90);
-- Small numbers that differ: packing wins little, and unpacking is paid by every search.
alter table search_postings alter column postings set storage external;
comment on table search_postings is 'Which passages of a block have a term. Goes with the conversation by a trigger on search_progress: an index for a foreign key would be as large as the table.';
comment on column search_postings.agent_number is 'The agent, so that a search of all its conversations reads along one key.';
comment on column search_postings.term is 'As in passages.terms.';
comment on column search_postings.block is 'The block.';
comment on column search_postings.postings is 'Three bytes for each passage in order: place, kind, how often, how long (src/store/search/postings.ts).';

create function forget_postings() returns trigger language plpgsql as $$
begin
  delete from search_postings p using search_blocks b, search_statistics s
  where b.conversation_number = old.number and s.conversation_number = old.number
    and p.agent_number = b.agent_number and p.term = s.term and p.block = b.number;
  return old;
end $$;
create trigger forget_postings before delete on search_progress for each row execute function forget_postings();
comment on function forget_postings() is 'Deletes the postings of a conversation whose progress row goes.';
