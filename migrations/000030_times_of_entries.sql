-- Entries of an imported session have the times of its recording.

comment on column entries.created_at is
  'When it was appended; of an imported session, when it was recorded, never before the entry before it.';
comment on column messages.created_at is 'When it arrived; of an imported session, when it was recorded.';
comment on column conversation_text.created_at is
  'When it was appended; of an imported session, when it was recorded.';
comment on column conversations.created_at is
  'When the first message arrived; of an imported session, the time of its first entry.';
