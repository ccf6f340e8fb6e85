-- A plan of a conversation of 50,000 entries spent most of its time on getting sizes out of decimal digits and on ids that
-- stood between them. Ids get a column of their own, and a number is a character.

alter table packed_outlines add column ids text not null default '';
alter table packed_outlines alter column ids set storage external;
comment on column packed_outlines.ids is 'Ids of the entries, 36 characters each.';

create or replace function packed_numbers(numbers bigint[]) returns text language sql immutable as $$
  select case
    when min(n) = max(n) then min(n)::text
    when max(n) <= 50000 then '~' || string_agg(chr(least(n, 50000)::int + 32), '' order by place)
    else string_agg(n::text, ',' order by place) end
  from unnest(numbers) with ordinality as listed (n, place)
$$;
comment on function packed_numbers is
  'One number when they are all equal; else ~ and for each the character with its code, counted from the space; else, with a number over 50,000 (before the codes that are no characters), the numbers with commas between them.';

create or replace function pack_outlines(of_conversation uuid, of_block integer) returns void language sql as $$
  with block as (
    select * from entries e
    where e.conversation_id = of_conversation and e.sequence > of_block * 256 and e.sequence <= (of_block + 1) * 256
  ), names as (
    select array_agg(distinct turn_id::text) as turns,
      coalesce(array_agg(distinct tool_name) filter (where tool_name is not null), '{}') as tools,
      coalesce(array_agg(distinct slot) filter (where slot is not null), '{}') as slots
    from block
  )
  insert into packed_outlines (conversation_id, block, ids, outline)
  select of_conversation, of_block, string_agg(e.id::text, '' order by e.sequence), concat_ws(E'\n',
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

truncate packed_outlines;
alter table packed_outlines alter column ids drop default;
select pack_outlines(c.id, b) from conversations c, generate_series(0, c.last_sequence / 256 - 1) as b;
