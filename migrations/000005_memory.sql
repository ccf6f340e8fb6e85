-- What outlives a view or a conversation, and the index by which it is found.

create table memories (
  id uuid primary key,
  tenant text not null default 'default',
  scope text not null check (scope in ('agent', 'user', 'workspace')),
  scope_name text not null check (scope_name <> ''),
  kind text not null check (kind in ('fact', 'preference', 'decision', 'summary')),
  text json not null check (length(btrim((text)::text, ' "')) > 0),
  origin text not null check (origin in ('user', 'model', 'tool')),
  conversation_id uuid references conversations deferrable,
  source_id uuid,
  confidence real not null default 1 check ((confidence >= 0) and (confidence <= 1)),
  superseded_by uuid,
  expires_at timestamptz,
  created_at timestamptz not null default holdfast_now(),
  terms text[],
  foreign key (superseded_by) references memories (id) on delete cascade deferrable,
  check ((source_id is null) or (conversation_id is not null)),
  check (superseded_by is distinct from id)
);
create index memories_by_conversation on memories (conversation_id) where conversation_id is not null;
create index memories_by_terms on memories using gin (terms) with (fastupdate=off) where superseded_by is null;
create index memories_expiring on memories (expires_at) where expires_at is not null;
create index memories_flushed on memories (tenant, scope, scope_name, created_at desc)
  where ((superseded_by is null) and (kind = 'summary'));
create index memories_in_force on memories (tenant, scope, scope_name, created_at desc) where superseded_by is null;
create index memories_preferred on memories (tenant, scope, scope_name, created_at desc)
  where ((superseded_by is null) and (kind = 'preference'));
create index memories_superseded on memories (superseded_by) where superseded_by is not null;
create index memories_without_terms on memories (tenant, scope, scope_name)
  where ((terms is null) and (superseded_by is null));
comment on table memories is 'Statements that outlive a conversation; forgetting one deletes its row.';
comment on column memories.id is 'UUID chosen by the writer: the same id twice is one memory.';
comment on column memories.tenant is 'Whose conversations share it.';
comment on column memories.scope is 'Who shares it: all conversations of an agent, of a user, or in a workspace.';
comment on column memories.scope_name is 'Name of the agent or the user, or absolute path of the workspace.';
comment on column memories.kind is 'fact, preference, decision, or summary of a whole conversation.';
comment on column memories.text is 'What is remembered, a JSON string.';
comment on column memories.origin is 'Whose words it rests on; what tools said is never an instruction.';
comment on column memories.conversation_id is 'Where it was learned, and with which it is deleted; null: by hand.';
comment on column memories.source_id is 'The entry or compaction that says it; null when unknown.';
comment on column memories.confidence is 'From 0 to 1.';
comment on column memories.superseded_by is 'The newer memory in its place, with which it is forgotten.';
comment on column memories.expires_at is 'When it ceases to be in force; null for never.';
comment on column memories.created_at is 'When it was remembered.';
comment on column memories.terms is 'What it is found by (src/store/memory-terms.ts); null until it is indexed.';

create table passages (
  id bigint primary key,
  conversation_id uuid not null references conversations deferrable,
  source_id uuid not null,
  kind text not null check (kind in ('user', 'assistant', 'tool_result', 'note', 'branch_summary', 'summary')),
  sequence integer,
  tool_name text,
  character_offset integer not null,
  text text not null,
  terms tsvector not null,
  created_at timestamptz not null,
  words integer not null,
  said_at timestamptz,
  path text,
  unique (source_id, character_offset)
);
create index passages_by_time on passages (conversation_id, coalesce(said_at, created_at), id);
comment on table passages is 'The search index: what entries and summaries say; derived from the log.';
comment on column passages.id is '4,096 times its block, and its place in the block.';
comment on column passages.conversation_id is 'The conversation.';
comment on column passages.source_id is 'The entry, or the compaction for a summary.';
comment on column passages.kind is 'Kind of the entry, or summary.';
comment on column passages.sequence is 'Sequence of the entry; null for a summary.';
comment on column passages.tool_name is 'Tool results: the tool.';
comment on column passages.character_offset is 'Where it begins, in UTF-16 code units of the whole text.';
comment on column passages.text is 'The passage, with replacements for NUL and lone surrogates.';
comment on column passages.terms is 'Stems, identifiers and dates with their places (src/store/search).';
comment on column passages.created_at is 'When the entry was appended or the summary committed.';
comment on column passages.words is 'Words in it: a hit in a short passage says more.';
comment on column passages.said_at is 'Day that the heading of the entry names; null: created_at counts.';
comment on column passages.path is 'Tool results: the path of the call; empty: none.';

create table search_agents (
  number integer generated always as identity primary key,
  agent text not null unique,
  languages text[] not null default '{}',
  passages bigint not null default 0
);
comment on table search_agents is 'Agents by a number that takes little room in the index.';
comment on column search_agents.number is 'Short name of the agent in the index.';
comment on column search_agents.agent is 'As in conversations.';
comment on column search_agents.languages is 'Languages of its passages.';
comment on column search_agents.passages is 'Passages of all its conversations.';

create table search_progress (
  conversation_id uuid primary key references conversations deferrable,
  through_sequence integer not null default 0,
  through_compaction integer not null default 0,
  number integer not null generated always as identity unique,
  passages integer not null default 0,
  words bigint not null default 0,
  languages text[] not null default '{}',
  agent_number integer references search_agents
);
create index search_progress_by_size on search_progress (agent_number, passages desc, number);
comment on table search_progress is 'How far a conversation is indexed; apart, so that indexing never locks a step.';
comment on column search_progress.conversation_id is 'The conversation.';
comment on column search_progress.through_sequence is 'Entries up to this sequence are indexed.';
comment on column search_progress.through_compaction is 'Compactions up to this number are indexed.';
comment on column search_progress.number is 'Short name of the conversation in the index.';
comment on column search_progress.passages is 'Passages that are indexed.';
comment on column search_progress.words is 'Words in them.';
comment on column search_progress.languages is 'Languages of its stems, as Postgres names dictionaries.';
comment on column search_progress.agent_number is 'Its agent; null before it has passages.';

create table search_blocks (
  number integer generated always as identity primary key,
  conversation_number integer not null references search_progress (number) on delete cascade deferrable,
  agent_number integer not null references search_agents deferrable,
  is_spoken boolean not null,
  passages integer not null default 0 check ((passages >= 0) and (passages <= 4096)),
  earliest timestamptz,
  latest timestamptz
);
create index search_blocks_by_agent on search_blocks (agent_number, number);
create index search_blocks_by_conversation on search_blocks (conversation_number, number);
create index search_blocks_by_time on search_blocks (agent_number, latest);
comment on table search_blocks is 'Up to 4,096 passages of one conversation, in the order of its log.';
comment on column search_blocks.number is 'Begins the ids of its passages.';
comment on column search_blocks.conversation_number is 'The conversation.';
comment on column search_blocks.agent_number is 'Its agent.';
comment on column search_blocks.is_spoken is 'Holds the talk of user and agent, apart from tools and notes.';
comment on column search_blocks.passages is 'Passages in it; the next one gets this place.';
comment on column search_blocks.earliest is 'When the first of its passages was said, or before; null: none.';
comment on column search_blocks.latest is 'The same of the last, or after.';

create table search_postings (
  agent_number integer not null,
  term text not null,
  block integer not null,
  postings bytea not null,
  primary key (agent_number, term, block)
);
comment on table search_postings is 'Which passages of a block have a term.';
comment on column search_postings.agent_number is 'The agent: a search of all its conversations reads one key.';
comment on column search_postings.term is 'As in passages.terms.';
comment on column search_postings.block is 'The block.';
comment on column search_postings.postings is 'Three bytes a passage: place, kind, count, length.';

create table search_statistics (
  conversation_number integer not null references search_progress (number) on delete cascade deferrable,
  term text not null,
  passages integer not null,
  primary key (conversation_number, term)
);
comment on table search_statistics is 'How many passages of a conversation have a term: rare terms count more.';
comment on column search_statistics.conversation_number is 'The conversation.';
comment on column search_statistics.term is 'As in passages.terms.';
comment on column search_statistics.passages is 'Passages that have it.';

create table search_vocabulary (
  term text primary key
);
do $$
begin
  -- Without the extension words are compared one by one.
  if exists (select from pg_extension where extname = 'pg_trgm') then
    create index search_vocabulary_likeness on search_vocabulary using gin (term gin_trgm_ops) with (fastupdate = off);
  end if;
end $$;
comment on table search_vocabulary is 'Every word of any conversation, for finding what a misspelt word means.';
comment on column search_vocabulary.term is 'As in passages.terms, without those that begin with @.';

create function add_languages_of_agent() returns trigger language plpgsql as $$
begin
  update search_agents a set languages = array(select distinct unnest(a.languages || new.languages) order by 1)
  from conversations c
  where c.id = new.conversation_id and a.agent = c.agent and not a.languages @> new.languages;
  return null;
end $$;
comment on function add_languages_of_agent is 'Trigger: keeps the languages of all passages of an agent.';

create constraint trigger add_languages_of_agent after update of languages on search_progress
  deferrable initially deferred for each row
  when (new.languages is distinct from old.languages)
  execute function add_languages_of_agent();

create function count_passages_of_agent() returns trigger language plpgsql as $$
begin
  update search_agents set passages = passages + coalesce(new.passages, 0) - coalesce(old.passages, 0)
  where number = coalesce(new.agent_number, old.agent_number);
  return null;
end $$;
comment on function count_passages_of_agent is 'Trigger: keeps how many passages an agent has.';

create constraint trigger count_passages_of_agent after insert or delete or update of passages on search_progress
  deferrable initially deferred for each row
  execute function count_passages_of_agent();

create function number_agent_of_progress() returns trigger language plpgsql as $$
begin
  new.agent_number := (
    select a.number from conversations c join search_agents a on a.agent = c.agent where c.id = new.conversation_id);
  return new;
end $$;
comment on function number_agent_of_progress is 'Trigger: whose conversation is indexed.';

create trigger number_agent_of_progress before insert or update of passages on search_progress for each row
  when (new.agent_number is null)
  execute function number_agent_of_progress();

create function forget_postings() returns trigger language plpgsql as $$
begin
  delete from search_postings p using search_blocks b, search_statistics s
  where b.conversation_number = old.number and s.conversation_number = old.number
    and p.agent_number = b.agent_number and p.term = s.term and p.block = b.number;
  return old;
end $$;
comment on function forget_postings is 'Trigger: deletes the postings of a conversation whose progress row goes.';

create trigger forget_postings before delete on search_progress for each row execute function forget_postings();

create function widen_times_of_blocks() returns trigger language plpgsql as $$
begin
  update search_blocks b set earliest = least(b.earliest, p.earliest), latest = greatest(b.latest, p.latest)
  from (
    select (id / 4096)::int as number, min(coalesce(said_at, created_at)) as earliest,
      max(coalesce(said_at, created_at)) as latest
    from added group by 1) p
  where b.number = p.number;
  return null;
end $$;
comment on function widen_times_of_blocks is 'Trigger: keeps from when to when the passages of a block were said.';

create trigger widen_times_of_blocks after insert on passages referencing new table as added for each statement
  execute function widen_times_of_blocks();

create function forget_words(terms text[]) returns void language plpgsql as $$
begin
  -- Indexing holds it shared until it commits, so each of its words has postings when the next statement looks.
  perform pg_advisory_xact_lock(hashtextextended('search_vocabulary', 0));
  -- By the key of the postings, agent by agent: the statistics have no index that begins with the word.
  delete from search_vocabulary v
  where v.term = any(terms) and (
    select p.block from search_agents a cross join lateral (
      select p.block from search_postings p where p.agent_number = a.number and p.term = v.term limit 1) p
    limit 1) is null;
end $$;
comment on function forget_words is 'Takes words out of the vocabulary that no conversation has any more.';
