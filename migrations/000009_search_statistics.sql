-- Search by stored statistics: how many passages of a conversation have a term is counted when they
-- are indexed, not when somebody asks. Passages hold stems, dates and the conversation as terms, so
-- that one index answers a whole query. What was indexed before is indexed anew by the next search
-- or by upkeep, whichever comes first.

drop index if exists passages_trigrams;
drop index passages_by_conversation;
drop index passages_terms;
truncate passages;
alter table passages add column words integer not null;
-- A search looks at the terms of some thousand rows: they stay inside the row as they are, because
-- unpacking them would cost more than all else together.
alter table passages alter column terms set storage external;
alter table passages alter column text set storage external;
alter table passages set (toast_tuple_target = 8160);
create index passages_by_sequence on passages (conversation_id, sequence);
-- A search reads what waits to be merged into the index; a small waiting list keeps that short.
create index passages_terms on passages using gin (terms) with (gin_pending_list_limit = 512);

comment on column passages.terms is 'Stems of words, identifiers with their parts, pairs of characters of scripts without spaces, with places; beginning with @: conversation, agent and dates (src/store/search).';
comment on column passages.words is 'Words in it: a hit in a short passage says more.';

update search_progress set through_sequence = 0, through_compaction = 0;
alter table search_progress add column number integer generated always as identity unique;
alter table search_progress add column passages integer not null default 0;
alter table search_progress add column words bigint not null default 0;
alter table search_progress add column languages text[] not null default '{}';
comment on table search_progress is 'How far a conversation is indexed, and what its index holds in all. Apart from the conversation, so that indexing never locks the step path.';
comment on column search_progress.number is 'Short name of the conversation in the index.';
comment on column search_progress.passages is 'Passages that are indexed.';
comment on column search_progress.words is 'Words in them.';
comment on column search_progress.languages is 'Languages whose stems they hold, by the name of Postgres''s dictionary.';

create table search_statistics (
  conversation_number integer not null references search_progress (number) on delete cascade,
  term text collate "C" not null,
  passages integer not null,
  primary key (conversation_number, term)
) with (fillfactor = 80);
comment on table search_statistics is 'How many passages of a conversation have a term: rare terms count more.';
comment on column search_statistics.conversation_number is 'The conversation.';
comment on column search_statistics.term is 'As in passages.terms.';
comment on column search_statistics.passages is 'Passages that have it.';

create table search_vocabulary (
  term text collate "C" primary key
);
comment on table search_vocabulary is 'Every word that any conversation has: what a word that none has may be meant for is looked up here.';
comment on column search_vocabulary.term is 'As in passages.terms, without those that begin with @.';

do $$
begin
  if exists (select from pg_extension where extname = 'pg_trgm') then
    create index search_vocabulary_likeness on search_vocabulary using gin (term gin_trgm_ops);
  end if;
end $$;
