-- How a summary was asked for: behind the request of the last model call, or with a transcript of its own.

alter table compaction_parts add column request text check (request in ('shared_prefix', 'transcript'));
comment on column compaction_parts.request is 'How the text was asked for: behind the last request, whose prefix the provider has cached, or with a transcript of its own; null when no model wrote it.';
