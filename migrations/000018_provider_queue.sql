-- What workers share about a provider: pauses that it asked for, and who may call next.

create table provider_pauses (
  provider_key text primary key,
  label text not null,
  paused_until timestamptz not null
);
comment on table provider_pauses is 'Until when a provider wants no calls with a key. All workers keep to it.';
comment on column provider_pauses.provider_key is 'Hash of the server''s address and the key; never the key.';
comment on column provider_pauses.label is 'Name of the provider in the configuration.';
comment on column provider_pauses.paused_until is 'When calls may be made again.';

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
  check ((granted_at is null) = (lease_until is null)),
  check (released_at is null or granted_at is not null)
);
create index provider_calls_by_key on provider_calls (provider_key, requested_at);
comment on table provider_calls is 'Calls that wait for a place at a provider whose calls are limited, that have one, or had one in the last minute. Not a record: rows are deleted when they are of no use.';
comment on column provider_calls.id is 'UUIDv7, made by the first that asked.';
comment on column provider_calls.provider_key is 'As in provider_pauses.';
comment on column provider_calls.conversation_id is 'Whose call it is: places go to conversations in turn.';
comment on column provider_calls.call_key is 'Names the call, so that it keeps its place when its turn waits and comes back.';
comment on column provider_calls.tokens is 'Estimated, then as reported.';
comment on column provider_calls.requested_at is 'When it first asked.';
comment on column provider_calls.seen_at is 'When it last asked: only who is there gets a place.';
comment on column provider_calls.granted_at is 'When it got a place; null while it waits.';
comment on column provider_calls.lease_until is 'Renewed by the worker; a place of a dead worker is free after that.';
comment on column provider_calls.released_at is 'When the call ended.';
