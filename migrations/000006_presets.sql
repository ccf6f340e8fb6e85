-- What presets need: compactions that maintain instead of rescue, and what hooks add to a compaction.

alter table compactions drop constraint compactions_reason_check;
alter table compactions add constraint compactions_reason_check
  check (reason in ('threshold', 'overflow', 'manual', 'maintenance'));
alter table compactions add column details json;
alter table compactions add column context_lines json;

comment on column compactions.reason is 'threshold: the count was over the trigger. overflow: the provider refused the request. manual: the user asked. maintenance: after a turn, however full the window is.';
comment on column compactions.details is 'What a hook stored with it, carried on to the next one.';
comment on column compactions.context_lines is 'Lines that hooks add to the summary request: prepend and append.';
