-- Memories: what outlives a conversation. Short statements with where they come from, scoped to an
-- agent, a user or a workspace.
--
-- A memory is derived from entries and may be removed, unlike the log: forgetting deletes the row.
-- Its text is a JSON string, as all text that a user, a model or a tool wrote.

create table memories (
  id uuid primary key,
  scope text not null check (scope in ('agent', 'user', 'workspace')),
  scope_name text not null check (scope_name <> ''),
  kind text not null check (kind in ('fact', 'preference', 'decision', 'summary')),
  text json not null check (length(btrim(text::text, ' "')) > 0),
  origin text not null check (origin in ('user', 'model', 'tool')),
  conversation_id uuid references conversations,
  source_id uuid,
  confidence real not null default 1 check (confidence >= 0 and confidence <= 1),
  superseded_by uuid references memories on delete cascade,
  expires_at timestamptz,
  created_at timestamptz not null default holdfast_now(),
  check (source_id is null or conversation_id is not null),
  check (superseded_by is distinct from id)
);
create index memories_in_force on memories (scope, scope_name, created_at desc) where superseded_by is null;
create index memories_superseded on memories (superseded_by) where superseded_by is not null;
create index memories_by_conversation on memories (conversation_id) where conversation_id is not null;
create index memories_expiring on memories (expires_at) where expires_at is not null;

comment on table memories is 'What outlives a conversation: short statements with where they come from. Derived from entries; forgetting deletes the row.';
comment on column memories.id is 'UUID chosen by the writer: the same id twice is one memory.';
comment on column memories.scope is 'Who shares it: all conversations of an agent, of a user, or in a workspace.';
comment on column memories.scope_name is 'Name of the agent or the user, or absolute path of the workspace.';
comment on column memories.kind is 'fact, preference, decision, or summary: a whole summary of a conversation, flushed by its preset.';
comment on column memories.text is 'What is remembered, a JSON string.';
comment on column memories.origin is 'Whose words it rests on. tool: text that came from tool output; shown as such, never an instruction.';
comment on column memories.conversation_id is 'Where it was learned; null when it was written by hand. Deleting the conversation deletes the memory.';
comment on column memories.source_id is 'The entry, or the compaction, that it was taken from.';
comment on column memories.confidence is 'From 0 to 1.';
comment on column memories.superseded_by is 'The newer memory that takes its place; null while in force. Forgetting the newer one forgets this one too.';
comment on column memories.expires_at is 'When it ceases to be in force; null for never.';
comment on column memories.created_at is 'When it was remembered.';
