-- The timeline, what was learned of models, and the search index.

create table events (
  conversation_id uuid not null, -- exists, because the trigger finds its epoch
  number integer not null check (number > 0),
  kind text not null,
  turn_id uuid,
  epoch integer not null,
  data jsonb not null default '{}',
  created_at timestamptz not null default holdfast_now(),
  primary key (conversation_id, number),
  foreign key (conversation_id, turn_id) references turns (conversation_id, id)
);
comment on table events is 'The timeline of a conversation. Ids, names, counts and flags; never message text.';
comment on column events.conversation_id is 'The conversation.';
comment on column events.number is 'Order, from 1, without gaps. Given by the database.';
comment on column events.kind is 'What happened (src/store/events.ts).';
comment on column events.turn_id is 'The turn in which it happened.';
comment on column events.epoch is 'Epoch of the writer.';
comment on column events.data is 'Ids, names, counts and flags.';
comment on column events.created_at is 'When it happened.';

create function append_event() returns trigger language plpgsql as $$
declare
  conversation conversations := require_epoch(new.conversation_id, new.epoch);
begin
  if new.number is null then
    new.number := conversation.last_event + 1;
  elsif new.number <> conversation.last_event + 1 then
    raise exception using errcode = 'HF004',
      message = format('conversation %s: the next event is %s, not %s', conversation.id, conversation.last_event + 1, new.number);
  end if;
  update conversations c set last_event = new.number where c.id = new.conversation_id;
  return new;
end $$;
comment on function append_event is 'Trigger: fences and numbers an event.';
create trigger append_event before insert on events for each row execute function append_event();
create trigger refuse_change before update or delete on events for each row execute function refuse_change();
create trigger refuse_truncate before truncate on events for each statement execute function refuse_change();
create table model_calibrations (
  model text primary key,
  factor double precision not null check (factor > 0),
  samples integer not null check (samples > 0),
  updated_at timestamptz not null default holdfast_now()
);
comment on table model_calibrations is 'How the estimate of tokens must be corrected per model, learned from reported usage.';
comment on column model_calibrations.model is 'provider/model.';
comment on column model_calibrations.factor is 'Multiplies the estimate.';
comment on column model_calibrations.samples is 'Reports that it was learned from.';
comment on column model_calibrations.updated_at is 'When it was learned last.';

create table search_progress (
  conversation_id uuid primary key references conversations,
  through_sequence integer not null default 0,
  through_compaction integer not null default 0
);
comment on table search_progress is 'How far a conversation is indexed. Apart from the conversation, so that indexing never locks the step path.';
comment on column search_progress.conversation_id is 'The conversation.';
comment on column search_progress.through_sequence is 'Entries up to this sequence are indexed.';
comment on column search_progress.through_compaction is 'Compactions up to this number are indexed.';

create table passages (
  id bigint generated always as identity primary key,
  conversation_id uuid not null references conversations,
  source_id uuid not null,
  kind text not null check (kind in ('user', 'assistant', 'tool_result', 'note', 'branch_summary', 'summary')),
  sequence integer,
  tool_name text,
  character_offset integer not null,
  text text not null,
  terms tsvector not null,
  created_at timestamptz not null,
  unique (source_id, character_offset)
);
create index passages_by_conversation on passages (conversation_id, kind);
create index passages_terms on passages using gin (terms);
comment on table passages is 'The search index: what entries and summaries say, in passages. Derived; can be rebuilt from the log.';
comment on column passages.id is 'Order of indexing.';
comment on column passages.conversation_id is 'The conversation.';
comment on column passages.source_id is 'The entry, or the compaction for a summary.';
comment on column passages.kind is 'Kind of the entry, or summary.';
comment on column passages.sequence is 'Sequence of the entry; null for a summary.';
comment on column passages.tool_name is 'Tool results: the tool.';
comment on column passages.character_offset is 'Where it begins, in UTF-16 code units of the whole text.';
comment on column passages.text is 'The passage; NUL and lone surrogates, which text cannot hold, replaced one for one.';
comment on column passages.terms is 'Words, parts of identifiers and character pairs of scripts without spaces (src/store/search-terms.ts).';
comment on column passages.created_at is 'When the entry was appended or the summary committed.';

-- Likeness of letters for identifiers and typos. Without the extension, or the right to create it, search works by words alone.
do $$
begin
  create extension if not exists pg_trgm;
  create index passages_trigrams on passages using gin (text gin_trgm_ops);
exception
  when insufficient_privilege or feature_not_supported or undefined_file then
    raise notice 'pg_trgm is not available: search finds words, not likeness';
end $$;
