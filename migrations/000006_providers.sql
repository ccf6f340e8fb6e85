-- What is known of providers and their models, permits for calls, what upkeep remembers, and whose workflows run turns.

create table provider_calls (
  id uuid primary key,
  provider_key text not null,
  conversation_id uuid not null,
  call_key text not null unique,
  tokens bigint not null check (tokens >= 0),
  requested_at timestamptz not null default holdfast_now(),
  seen_at timestamptz not null default holdfast_now(),
  granted_at timestamptz,
  lease_until timestamptz,
  released_at timestamptz,
  holder uuid,
  asked_by activity_attempt,
  check ((granted_at is null) = (lease_until is null)),
  check ((released_at is null) or (granted_at is not null))
);
create index provider_calls_by_conversation on provider_calls (conversation_id);
create index provider_calls_by_key on provider_calls (provider_key, requested_at);
comment on table provider_calls
  is 'Calls that wait for a permit of a limited provider, hold one, or did within a minute.';
comment on column provider_calls.id is 'UUIDv7, made by the first that asked.';
comment on column provider_calls.provider_key is 'As in provider_pauses.';
comment on column provider_calls.conversation_id is 'Whose call it is: places go to conversations in turn.';
comment on column provider_calls.call_key is 'Names the call, so that it keeps its permit when its turn waits.';
comment on column provider_calls.tokens is 'Estimated, then as reported.';
comment on column provider_calls.requested_at is 'When it first asked.';
comment on column provider_calls.seen_at is 'When it last asked: only who is there gets a place.';
comment on column provider_calls.granted_at is 'When it got a place; null while it waits.';
comment on column provider_calls.lease_until is 'Renewed by the worker; a place of a dead worker is free after that.';
comment on column provider_calls.released_at is 'When the call ended.';
comment on column provider_calls.holder
  is 'Attempt that asked last: only it renews the permit; null: it waits elsewhere.';
comment on column provider_calls.asked_by is 'Activity attempt that asked last; an older one was replaced.';

create table provider_pauses (
  provider_key text primary key,
  label text not null,
  paused_until timestamptz not null,
  paused_at timestamptz not null default holdfast_now()
);
comment on table provider_pauses is 'Until when a provider wants no calls with a key. All workers keep to it.';
comment on column provider_pauses.provider_key is 'Hash of the server''s address and the key; never the key.';
comment on column provider_pauses.label is 'Name of the provider in the configuration.';
comment on column provider_pauses.paused_until is 'When calls may be made again.';
comment on column provider_pauses.paused_at is 'When the provider last asked for it; void if in the future.';

create table model_calibrations (
  model text not null,
  server text not null,
  factor double precision not null check (factor > 0),
  samples integer not null check (samples > 0),
  updated_at timestamptz not null default holdfast_now(),
  frame_tokens double precision check (frame_tokens >= 0),
  lessons json,
  primary key (model, server)
);
comment on table model_calibrations is 'Corrects estimated tokens by model and server, learned from reported usage.';
comment on column model_calibrations.model is 'provider/model.';
comment on column model_calibrations.server is 'Base address of the server, without credentials; empty: unknown.';
comment on column model_calibrations.factor is 'Multiplies the estimate.';
comment on column model_calibrations.samples is 'Reports that it was learned from.';
comment on column model_calibrations.updated_at is 'When it was learned last.';
comment on column model_calibrations.frame_tokens is 'Tokens of one frame; null while only the factor was learned.';
comment on column model_calibrations.lessons is 'Weighted sums that the factor and frame tokens come from.';

create table learned_windows (
  model text not null check (model <> ''),
  server text not null check (server <> ''),
  tokens integer check (tokens > 0),
  evidence text not null,
  learned_at timestamptz not null default holdfast_now(),
  messages integer check (messages > 0),
  media_parts integer check (media_parts >= 0),
  media_bytes bigint check (media_bytes >= 0),
  primary key (model, server),
  check (coalesce((tokens)::bigint, (messages)::bigint, (media_parts)::bigint, media_bytes) is not null)
);
comment on table learned_windows is 'Limits that a server named when it refused a request.';
comment on column learned_windows.model is 'provider/model.';
comment on column learned_windows.server is 'Base address of the server, without credentials.';
comment on column learned_windows.tokens is 'The window; null when none was named.';
comment on column learned_windows.evidence is 'Rule and numbers of the classifier; never the vendor''s words.';
comment on column learned_windows.learned_at is 'When it was named last.';
comment on column learned_windows.messages is 'Most messages of a request; null: no cap was named.';
comment on column learned_windows.media_parts is 'Most images and files of a request; null: no cap was met.';
comment on column learned_windows.media_bytes is 'Most base64 bytes of media of a request; null: no cap was met.';

create table served_models (
  model text not null check (model <> ''),
  server text not null check (server <> ''),
  window_tokens integer check (window_tokens > 0),
  maximum_output integer check (maximum_output > 0),
  listed_at timestamptz not null default holdfast_now(),
  primary key (model, server),
  check ((window_tokens is not null) or (maximum_output is not null))
);
comment on table served_models is 'Limits in a server''s own list of models; configuration wins over them.';
comment on column served_models.model is 'provider/model.';
comment on column served_models.server is 'Base address of the server, without credentials.';
comment on column served_models.window_tokens is 'Context window; null when the list does not say.';
comment on column served_models.maximum_output is 'Longest answer; null when the list does not say.';
comment on column served_models.listed_at is 'When it was asked last.';

create table upkeep_marks (
  task text primary key,
  done_at timestamptz not null
);
comment on table upkeep_marks is 'When upkeep last did what is not due at every look.';
comment on column upkeep_marks.task is 'Name of the task.';
comment on column upkeep_marks.done_at is 'When a worker took it up last.';

create table temporal_namespace (
  is_only boolean primary key default true check (is_only),
  name text not null,
  id text not null
);
comment on table temporal_namespace is 'The namespace that runs the turns; workers of another, which knows none of them, are refused.';
comment on column temporal_namespace.is_only is 'There is one row.';
comment on column temporal_namespace.name is 'As Temporal names it.';
comment on column temporal_namespace.id is 'As DescribeNamespace tells it: a new server has another one under the same name.';
