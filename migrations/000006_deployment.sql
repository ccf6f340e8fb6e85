-- What outlives conversations: permits of providers, facts of models, keys and webhooks of the HTTP API, the deployment.

create table provider_calls (
  id uuid primary key, -- UUIDv7, made by the first that asked.
  provider_key text not null, -- As in provider_pauses.
  conversation_id uuid not null, -- Whose call it is: permits go to conversations in turn.
  call_key text not null unique, -- Names the call, so that it keeps its permit when its turn waits.
  tokens bigint not null check (tokens >= 0), -- Estimated, then as reported.
  requested_at timestamptz not null default holdfast_now(), -- When it first asked.
  seen_at timestamptz not null default holdfast_now(), -- When it last asked: only calls that ask get a permit.
  granted_at timestamptz, -- When it got a permit; null while it waits.
  grant_number bigint, -- Of the provider's permits, in order: no two calls get one by the same count.
  lease_until timestamptz, -- Renewed by the worker; a permit of a dead worker is free after that.
  released_at timestamptz, -- When the call ended.
  asked_by activity_attempt, -- Activity attempt that asked last; an older one was replaced.
  constraint provider_calls_in_order unique (provider_key, grant_number),
  check ((granted_at is null) = (lease_until is null)),
  check ((granted_at is null) = (grant_number is null)),
  check ((released_at is null) or (granted_at is not null))
);
create index provider_calls_by_conversation on provider_calls (conversation_id);
comment on table provider_calls
  is 'Calls that wait for a permit of a limited provider, hold one, or did within a minute.';

create table provider_pauses (
  provider_key text primary key, -- Hash of the server's address and the key; never the key.
  label text not null, -- Name of the provider in the configuration.
  paused_until timestamptz not null, -- When calls may be made again.
  -- When the provider last asked for it; void if in the future.
  paused_at timestamptz not null default holdfast_now()
);
comment on table provider_pauses is 'Until when a provider wants no calls with a key. All workers keep to it.';

create table model_facts (
  model text not null check (model <> ''), -- provider/model.
  server text not null, -- Base address of the server, without credentials; empty: unknown.
  tenant text not null, -- Whose turns learned it; empty: what the server lists for everybody.
  listed_at timestamptz, -- When the server's own list of models was read; null: never.
  listed_window integer check (listed_window > 0), -- Context window in the list, in tokens; configuration wins over it.
  listed_maximum_output integer check (listed_maximum_output > 0), -- Longest answer in the list, in tokens.
  learned_at timestamptz, -- When the server last refused a request over a limit; null: never.
  learned_window integer check (learned_window > 0), -- Context window that the refusal named, in tokens.
  learned_media_parts integer check (learned_media_parts >= 0), -- Most images and files of a request.
  learned_media_bytes bigint check (learned_media_bytes >= 0), -- Most base64 bytes of media of a request.
  -- Multiplies the estimate; learned from reported usage; null: nothing was.
  factor double precision check (factor > 0),
  -- Tokens of one frame; null while only the factor was learned.
  frame_tokens double precision check (frame_tokens >= 0),
  samples integer check (samples > 0), -- Reports of usage that the factor was learned from.
  lessons json, -- Weighted sums that factor and frame tokens come from.
  primary key (model, server, tenant),
  check ((tenant = '') = (listed_at is not null)),
  check ((tenant <> '') or (num_nonnulls(learned_at, factor) = 0)),
  check ((listed_at is null) = (num_nonnulls(listed_window, listed_maximum_output) = 0)),
  check ((learned_at is null)
    = (num_nonnulls(learned_window, learned_media_parts, learned_media_bytes) = 0)),
  check ((factor is null) = (samples is null))
);
comment on table model_facts
  is 'Limits of a model at a server, as listed and as learned, and what calibrates its estimate.';

create table api_keys (
  id uuid primary key, -- UUIDv7; what a key is revoked by.
  hash bytea not null unique, -- SHA-256 of the key, which is shown once and stored nowhere.
  tenant text not null check (tenant <> ''), -- Whose conversations it leads to.
  name text not null check (name <> ''), -- For people.
  -- read, write, decide, admin.
  scopes text[] not null check (scopes <> '{}' and scopes <@ array['read', 'write', 'decide', 'admin']),
  requests_per_minute integer check (requests_per_minute > 0), -- null: as the server's configuration says.
  open_turns integer check (open_turns > 0), -- Turns of the tenant that may be open when it starts or sends; null: any.
  cost_per_day numeric check (cost_per_day > 0), -- Dollars of the tenant in 24 hours; null: any.
  created_at timestamptz not null default holdfast_now(), -- When it was made.
  expires_at timestamptz, -- null: never.
  revoked_at timestamptz, -- null: in force.
  last_used_at timestamptz -- To the minute; null: never.
);
comment on table api_keys is 'Keys of the HTTP API. Who holds one acts for its tenant, within its scopes.';

create table webhooks (
  id uuid primary key, -- UUIDv7.
  tenant text not null check (tenant <> ''), -- Whose conversations it tells of.
  url text not null, -- Where events are sent to.
  secret text not null, -- Signs what is sent: base64 behind whsec_, as Standard Webhooks writes it.
  -- Which events it is told of.
  events text[] not null check (events <> '{}' and events <@ array['turn_ended', 'decision_requested', 'limit_near']),
  created_at timestamptz not null default holdfast_now() -- When it was made.
);
create index webhooks_by_tenant on webhooks (tenant);
comment on table webhooks is 'Addresses of other programs that are told of events.';

create table webhook_deliveries (
  id uuid primary key default gen_random_uuid(), -- The same at every try.
  webhook_id uuid not null references webhooks on delete cascade, -- Where to.
  tenant text not null, -- As of the webhook.
  conversation_id uuid not null, -- Where it happened.
  event text not null, -- What happened.
  body jsonb not null, -- What is sent: ids, names, counts and flags.
  attempts integer not null default 0, -- Tries that have begun.
  due_at timestamptz default holdfast_now(), -- When it is tried next; null: it was given up.
  failure text, -- Of the newest try: a status or the code of an error.
  created_at timestamptz not null default holdfast_now() -- When the event happened.
);
create index webhook_deliveries_due on webhook_deliveries (due_at) where due_at is not null;
create index webhook_deliveries_given_up on webhook_deliveries (tenant, created_at) where due_at is null;
create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id);
create index webhook_deliveries_by_conversation on webhook_deliveries (conversation_id);
comment on table webhook_deliveries is 'Events that webhooks were not yet told of, or could not be. What arrived is deleted.';

create function queue_webhooks() returns trigger language plpgsql as $$
begin
  insert into webhook_deliveries (webhook_id, tenant, conversation_id, event, body)
  select w.id, c.tenant, c.id, happened.event, jsonb_build_object('type', happened.event,
    'timestamp', iso_time(new.created_at), 'data', happened.data || jsonb_build_object(
      'conversationId', c.id, 'agent', c.agent, 'turnId', new.turn_id, 'sequence', new.number))
  from conversations c
  join webhooks w on w.tenant = c.tenant
  -- The model is told of a limit that is near by a note.
  left join entries e on new.kind = 'note_added' and e.conversation_id = c.id
    and e.id = (new.data ->> 'entryId')::uuid and starts_with(e.note_key, 'limit:')
  cross join lateral (select case new.kind when 'note_added' then 'limit_near' else new.kind end as event,
    case new.kind when 'note_added' then jsonb_build_object('limit', split_part(e.note_key, ':', 2)) else new.data end as data
  ) as happened
  where c.id = new.conversation_id and happened.event = any(w.events)
    and (new.kind <> 'note_added' or e.id is not null)
    -- Not of a turn that took place elsewhere.
    and exists (select from turns t where t.id = new.turn_id and t.begin_scheduled_at is not null);
  return null;
end $$;
comment on function queue_webhooks is 'Writes what webhooks are to be told, in the transaction in which it happened.';

create trigger queue_webhooks after insert on events for each row
  when (new.kind in ('turn_ended', 'decision_requested', 'note_added'))
  execute function queue_webhooks();

create table deployment (
  is_only boolean primary key default true check (is_only), -- There is one row.
  namespace_name text, -- Temporal namespace that runs the turns; null before the first worker.
  -- Its id as DescribeNamespace tells it: a new server has another one under the same name, and is refused.
  namespace_id text,
  check ((namespace_name is null) = (namespace_id is null))
);
insert into deployment default values;
comment on table deployment is 'One row: facts of the whole deployment.';

-- A crash or a fail-over empties it, and the workers that live fill it again within a second.
create unlogged table workers (
  id text primary key, -- Identity in Temporal, of one process only.
  renewals integer not null, -- Counted up four times a second.
  task_queue text not null, -- Queue that it serves.
  since timestamptz not null default holdfast_now(), -- When it took its lock; it keeps the configuration that it read before.
  offers text[] not null, -- What it can run: agents, presets, providers and tools, as 'tool read_file'.
  conversations uuid[] not null -- Those that it works on, once for each activity.
);
comment on table workers is 'Workers that hold their session lock: a survivor takes over the work of one that died.';
