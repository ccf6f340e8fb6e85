-- A service with many users needs no agent for each: whose memories a conversation is shown and writes is set with it.

alter table conversations add column user_name text check (user_name <> '');
comment on column conversations.user_name is 'Whose memories of scope user it is shown and writes; null for the agent''s own user. Set with the first message.';
