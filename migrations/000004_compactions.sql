-- How views were made smaller: plans, summaries and their parts.

create table compactions (
  id uuid primary key, -- UUIDv7.
  conversation_id uuid not null references conversations deferrable, -- The conversation.
  turn_id uuid not null, -- The turn that planned it.
  epoch integer not null, -- Epoch of the last writer.
  call_number integer not null, -- The model call before which it was planned.
  -- overflow: the provider refused. maintenance: after a turn.
  reason text not null check (reason in ('threshold', 'overflow', 'manual', 'maintenance')),
  preset text not null, -- Name of the policy.
  form text not null, -- From the preset's own form to ever weaker ones.
  form_number integer not null default 1 check (form_number > 0), -- Which form of the pass this is, from 1.
  replaces_id uuid unique, -- The failed plan of the same pass that this one replaces.
  previous_id uuid, -- The compaction whose summary this one updates.
  focus json, -- What the user asked the summary to dwell on, a JSON string.
  plan json not null, -- The plan (src/context/plan/plan.ts): cut, kept entries, parts.
  head_entry_id uuid not null, -- Newest entry when it was planned; the commit demands the same.
  first_kept_sequence integer, -- The cut point; null when the cut stays where it is.
  covered_through_sequence integer, -- Last entry that the summary covers; null without summary.
  tokens_before integer not null, -- Tokens of the view before, by the calibrated estimate.
  tokens_after integer, -- Tokens after, measured the same way; smaller, or the commit is refused.
  -- failed: a weaker form may follow. abandoned: its turn ended. written: of a branch that was left, whose summary is an entry.
  status text not null default 'planned' check (status in ('planned', 'committed', 'failed', 'abandoned', 'written')),
  failure text, -- Code of why it failed or was abandoned.
  number integer, -- Counts the committed compactions of the conversation, from 1.
  marker_entry_id uuid, -- The entry that marks the commit in the log.
  summary json, -- The summary, a JSON string.
  summary_measurements measurements, -- Counted of the summary as it stands in the view.
  files json, -- Files read and modified, cumulative.
  model text, -- provider/model that wrote it; null without a model.
  prompt_version text, -- Version of the prompts.
  view_after measurements, -- Measurements of the view right after the commit, at the marker.
  created_at timestamptz not null default holdfast_now(), -- When it was planned.
  finished_at timestamptz, -- When it was committed, failed or abandoned.
  details json, -- What a hook stored with it, carried on to the next one.
  context_lines json, -- Lines that hooks add to the summary request: prepend and append.
  unique (conversation_id, id),
  unique (conversation_id, number),
  foreign key (conversation_id, first_kept_sequence) references entries (conversation_id, sequence) deferrable,
  foreign key (conversation_id, head_entry_id) references entries (conversation_id, id) deferrable,
  foreign key (conversation_id, marker_entry_id) references entries (conversation_id, id) deferrable,
  foreign key (conversation_id, previous_id) references compactions (conversation_id, id) deferrable,
  foreign key (conversation_id, replaces_id) references compactions (conversation_id, id) deferrable,
  foreign key (conversation_id, turn_id) references turns (conversation_id, id) deferrable,
  check ((status = 'committed') = ((number is not null) and (marker_entry_id is not null)
    and (view_after is not null) and (tokens_after is not null))),
  check (((first_kept_sequence is null) = (covered_through_sequence is null)) and ((first_kept_sequence is null)
    or (covered_through_sequence < first_kept_sequence) or coalesce((plan ->> 'inPlace')::boolean, false))),
  check ((status in ('failed', 'abandoned')) = (failure is not null)),
  check ((status = 'planned') = (finished_at is null)),
  check (form in ('reduction', 'summary', 'shorter_summary', 'extractive_summary', 'clip_only')),
  check ((status <> 'committed') or (tokens_after < tokens_before)),
  check ((status <> 'committed') or (((covered_through_sequence is null) = (summary is null)) and ((summary is null)
    or ((summary_measurements is not null) and (length(btrim((summary)::text, ' "')) > 0)))))
);
create index compactions_by_turn on compactions (turn_id, call_number);
create index compactions_by_previous on compactions (previous_id) where previous_id is not null;
create index compactions_by_head on compactions (head_entry_id);
create index compactions_by_marker on compactions (marker_entry_id) where marker_entry_id is not null;
create index compactions_by_cut on compactions (conversation_id, first_kept_sequence)
  where first_kept_sequence is not null;
create unique index compactions_open on compactions (conversation_id) where status = 'planned';
comment on table compactions is 'One way of making a view smaller: planned, then committed or not.';

create table compaction_parts (
  compaction_id uuid not null, -- The compaction.
  number integer not null check (number > 0), -- From 1.
  conversation_id uuid not null, -- The conversation.
  epoch integer not null, -- Epoch of the last writer.
  wave integer not null check (wave > 0), -- Parts of a wave run in parallel, waves one after another.
  -- turn_prefix: the dropped beginning of a turn. merge: of earlier texts. branch: all of a branch that was left.
  kind text not null check (kind in ('history', 'turn_prefix', 'merge', 'flush', 'branch')),
  from_sequence integer, -- First entry it reads; null for a merge.
  to_sequence integer, -- Last entry it reads; null for a merge.
  input_estimate integer not null, -- Tokens of its input, estimated by the plan.
  maximum_output integer not null, -- Longest answer, in tokens.
  -- planned; written; failed: no further try.
  state text not null default 'planned' check (state in ('planned', 'written', 'failed')),
  text json, -- The text, a JSON string.
  prompt_version text, -- Version of the prompt.
  model text, -- provider/model that wrote it; null without a model.
  primary key (compaction_id, number),
  foreign key (conversation_id, compaction_id) references compactions (conversation_id, id) deferrable,
  foreign key (conversation_id, from_sequence) references entries (conversation_id, sequence) deferrable,
  foreign key (conversation_id, to_sequence) references entries (conversation_id, sequence) deferrable,
  check (((kind = 'merge') = (from_sequence is null)) and ((from_sequence is null) = (to_sequence is null))),
  check (from_sequence <= to_sequence),
  check ((state = 'written') = (text is not null))
);
create index compaction_parts_from on compaction_parts (conversation_id, from_sequence) where from_sequence is not null;
create index compaction_parts_to on compaction_parts (conversation_id, to_sequence) where to_sequence is not null;
comment on table compaction_parts is 'What each summarizing call reads, and its text.';

create table compaction_operations (
  compaction_id uuid not null, -- The compaction.
  conversation_id uuid not null, -- The conversation of both.
  entry_sequence integer not null, -- The entry.
  -- clip: head and tail. clear: a placeholder. strip: without images.
  kind text not null check (kind in ('clip', 'clear', 'strip')),
  head_characters integer check (head_characters >= 0), -- Clip: characters kept at the start.
  tail_characters integer check (tail_characters >= 0), -- Clip: characters kept at the end.
  measurements measurements not null check (measurements is not null), -- Measurements of the entry as it is shown.
  array_items integer, -- Clip of a JSON array: first items that stay; else null.
  primary key (compaction_id, entry_sequence),
  foreign key (conversation_id, compaction_id) references compactions (conversation_id, id) deferrable,
  foreign key (conversation_id, entry_sequence) references entries (conversation_id, sequence) deferrable,
  check ((kind = 'clip') = ((head_characters is not null) and (tail_characters is not null))),
  check ((array_items is null) or ((array_items > 0) and (kind = 'clip')))
);
create index compaction_operations_by_entry on compaction_operations (conversation_id, entry_sequence);
comment on table compaction_operations is 'How one kept entry is shown from a commit on.';

create table branch_summaries (
  entry_id uuid primary key, -- The entry of kind branch_summary.
  conversation_id uuid not null, -- The conversation.
  left_branch integer not null, -- The branch that was left.
  from_sequence integer not null, -- First entry after the common ancestor.
  through_sequence integer not null, -- Last entry of the branch.
  files json not null, -- Files read and modified on it.
  model text, -- provider/model that wrote it; null without a model.
  prompt_version text not null, -- Version of the prompt.
  foreign key (conversation_id, entry_id) references entries (conversation_id, id) deferrable
);
create index branch_summaries_by_conversation on branch_summaries (conversation_id);
comment on table branch_summaries is 'Where the summary of a left branch comes from; the entry holds its text.';

alter table conversations add foreign key (id, compaction_id)
  references compactions (conversation_id, id) deferrable initially deferred;
alter table entries add foreign key (conversation_id, compaction_id)
  references compactions (conversation_id, id) deferrable;

create view summaries as
select
  c.conversation_id, -- The conversation.
  c.number as generation, -- Counts the committed compactions of the conversation, from 1.
  c.id as compaction_id, -- The compaction; `holdfast entry` opens its summary by this id.
  c.reason as trigger, -- threshold, overflow, manual or maintenance.
  c.preset, -- Name of the policy.
  c.form, -- reduction, summary, shorter_summary, extractive_summary or clip_only.
  cardinality(forms.ids) as tries, -- Forms that were planned until this one was committed.
  readable_text(c.focus) as focus, -- What the user asked the summary to dwell on.
  c.covered_through_sequence, -- Last entry that the summary covers; null without summary.
  case when c.covered_through_sequence is not null then (
    select count(*)::integer from entries e
    join branches b on b.conversation_id = e.conversation_id and b.ancestor = e.branch
      and e.sequence <= b.through_sequence
    where e.conversation_id = c.conversation_id and b.branch = h.branch and e.sequence <= c.covered_through_sequence)
  else 0 end as entries_covered, -- Entries of its branch up to there.
  c.first_kept_sequence, -- The cut point: first entry kept verbatim.
  -- Entries that it clipped, cleared or stripped.
  (select count(*)::integer from compaction_operations o where o.compaction_id = c.id) as entries_shortened,
  json_array_length(c.plan -> 'keptSequences') as entries_kept, -- Entries before the cut that stay verbatim.
  c.tokens_before, -- Tokens of the view before, by the calibrated estimate.
  c.tokens_after, -- Tokens after, measured the same way.
  c.model, -- provider/model that wrote the summary; null without a model.
  paid.model_calls, -- Calls that were paid, over all tries.
  paid.input_tokens, -- Input tokens of these calls.
  paid.output_tokens, -- Output tokens of these calls.
  paid.cost, -- Dollars; null when a price is unknown.
  readable_text(c.summary) as text, -- The summary; null for a compaction without one.
  c.created_at as planned_at, -- When it was planned.
  c.finished_at as committed_at, -- When it came into force.
  h.branch -- Branch on which it was made.
from compactions c
join entries h on h.conversation_id = c.conversation_id and h.id = c.head_entry_id
cross join lateral (
  with recursive forms (id, replaces_id) as (
    select c.id, c.replaces_id
    union all
    select f.id, f.replaces_id
    from forms n join compactions f on f.conversation_id = c.conversation_id and f.id = n.replaces_id
  )
  select array_agg(id) as ids from forms) as forms
cross join lateral (
  select count(*)::integer as model_calls, coalesce(sum(m.input_tokens), 0)::bigint as input_tokens,
    coalesce(sum(m.output_tokens), 0)::bigint as output_tokens,
    case when count(*) = count(m.cost) then coalesce(sum(m.cost), 0) end as cost
  from model_attempts m where m.purpose = 'summary_part' and m.compaction_id = any(forms.ids) and m.is_paid) as paid
where c.status = 'committed';
comment on view summaries is 'Every committed compaction: what it covered, gained and cost, and its summary.';
