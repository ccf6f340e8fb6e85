-- What outlives a view or a conversation, and the index by which it is found.

create table memories (
  id uuid, -- Chosen by the writer: the same id twice in a tenant is one memory.
  tenant text not null check (tenant <> ''), -- Whose conversations share it.
  -- Who shares it: all conversations of an agent, of a user, or in a workspace.
  scope text not null check (scope in ('agent', 'user', 'workspace')),
  -- Name of the agent or the user, or absolute path of the workspace.
  scope_name text not null check (scope_name <> ''),
  -- fact, preference, decision, or summary of a whole conversation.
  kind text not null check (kind in ('fact', 'preference', 'decision', 'summary')),
  text json not null check (length(btrim((text)::text, ' "')) > 0), -- What is remembered, a JSON string.
  -- Whose words it rests on; what tools said is never an instruction.
  origin text not null check (origin in ('user', 'model')),
  -- Where it was learned, and with which it is deleted; null: by hand.
  conversation_id uuid references conversations deferrable,
  source_id uuid, -- The entry or compaction that says it; null when unknown.
  confidence real not null default 1 check ((confidence >= 0) and (confidence <= 1)), -- From 0 to 1.
  superseded_by uuid, -- The newer memory in its place, with which it is forgotten.
  expires_at timestamptz, -- When it ceases to be in force; null for never.
  created_at timestamptz not null default holdfast_now(), -- When it was remembered.
  terms text[] not null, -- What it is found by (src/store/memory/memory-terms.ts).
  primary key (id, tenant),
  foreign key (superseded_by, tenant) references memories on delete cascade deferrable,
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
comment on table memories is 'Statements that outlive a conversation; forgetting one deletes its row.';

create table passages (
  id bigint generated always as identity primary key, -- In order of indexing.
  conversation_id uuid not null references conversations deferrable, -- The conversation.
  source_id uuid not null, -- The entry, or the compaction for a summary.
  -- Kind of the entry, or summary.
  kind text not null check (kind in ('user', 'assistant', 'tool_result', 'note', 'branch_summary', 'summary')),
  sequence integer, -- Sequence of the entry; null for a summary.
  tool_name text, -- Tool results: the tool.
  path text, -- Tool results: the path of the call; null: none.
  character_offset integer not null, -- Where it begins, in UTF-16 code units of the whole text.
  text text not null, -- The passage, with replacements for NUL and lone surrogates.
  terms tsvector not null, -- Stems, identifiers, dates and marks of its scope (src/store/search/scope.ts).
  words integer not null, -- Words in it: a hit in a short passage says more.
  place integer, -- Its number in the talk of user and agent; null: a tool, a note or a summary.
  is_question boolean not null, -- It ends with a question mark.
  created_at timestamptz not null, -- When the entry was appended or the summary committed.
  said_at timestamptz not null, -- The day that the heading of a message names, else created_at.
  unique (source_id, character_offset)
) with (toast_tuple_target = 8160);
-- A search compares the terms of thousands of passages: they are read fastest in place and not compressed.
alter table passages alter terms set storage external, alter text set storage external;
create index passages_by_conversation on passages (conversation_id, place);
create index passages_by_terms on passages using gin (terms) with (gin_pending_list_limit = 1024);
comment on table passages is 'The search index: what entries and summaries say; derived from the log.';

create table term_frequencies (
  tenant text not null, -- As in conversations.
  agent text not null, -- As in conversations.
  term text not null, -- As in passages.terms.
  passages integer not null, -- Passages that have it.
  primary key (tenant, agent, term)
) with (fillfactor = 80);
create index term_frequencies_by_letters on term_frequencies using gin (term gin_trgm_ops) with (fastupdate = off)
  where term !~ '^@';
comment on table term_frequencies is 'How many passages of a tenant''s agent have a term: rare terms count more.';

create table search_progress (
  conversation_id uuid primary key references conversations deferrable, -- The conversation.
  through_sequence integer not null default 0, -- Entries up to this sequence are indexed.
  through_compaction integer not null default 0, -- Compactions up to this number are indexed.
  passages integer not null default 0, -- Passages that are indexed.
  -- The next passages.place.
  talk_passages integer not null default 0
);
comment on table search_progress is 'How far a conversation is indexed; apart, so that indexing never locks a step.';

create function forget_passages(conversation uuid) returns void language plpgsql as $$
begin
  -- First, as indexing and embedding do.
  perform from search_progress where conversation_id = conversation for update;
  -- In order of terms, as indexing locks them.
  perform from term_frequencies f
  where (f.tenant, f.agent) = (select c.tenant, c.agent from conversations c where c.id = conversation) and f.term in (
    select unnest(tsvector_to_array(p.terms)) from passages p where p.conversation_id = conversation)
  order by f.term for update;
  update term_frequencies f set passages = f.passages - g.passages
  from (
    select c.tenant, c.agent, t.term, count(*) as passages
    from passages p join conversations c on c.id = p.conversation_id
      cross join unnest(tsvector_to_array(p.terms)) as t (term)
    where p.conversation_id = conversation group by 1, 2, 3) g
  where f.tenant = g.tenant and f.agent = g.agent and f.term = g.term;
  delete from term_frequencies f
  where (f.tenant, f.agent) = (select c.tenant, c.agent from conversations c where c.id = conversation)
    and f.passages <= 0;
  delete from passages where conversation_id = conversation;
  delete from search_progress where conversation_id = conversation;
end $$;
comment on function forget_passages is 'Deletes the index of a conversation, and what its terms count.';
