-- What was sent and what tools wrote stays as it came, like the log that refers to it.

create trigger refuse_change before update or delete on content_pieces for each row execute function refuse_change();
create trigger refuse_truncate before truncate on content_pieces for each statement execute function refuse_change();

-- Its sizes are known when all pieces are written, and then it is whole.
create trigger refuse_change before update on contents
  for each row when (old.bytes is not null) execute function refuse_change();
create trigger refuse_delete before delete on contents for each row execute function refuse_change();
create trigger refuse_truncate before truncate on contents for each statement execute function refuse_change();
comment on column contents.created_at is
  'When writing began. Without an entry that refers to it long after, its writer died; it goes with the conversation.';

create trigger refuse_change before update of id, conversation_id, kind, mode, content, focus, raise on messages
  for each row execute function refuse_change();
create trigger refuse_second_taking before update of turn_id, consumed_at on messages
  for each row when (old.consumed_at is not null) execute function refuse_change();
create trigger refuse_delete before delete on messages for each row execute function refuse_change();
create trigger refuse_truncate before truncate on messages for each statement execute function refuse_change();
