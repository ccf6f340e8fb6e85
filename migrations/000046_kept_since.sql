-- Retention counts from an import too, and knows the size of a conversation without reading it.

alter table conversations add column imported_at timestamptz;
comment on column conversations.imported_at is
  'When it came here from a file of another database or of an earlier time; null for one that began here. Retention counts from it when nothing happened since.';

create table conversation_sizes (
  conversation_id uuid primary key references conversations deferrable initially immediate,
  through_sequence integer not null check (through_sequence >= 0),
  entry_bytes bigint not null check (entry_bytes >= 0),
  other_bytes bigint not null check (other_bytes >= 0)
);
comment on table conversation_sizes is
  'What conversations fill, as far as retention has added it up; it goes on from there. Only where a rule names megabytes.';
comment on column conversation_sizes.conversation_id is 'The conversation.';
comment on column conversation_sizes.through_sequence is 'Newest entry that is counted.';
comment on column conversation_sizes.entry_bytes is 'Bytes of the entries up to there, over all branches: their text in UTF-8, and media.';
comment on column conversation_sizes.other_bytes is 'Bytes of originals stored in pieces, and of summaries, when the newest entry was counted.';
