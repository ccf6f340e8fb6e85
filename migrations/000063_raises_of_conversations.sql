-- A raise counts for the conversation only where a limit of the conversation keeps it from going on.

alter table messages add column conversation_raise json check (conversation_raise is null or raise is not null);
comment on column messages.conversation_raise is 'What of the raise counts for the limits of the conversation, written by the turn that took it; null when an older version took it: all of it counts.';
