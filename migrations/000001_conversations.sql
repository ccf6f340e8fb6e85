-- Conversations, what users send to them, the turns that work on them, and the log of entries.
--
-- What must never happen is refused here, not only in code: a worker that was replaced, a second
-- program or a person with psql meets the same rules. Refusals carry an SQLSTATE of class HF, which
-- src/store/errors.ts turns into typed errors:
--
--   HF001 stale epoch          a newer turn owns the conversation
--   HF002 head moved           the write builds on an entry that is no longer the newest
--   HF003 append only          entries and events are never changed or deleted
--   HF004 sequence gap         numbers are given by the database, one after another
--   HF005 superseded attempt   a newer attempt registered for the same work
--   HF006 group split          a compaction would part tool results from their call
--
-- Every write of a turn locks the conversation's row first, so the writes of a conversation follow
-- each other; conversations do not wait for one another. Text that a user, a model or a tool wrote
-- is kept in `json` columns (never `jsonb`, never `text`): there NUL and lone surrogates survive as escapes.

create function holdfast_now() returns timestamptz
language sql volatile as $$
  select clock_timestamp()
    + coalesce(nullif(current_setting('holdfast.clock_offset', true), ''), '0')::interval
$$;
comment on function holdfast_now() is
  'The only clock of the schema. The setting holdfast.clock_offset, an interval, shifts it: tests travel in time with it.';

-- Measurements: what is counted of a content when it is stored (src/context/measurements.ts). -------

create type measurements as (
  letters bigint,
  symbols bigint,
  spaces bigint,
  whitespace_runs bigint,
  ideographs bigint,
  dense bigint,
  bytes bigint,
  images bigint,
  image_patches bigint,
  document_pages bigint,
  frames bigint
);
comment on type measurements is
  'What was counted of a content. Additive, so that sums along a branch are exact and any estimator of tokens applies to old rows without reading their text.';
comment on column measurements.letters is 'Letters of alphabetic scripts, in UTF-16 code units, as all character counts here.';
comment on column measurements.symbols is 'Digits, punctuation and symbols.';
comment on column measurements.spaces is 'Spaces that stand alone.';
comment on column measurements.whitespace_runs is 'White space in runs, and line breaks.';
comment on column measurements.ideographs is 'Chinese, Japanese, Korean and other scripts without alphabet.';
comment on column measurements.dense is 'Characters in unbroken runs that no word explains: base64, hashes.';
comment on column measurements.bytes is 'UTF-8 bytes of text, plus bytes of media.';
comment on column measurements.images is 'Images.';
comment on column measurements.image_patches is 'Sum over images of ceil(width / 28) x ceil(height / 28).';
comment on column measurements.document_pages is 'Pages of documents.';
comment on column measurements.frames is 'Messages, tool calls and tool results: each costs a few tokens of framing.';

create function add_measurements(a measurements, b measurements) returns measurements
language sql immutable parallel safe as $$
  select row(a.letters + b.letters, a.symbols + b.symbols, a.spaces + b.spaces,
    a.whitespace_runs + b.whitespace_runs, a.ideographs + b.ideographs, a.dense + b.dense,
    a.bytes + b.bytes, a.images + b.images, a.image_patches + b.image_patches,
    a.document_pages + b.document_pages, a.frames + b.frames)::measurements
$$;
comment on function add_measurements is 'Sum of two measurements, number by number.';

create function subtract_measurements(a measurements, b measurements) returns measurements
language sql immutable parallel safe as $$
  select row(a.letters - b.letters, a.symbols - b.symbols, a.spaces - b.spaces,
    a.whitespace_runs - b.whitespace_runs, a.ideographs - b.ideographs, a.dense - b.dense,
    a.bytes - b.bytes, a.images - b.images, a.image_patches - b.image_patches,
    a.document_pages - b.document_pages, a.frames - b.frames)::measurements
$$;
comment on function subtract_measurements is 'Difference of two measurements, number by number.';

create function no_measurements() returns measurements
language sql immutable parallel safe as $$ select row(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)::measurements $$;
comment on function no_measurements is 'Measurements of nothing.';

create operator + (leftarg = measurements, rightarg = measurements, function = add_measurements, commutator = +);
create operator - (leftarg = measurements, rightarg = measurements, function = subtract_measurements);
create aggregate sum(measurements) (sfunc = add_measurements, stype = measurements, initcond = '(0,0,0,0,0,0,0,0,0,0,0)');

-- Conversations ------------------------------------------------------------------------------------

create table conversations (
  id uuid primary key,
  agent text not null check (agent <> ''),
  model text,
  preset text,
  workspace text,
  created_at timestamptz not null default holdfast_now(),
  active_at timestamptz not null default holdfast_now(),
  epoch integer not null default 0 check (epoch >= 0),
  active_turn_id uuid,
  branch integer not null default 0 check (branch >= 0),
  head_entry_id uuid,
  last_sequence integer not null default 0 check (last_sequence >= 0),
  last_event integer not null default 0 check (last_event >= 0),
  compactions integer not null default 0 check (compactions >= 0),
  compaction_id uuid,
  view_offset measurements not null default no_measurements(),
  usage_entry_id uuid,
  model_calls integer not null default 0,
  input_tokens bigint not null default 0,
  cache_read_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost numeric not null default 0,
  calls_of_unknown_cost integer not null default 0
) with (fillfactor = 50); -- updated several times a step: room for updates that touch no index
create index conversations_by_activity on conversations (active_at desc, id desc);

comment on table conversations is 'A conversation between a user and an agent: who may write to it now, and where it stands.';
comment on column conversations.id is 'UUIDv7, made by the client.';
comment on column conversations.agent is 'Name of the agent in the configuration.';
comment on column conversations.model is 'provider/model instead of the agent''s; null for the agent''s own.';
comment on column conversations.preset is 'Compaction preset instead of the agent''s; null for the agent''s own.';
comment on column conversations.workspace is 'Absolute path instead of the agent''s workspace; null for the agent''s own.';
comment on column conversations.created_at is 'When the first message arrived.';
comment on column conversations.active_at is 'Newest message, begin or end of a turn.';
comment on column conversations.epoch is 'Fencing number: raised by each turn that takes the conversation; writes that name an older one are refused.';
comment on column conversations.active_turn_id is 'The open turn; null while idle.';
comment on column conversations.branch is 'The branch that is active; see table branches.';
comment on column conversations.head_entry_id is 'Newest entry of the active branch; the next entry becomes its child.';
comment on column conversations.last_sequence is 'Sequence of the newest entry of any branch. Changed by the database only.';
comment on column conversations.last_event is 'Number of the newest event. Changed by the database only.';
comment on column conversations.compactions is 'Compactions that were committed.';
comment on column conversations.compaction_id is 'The newest committed compaction; null before the first.';
comment on column conversations.view_offset is 'Measurements of the current view = sums at the head + this. Set by each compaction.';
comment on column conversations.usage_entry_id is 'Newest assistant entry with usage reported by the provider, unless a compaction came after it.';
comment on column conversations.model_calls is 'Calls of models that were paid, summaries and repeated calls included.';
comment on column conversations.input_tokens is 'Input tokens of all these calls, cached ones included.';
comment on column conversations.cache_read_tokens is 'Of them, read from the provider''s cache.';
comment on column conversations.cache_write_tokens is 'Of them, written to the provider''s cache.';
comment on column conversations.output_tokens is 'Output tokens of all these calls.';
comment on column conversations.cost is 'Dollars, over the calls whose price is known.';
comment on column conversations.calls_of_unknown_cost is 'Calls whose price is unknown: unless 0, the cost is unknown.';

create table branches (
  conversation_id uuid not null references conversations,
  branch integer not null,
  ancestor integer not null,
  through_sequence integer not null,
  primary key (conversation_id, branch, ancestor)
);
comment on table branches is
  'The entry tree, flat: which stretches of which branches make up the path of a branch. A fork copies its ancestor''s rows that begin before it, cut at the fork, and adds its own; so a path is read by ranges of sequence, without recursion, whatever its length.';
comment on column branches.conversation_id is 'The conversation.';
comment on column branches.branch is 'Number of the branch whose path is described; 0 is the first.';
comment on column branches.ancestor is 'A branch on that path, itself included.';
comment on column branches.through_sequence is 'Entries of the ancestor up to this sequence lie on the path; the greatest integer for the branch itself.';

create function create_first_branch() returns trigger language plpgsql as $$
begin
  insert into branches (conversation_id, branch, ancestor, through_sequence) values (new.id, 0, 0, 2147483647);
  return null;
end $$;
comment on function create_first_branch is 'Each conversation has branch 0.';
create trigger create_first_branch after insert on conversations for each row execute function create_first_branch();

-- Numbers that only triggers of other tables may raise; an epoch that falls would readmit dead turns.
create function protect_conversation() returns trigger language plpgsql as $$
begin
  if new.epoch < old.epoch then
    raise exception using errcode = 'HF001',
      message = format('conversation %s: epoch %s cannot fall to %s', old.id, old.epoch, new.epoch);
  end if;
  if pg_trigger_depth() < 2 then
    raise exception using errcode = 'HF004',
      message = format('conversation %s: numbers of entries and events are given by the database', old.id);
  end if;
  return new;
end $$;
comment on function protect_conversation is 'Keeps epoch rising and counters in the database''s own hands.';
create trigger protect_conversation before update on conversations for each row
  when (new.epoch < old.epoch)
  execute function protect_conversation();
create trigger protect_counters before update on conversations for each row
  when (new.last_sequence <> old.last_sequence or new.last_event <> old.last_event)
  execute function protect_conversation();

-- Fencing: the first statement of every write of a turn.
create function require_epoch(conversation uuid, writer integer) returns conversations
language plpgsql as $$
declare
  found_row conversations;
begin
  select * into found_row from conversations c where c.id = conversation for no key update;
  if found_row.epoch is distinct from writer then
    raise exception using errcode = 'HF001',
      message = format('conversation %s is at epoch %s; a writer of epoch %s was replaced', conversation, found_row.epoch, writer);
  end if;
  return found_row;
end $$;
comment on function require_epoch is 'Locks the conversation and refuses a writer of another epoch than its own (HF001).';

create function refuse_stale_epoch() returns trigger language plpgsql as $$
begin
  perform require_epoch(new.conversation_id, new.epoch);
  return new;
end $$;
comment on function refuse_stale_epoch is 'Trigger: the row''s epoch must be the conversation''s.';

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception using errcode = 'HF003', message = format('%s is append-only: %s refused', tg_table_name, lower(tg_op));
end $$;
comment on function refuse_change is 'Trigger: what was written stays (HF003).';

-- Messages -----------------------------------------------------------------------------------------

create table messages (
  id text primary key check (length(id) between 1 and 200),
  conversation_id uuid not null references conversations,
  position bigint generated always as identity,
  kind text not null check (kind in ('message', 'stop', 'compact')),
  mode text not null check (mode in ('steer', 'queue')),
  content json not null,
  focus json check (focus is null or kind = 'compact'),
  measurements measurements not null,
  created_at timestamptz not null default holdfast_now(),
  turn_id uuid,
  consumed_at timestamptz,
  check ((turn_id is null) or (consumed_at is not null))
);
create index messages_waiting on messages (conversation_id, position) where consumed_at is null;
create index messages_waiting_longest on messages (created_at) where consumed_at is null;
create index messages_by_conversation on messages (conversation_id, position);

comment on table messages is 'What users sent, commands included. A row is written before anything else happens and taken by a turn exactly once.';
comment on column messages.id is 'Chosen by the sender: sending twice is sending once.';
comment on column messages.conversation_id is 'Where it was sent.';
comment on column messages.position is 'Order of arrival.';
comment on column messages.kind is 'message: text for the agent. stop, compact: commands to Holdfast.';
comment on column messages.mode is 'steer: enters at the next step boundary. queue: starts the next turn. Commands: steer.';
comment on column messages.content is 'Content parts, as in src/context/content.ts.';
comment on column messages.focus is 'compact only: what the summary should dwell on, a JSON string.';
comment on column messages.measurements is 'Counted when it was sent.';
comment on column messages.created_at is 'When it arrived.';
comment on column messages.turn_id is 'The turn that took it; null while it waits, or when nothing was there to take it (a stop for an idle conversation).';
comment on column messages.consumed_at is 'When it was taken or served; null while it waits.';

-- Turns --------------------------------------------------------------------------------------------

create table turns (
  id uuid primary key,
  conversation_id uuid not null references conversations,
  epoch integer not null,
  workflow_id text not null,
  begun_by_run_id text not null,
  run_id text not null,
  worker_identity text not null,
  agent text not null,
  model text not null,
  preset text not null,
  snapshot json not null,
  model_limits json not null,
  policy json not null,
  fixed measurements not null,
  command_only boolean not null default false,
  messages integer not null default 0,
  begun_at timestamptz not null default holdfast_now(),
  ended_at timestamptz,
  outcome text check (outcome in ('completed', 'stopped', 'budget_exhausted', 'context_exhausted', 'model_failed', 'refused', 'interrupted')),
  reason text,
  breakdown json,
  model_calls integer not null default 0,
  input_tokens bigint not null default 0,
  cache_read_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost numeric not null default 0,
  calls_of_unknown_cost integer not null default 0,
  unique (conversation_id, id),
  unique (conversation_id, epoch),
  check ((outcome is null) = (ended_at is null))
) with (fillfactor = 80);
create unique index turns_open on turns (conversation_id) where outcome is null;
create index turns_open_longest on turns (begun_at) where outcome is null;
create unique index turns_by_run on turns (workflow_id, begun_by_run_id);

comment on table turns is 'From user messages to an outcome. At most one is open per conversation.';
comment on column turns.id is 'UUIDv7, made by the activity that began the turn.';
comment on column turns.conversation_id is 'The conversation that the turn works on.';
comment on column turns.epoch is 'The epoch that the turn took; its right to write.';
comment on column turns.workflow_id is 'Temporal workflow that works on it.';
comment on column turns.begun_by_run_id is 'Temporal run that began it: a repeated begin of the same run finds this turn.';
comment on column turns.run_id is 'Temporal run that works on it now; changes when the turn continues as new.';
comment on column turns.worker_identity is 'Worker that began or continued it.';
comment on column turns.agent is 'Name of the agent.';
comment on column turns.model is 'provider/model.';
comment on column turns.preset is 'Name of the compaction policy.';
comment on column turns.snapshot is 'The agent''s configuration, frozen for the turn (src/turn/agent-snapshot.ts): any view can be rebuilt from it.';
comment on column turns.model_limits is 'Of the snapshot: what the model accepts. Apart, because the check before each model call reads it.';
comment on column turns.policy is 'Of the snapshot: the compaction policy. Apart for the same reason.';
comment on column turns.fixed is 'Measurements of instructions, rules and tool schemas: the part of a request that no entry holds.';
comment on column turns.command_only is 'A command for an idle conversation: a turn with no step.';
comment on column turns.messages is 'Messages taken when it began.';
comment on column turns.begun_at is 'When it took the conversation.';
comment on column turns.ended_at is 'When it ended; null while open.';
comment on column turns.outcome is 'How it ended; null while open.';
comment on column turns.reason is 'Code of what led to the outcome.';
comment on column turns.breakdown is 'What filled the window, in tokens, for context_exhausted.';
comment on column turns.model_calls is 'Calls of models that were paid, summaries and repeated calls included.';
comment on column turns.input_tokens is 'Input tokens of all these calls, cached ones included.';
comment on column turns.cache_read_tokens is 'Of them, read from the provider''s cache.';
comment on column turns.cache_write_tokens is 'Of them, written to the provider''s cache.';
comment on column turns.output_tokens is 'Output tokens of all these calls.';
comment on column turns.cost is 'Dollars, over the calls whose price is known.';
comment on column turns.calls_of_unknown_cost is 'Calls whose price is unknown: unless 0, the cost is unknown.';

alter table messages add foreign key (conversation_id, turn_id) references turns (conversation_id, id);
alter table conversations add foreign key (id, active_turn_id) references turns (conversation_id, id) deferrable initially deferred;

create trigger refuse_stale_epoch before insert on turns for each row execute function refuse_stale_epoch();

create function protect_turn() returns trigger language plpgsql as $$
begin
  raise exception using errcode = 'HF001', message = format('turn %s has ended as %s; a writer that goes on was replaced', old.id, old.outcome);
end $$;
comment on function protect_turn is 'An outcome is final: a turn that was taken over cannot end or continue itself.';
create trigger protect_turn before update on turns for each row
  when (old.outcome is not null and (new.outcome is distinct from old.outcome or new.run_id <> old.run_id or new.ended_at <> old.ended_at))
  execute function protect_turn();

-- Originals too large or too raw for an entry ------------------------------------------------------

create table contents (
  id uuid primary key,
  conversation_id uuid not null references conversations,
  created_at timestamptz not null default holdfast_now(),
  bytes bigint,
  missing_bytes bigint,
  characters bigint,
  unique (conversation_id, id),
  check ((bytes is null) = (missing_bytes is null) and (bytes is null) = (characters is null))
);
comment on table contents is 'An original stored in pieces: output that an entry shows clipped, or bytes that are not UTF-8.';
comment on column contents.id is 'UUIDv7.';
comment on column contents.conversation_id is 'Where it belongs.';
comment on column contents.created_at is 'When writing began. Without an entry that refers to it long after, the writer died: upkeep removes it.';
comment on column contents.bytes is 'Bytes stored; null until all pieces are written.';
comment on column contents.missing_bytes is 'Bytes beyond the storage limit, lost.';
comment on column contents.characters is 'Length when decoded as UTF-8 with U+FFFD for what is not, in UTF-16 code units.';

create table content_pieces (
  content_id uuid not null references contents,
  number integer not null check (number >= 0),
  data bytea not null,
  primary key (content_id, number)
);
-- Output rarely compresses further, and reading a slice of uncompressed bytes needs no whole piece.
alter table content_pieces alter column data set storage external;
comment on table content_pieces is 'The bytes of a content in pieces of 256 KB, written before the transaction that links them.';
comment on column content_pieces.content_id is 'The content.';
comment on column content_pieces.number is 'Order, from 0.';
comment on column content_pieces.data is 'The bytes as they came.';
