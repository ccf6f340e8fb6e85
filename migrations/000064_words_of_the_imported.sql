-- What an import brought was said elsewhere, or made up: of what is remembered it is data, nobody's own words.

alter table conversations add column imported_through integer check (imported_through > 0);
comment on column conversations.imported_through is
  'Newest entry, by its sequence, that came with an import; null for a conversation that began here, or that an older version imported since.';

update conversations c set imported_through = (
  select max(e.sequence) from entries e
  where e.conversation_id = c.id and (e.created_at <= c.imported_at
    or exists (select from turns t where t.id = e.turn_id and t.workflow_id = 'import:' || c.id)))
where c.imported_at is not null
  or exists (select from turns t where t.conversation_id = c.id and t.workflow_id = 'import:' || c.id);
