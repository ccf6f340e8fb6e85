-- What a server refused of images and files counts for later calls too.

alter table learned_windows add column media_parts integer check (media_parts >= 0);
alter table learned_windows add column media_bytes bigint check (media_bytes >= 0);
alter table learned_windows drop constraint learned_windows_something;
alter table learned_windows add constraint learned_windows_something
  check (coalesce(tokens, messages, media_parts, media_bytes) is not null);
comment on table learned_windows is 'What a server told when it refused a request: a window, a cap on messages, on images and files. Kept for as long as configuration says.';
comment on column learned_windows.media_parts is 'Most images and files of a request; 0: it takes none; null when no cap was met.';
comment on column learned_windows.media_bytes is 'Most bytes of images and files of a request, in base64; null when no cap was met.';
