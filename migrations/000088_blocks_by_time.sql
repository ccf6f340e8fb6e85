-- A search of an agent for what was said lately looked at all of its blocks: of a hundred thousand conversations two hundred thousand.

create index search_blocks_by_time on search_blocks (agent_number, latest);
