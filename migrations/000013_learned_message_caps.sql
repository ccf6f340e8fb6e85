-- Some servers cap the number of messages of a request, however small they are.

alter table learned_windows alter column tokens drop not null;
alter table learned_windows add column messages integer check (messages > 0);
alter table learned_windows add constraint learned_windows_something check (tokens is not null or messages is not null);
comment on table learned_windows is 'What a server told when it refused a request: a window, a cap on messages. Kept for as long as configuration says.';
comment on column learned_windows.tokens is 'The window; null when none was named.';
comment on column learned_windows.messages is 'Most messages of a request, tool calls and results counted too; null when no cap was named.';
