-- What presets need beyond a cut and a summary before it: summaries in place, arrays that keep their
-- first items, a part that is flushed to memory, and passes that count for their turn only.

-- A summary in place stands for entries that are shortened where they are: it covers what it keeps.
alter table compactions drop constraint compactions_cut;
alter table compactions add constraint compactions_cut check (
  (first_kept_sequence is null) = (covered_through_sequence is null)
  and (first_kept_sequence is null or covered_through_sequence < first_kept_sequence
    or coalesce((plan ->> 'inPlace')::boolean, false)));

alter table compaction_operations add column array_items integer
  check (array_items is null or (array_items > 0 and kind = 'clip'));
comment on column compaction_operations.array_items is 'Clip of a JSON array: first items that stay instead of head and tail; null for any other clip.';

alter table compaction_parts drop constraint compaction_parts_kind_check;
alter table compaction_parts add constraint compaction_parts_kind_check
  check (kind in ('history', 'turn_prefix', 'merge', 'flush'));

comment on table compaction_kept_entries is 'Entries before the cut that stay verbatim: user messages, and groups that name active files.';

alter table conversations add column compactions_over integer not null default 0
  check (compactions_over >= 0 and compactions_over <= compactions);
comment on column conversations.compactions_over is 'Compactions up to this number no longer count: they were made for turns that are over.';
alter table turns add column compactions_over integer not null default 0;
comment on column turns.compactions_over is 'What conversations.compactions_over was in this turn, for rebuilding its views.';
