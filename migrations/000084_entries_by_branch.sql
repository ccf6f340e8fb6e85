-- The branches of a conversation were listed by reading the whole of it once a branch, and where a branch stands was found by walking back
-- over all that had been said on others since. One more row of an index for each entry: some 100 of
-- the 7,700 bytes that a step with a short result writes ahead.
create index entries_by_branch on entries (conversation_id, branch, sequence);
