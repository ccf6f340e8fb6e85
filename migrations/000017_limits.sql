-- Limits of turns and conversations, and going on after one was reached.

alter table messages drop constraint messages_kind_check;
alter table messages add constraint messages_kind_check check (kind in ('message', 'stop', 'compact', 'resume'));
alter table messages add column raise json check (raise is null or kind = 'resume');
create index messages_raises on messages (conversation_id) where raise is not null;
comment on column messages.kind is 'message: text for the agent. stop, compact, resume: commands to Holdfast.';
comment on column messages.raise is 'resume only: how much the limits are raised, by their names in src/turn/spending.ts.';

alter table turns add column limits json;
comment on column turns.limits is 'What the turn may use (src/turn/spending.ts), raises included; null when only its steps are limited.';
