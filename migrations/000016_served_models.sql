-- What servers list of their models, read by `holdfast models --refresh`.

create table served_models (
  model text not null check (model <> ''),
  server text not null check (server <> ''),
  window_tokens integer check (window_tokens > 0),
  maximum_output integer check (maximum_output > 0),
  listed_at timestamptz not null default holdfast_now(),
  primary key (model, server),
  check (window_tokens is not null or maximum_output is not null)
);
comment on table served_models is 'Limits that a server''s own list of models names. They count more than the built-in ones and less than configuration.';
comment on column served_models.model is 'provider/model.';
comment on column served_models.server is 'Base address of the server, without credentials.';
comment on column served_models.window_tokens is 'Context window; null when the list does not say.';
comment on column served_models.maximum_output is 'Longest answer; null when the list does not say.';
comment on column served_models.listed_at is 'When it was asked last.';
