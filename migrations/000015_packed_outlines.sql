-- What planning reads of a long conversation: the sizes of 256 entries in one row. The rows of `entries` hold their
-- texts besides, and reading 50,000 of them for a plan takes longer than making it.
--
-- An entry never changes, so its sizes are packed once: by the append that fills a block. Entries of a block that is not
-- full yet are read one by one.

create table packed_outlines (
  conversation_id uuid not null references conversations on delete cascade,
  block integer not null check (block >= 0),
  outline text not null,
  primary key (conversation_id, block)
);
-- Compressing takes longer than reading what it saves.
alter table packed_outlines alter column outline set storage external;

comment on table packed_outlines is 'Sizes of 256 entries each, for planning. Derived from entries, which never change.';
comment on column packed_outlines.conversation_id is 'The conversation.';
comment on column packed_outlines.block is 'Holds the entries after sequence 256 × block, up to 256 × (block + 1).';
comment on column packed_outlines.outline is 'One line per property, as pack_outlines writes them.';

create function packed_numbers(numbers bigint[]) returns text language sql immutable as $$
  select case when (select min(n) = max(n) from unnest(numbers) as n) then numbers[1]::text
    else array_to_string(numbers, ',') end
$$;
comment on function packed_numbers is 'Numbers with commas between them; one number when they are all equal.';

create function pack_outlines(of_conversation uuid, of_block integer) returns void language sql as $$
  with block as (
    select * from entries e
    where e.conversation_id = of_conversation and e.sequence > of_block * 256 and e.sequence <= (of_block + 1) * 256
  ), names as (
    select array_agg(distinct turn_id::text) as turns,
      coalesce(array_agg(distinct tool_name) filter (where tool_name is not null), '{}') as tools,
      coalesce(array_agg(distinct slot) filter (where slot is not null), '{}') as slots
    from block
  )
  insert into packed_outlines (conversation_id, block, outline)
  select of_conversation, of_block, concat_ws(E'\n',
    string_agg(e.id::text, '' order by e.sequence),
    string_agg(case e.kind when 'tool_result' then 't' when 'compaction' then 'c' when 'branch_summary' then 'b'
      else left(e.kind, 1) end, '' order by e.sequence),
    array_to_json(n.turns), array_to_json(n.tools), array_to_json(n.slots),
    packed_numbers(array_agg(array_position(n.turns, e.turn_id::text) order by e.sequence)),
    packed_numbers(array_agg(coalesce(array_position(n.tools, e.tool_name), 0) order by e.sequence)),
    packed_numbers(array_agg(coalesce(array_position(n.slots, e.slot), 0) order by e.sequence)),
    packed_numbers(array_agg(e.branch order by e.sequence)),
    packed_numbers(array_agg(coalesce(e.call_number, 0) order by e.sequence)),
    packed_numbers(array_agg(coalesce(e.call_index, 0) order by e.sequence)),
    packed_numbers(array_agg(coalesce(e.tool_call_count, 0) order by e.sequence)),
    packed_numbers(array_agg(coalesce(e.is_error, false)::int order by e.sequence)),
    packed_numbers(array_agg((e.measurements).letters order by e.sequence)),
    packed_numbers(array_agg((e.measurements).symbols order by e.sequence)),
    packed_numbers(array_agg((e.measurements).spaces order by e.sequence)),
    packed_numbers(array_agg((e.measurements).whitespace_runs order by e.sequence)),
    packed_numbers(array_agg((e.measurements).ideographs order by e.sequence)),
    packed_numbers(array_agg((e.measurements).dense order by e.sequence)),
    packed_numbers(array_agg((e.measurements).bytes order by e.sequence)),
    packed_numbers(array_agg((e.measurements).images order by e.sequence)),
    packed_numbers(array_agg((e.measurements).image_patches order by e.sequence)),
    packed_numbers(array_agg((e.measurements).document_pages order by e.sequence)),
    packed_numbers(array_agg((e.measurements).frames order by e.sequence)))
  from block e, names n
  group by n.turns, n.tools, n.slots
  having count(*) = 256
  on conflict do nothing
$$;
comment on function pack_outlines is 'Packs a full block of a conversation''s entries; does nothing while it is not full.';

create function pack_full_block() returns trigger language plpgsql as $$
begin
  perform pack_outlines(new.conversation_id, new.sequence / 256 - 1);
  return null;
end $$;
comment on function pack_full_block is 'Trigger: the entry that fills a block packs it.';
create trigger pack_full_block after insert on entries for each row when (new.sequence % 256 = 0)
  execute function pack_full_block();

-- Conversations that are there already.
select pack_outlines(c.id, b) from conversations c, generate_series(0, c.last_sequence / 256 - 1) as b;
