-- What is known of providers and their models, permits for calls, and facts of the deployment.

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
comment on column provider_calls.conversation_id is 'Whose call it is: permits go to conversations in turn.';
comment on column provider_calls.call_key is 'Names the call, so that it keeps its permit when its turn waits.';
comment on column provider_calls.tokens is 'Estimated, then as reported.';
comment on column provider_calls.requested_at is 'When it first asked.';
comment on column provider_calls.seen_at is 'When it last asked: only calls that ask get a permit.';
comment on column provider_calls.granted_at is 'When it got a permit; null while it waits.';
comment on column provider_calls.lease_until is 'Renewed by the worker; a permit of a dead worker is free after that.';
comment on column provider_calls.released_at is 'When the call ended.';
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

create table model_facts (
  model text not null check (model <> ''),
  server text not null,
  tenant text not null,
  listed_at timestamptz,
  listed_window integer check (listed_window > 0),
  listed_maximum_output integer check (listed_maximum_output > 0),
  learned_at timestamptz,
  learned_window integer check (learned_window > 0),
  learned_messages integer check (learned_messages > 0),
  learned_media_parts integer check (learned_media_parts >= 0),
  learned_media_bytes bigint check (learned_media_bytes >= 0),
  factor double precision check (factor > 0),
  frame_tokens double precision check (frame_tokens >= 0),
  samples integer check (samples > 0),
  lessons json,
  primary key (model, server, tenant),
  check ((tenant = '') = (listed_at is not null)),
  check ((tenant <> '') or (num_nonnulls(learned_at, factor) = 0)),
  check ((listed_at is null) = (num_nonnulls(listed_window, listed_maximum_output) = 0)),
  check ((learned_at is null)
    = (num_nonnulls(learned_window, learned_messages, learned_media_parts, learned_media_bytes) = 0)),
  check ((factor is null) = (samples is null))
);
comment on table model_facts
  is 'Limits of a model at a server, as listed and as learned, and what calibrates its estimate.';
comment on column model_facts.model is 'provider/model.';
comment on column model_facts.server is 'Base address of the server, without credentials; empty: unknown.';
comment on column model_facts.tenant is 'Whose turns learned it; empty: what the server lists for everybody.';
comment on column model_facts.listed_at is 'When the server''s own list of models was read; null: never.';
comment on column model_facts.listed_window is 'Context window in the list, in tokens; configuration wins over it.';
comment on column model_facts.listed_maximum_output is 'Longest answer in the list, in tokens.';
comment on column model_facts.learned_at is 'When the server last refused a request over a limit; null: never.';
comment on column model_facts.learned_window is 'Context window that the refusal named, in tokens.';
comment on column model_facts.learned_messages is 'Most messages of a request.';
comment on column model_facts.learned_media_parts is 'Most images and files of a request.';
comment on column model_facts.learned_media_bytes is 'Most base64 bytes of media of a request.';
comment on column model_facts.factor is 'Multiplies the estimate; learned from reported usage; null: nothing was.';
comment on column model_facts.frame_tokens is 'Tokens of one frame; null while only the factor was learned.';
comment on column model_facts.samples is 'Reports of usage that the factor was learned from.';
comment on column model_facts.lessons is 'Weighted sums that factor and frame tokens come from.';

create table deployment (
  is_only boolean primary key default true check (is_only),
  namespace_name text,
  namespace_id text,
  check ((namespace_name is null) = (namespace_id is null))
);
insert into deployment default values;
comment on table deployment is 'One row: facts of the whole deployment.';
comment on column deployment.is_only is 'There is one row.';
comment on column deployment.namespace_name is 'Temporal namespace that runs the turns; null before the first worker.';
comment on column deployment.namespace_id
  is 'Its id as DescribeNamespace tells it: a new server has another one under the same name, and is refused.';

create table retention_looks (
  task_queue text primary key,
  looked_at timestamptz not null default holdfast_now()
);
comment on table retention_looks
  is 'When retention was applied, by queue: the workers of each have rules of their own.';
comment on column retention_looks.task_queue is 'As in conversations.';
comment on column retention_looks.looked_at is 'When a worker of the queue last began to apply its rules.';
