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
  terms text[] not null,
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
comment on column memories.terms is 'What it is found by (src/store/memory/memory-terms.ts).';

create table passages (
  id bigint generated always as identity primary key,
  conversation_id uuid not null references conversations deferrable,
  source_id uuid not null,
  kind text not null check (kind in ('user', 'assistant', 'tool_result', 'note', 'branch_summary', 'summary')),
  sequence integer,
  tool_name text,
  path text,
  character_offset integer not null,
  text text not null,
  terms tsvector not null,
  words integer not null,
  place integer,
  is_question boolean not null,
  created_at timestamptz not null,
  said_at timestamptz not null,
  unique (source_id, character_offset)
) with (toast_tuple_target = 8160);
-- A search compares the terms of thousands of passages: they are read fastest in place and not compressed.
alter table passages alter terms set storage external, alter text set storage external;
create index passages_by_conversation on passages (conversation_id, place);
create index passages_by_terms on passages using gin (terms) with (gin_pending_list_limit = 1024);
comment on table passages is 'The search index: what entries and summaries say; derived from the log.';
comment on column passages.id is 'In order of indexing.';
comment on column passages.conversation_id is 'The conversation.';
comment on column passages.source_id is 'The entry, or the compaction for a summary.';
comment on column passages.kind is 'Kind of the entry, or summary.';
comment on column passages.sequence is 'Sequence of the entry; null for a summary.';
comment on column passages.tool_name is 'Tool results: the tool.';
comment on column passages.path is 'Tool results: the path of the call; null: none.';
comment on column passages.character_offset is 'Where it begins, in UTF-16 code units of the whole text.';
comment on column passages.text is 'The passage, with replacements for NUL and lone surrogates.';
comment on column passages.terms
  is 'Stems, identifiers, dates and marks of its scope (src/store/search/passage-terms.ts).';
comment on column passages.words is 'Words in it: a hit in a short passage says more.';
comment on column passages.place is 'Its number in the talk of user and agent; null: a tool, a note or a summary.';
comment on column passages.is_question is 'It ends with a question mark.';
comment on column passages.created_at is 'When the entry was appended or the summary committed.';
comment on column passages.said_at is 'The day that the heading of a message names, else created_at.';

create table term_frequencies (
  tenant text not null,
  agent text not null,
  term text not null,
  passages integer not null,
  primary key (tenant, agent, term)
) with (fillfactor = 80);
create index term_frequencies_by_letters on term_frequencies using gin (term gin_trgm_ops) with (fastupdate = off)
  where term !~ '^@';
comment on table term_frequencies is 'How many passages of a tenant''s agent have a term: rare terms count more.';
comment on column term_frequencies.tenant is 'As in conversations.';
comment on column term_frequencies.agent is 'As in conversations.';
comment on column term_frequencies.term is 'As in passages.terms.';
comment on column term_frequencies.passages is 'Passages that have it.';

create table search_progress (
  conversation_id uuid primary key references conversations deferrable,
  through_sequence integer not null default 0,
  through_compaction integer not null default 0,
  passages integer not null default 0,
  talk_passages integer not null default 0
);
comment on table search_progress is 'How far a conversation is indexed; apart, so that indexing never locks a step.';
comment on column search_progress.conversation_id is 'The conversation.';
comment on column search_progress.through_sequence is 'Entries up to this sequence are indexed.';
comment on column search_progress.through_compaction is 'Compactions up to this number are indexed.';
comment on column search_progress.passages is 'Passages that are indexed.';
comment on column search_progress.talk_passages is 'The next passages.place.';

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
