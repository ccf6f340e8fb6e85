-- The source of a memory is the entry that says it. It was the result of the call that remembered it, which only names the memory, and which
-- was never stored where a worker died, or a turn was stopped, between the two.

-- The answer that made the call says what was remembered, at least; what it rests on is not known any more.
update memories m set source_id = c.entry_id
from entries e join tool_calls c on c.turn_id = e.turn_id and c.call_number = e.call_number and c.call_index = e.call_index
where e.id = m.source_id and e.conversation_id = m.conversation_id and e.kind = 'tool_result' and c.name = 'remember';

update memories m set source_id = null
where m.source_id is not null
  and not exists (select from entries e where e.id = m.source_id and e.conversation_id = m.conversation_id)
  and not exists (select from compactions c where c.id = m.source_id and c.conversation_id = m.conversation_id);

-- A foreign key could name entries or compactions, not either. Workers of older versions name results that are yet to be stored, and files of
-- older versions results that never were: what they remember must be kept, so it is not refused.
create function leave_out_missing_source() returns trigger language plpgsql as $$
begin
  if not exists (select from entries e where e.id = new.source_id and e.conversation_id = new.conversation_id)
    and not exists (select from compactions c where c.id = new.source_id and c.conversation_id = new.conversation_id)
  then
    new.source_id := null;
  end if;
  return new;
end $$;
comment on function leave_out_missing_source() is 'Keeps a memory without its source when its conversation has no such entry or compaction.';

create trigger memories_source before insert or update of source_id, conversation_id on memories
  for each row when (new.source_id is not null) execute function leave_out_missing_source();

comment on column memories.source_id is 'The entry of its conversation that says it (the message of the user, the result of the tool, otherwise the answer that had it remembered), or the compaction that it is the summary of. Null when that is not known.';
