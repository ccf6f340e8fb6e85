-- What errors of providers teach: windows that are smaller than known, and the vendor's own words.

create table learned_windows (
  model text not null check (model <> ''),
  server text not null check (server <> ''),
  tokens integer not null check (tokens > 0),
  evidence text not null,
  learned_at timestamptz not null default holdfast_now(),
  primary key (model, server)
);
comment on table learned_windows is 'Windows that a server named when it refused a request as too large. Kept for as long as configuration says.';
comment on column learned_windows.model is 'provider/model.';
comment on column learned_windows.server is 'Base address of the server, without credentials: the same model may be served with another window elsewhere.';
comment on column learned_windows.tokens is 'The window.';
comment on column learned_windows.evidence is 'Rule and numbers of the classifier; never the vendor''s words.';
comment on column learned_windows.learned_at is 'When it was named last.';

alter table model_calls add column failure_message json;
comment on column model_calls.failure_message is 'The vendor''s own words for a call that it refused for good, a JSON string; shown to the user, never logged.';
