-- Foreign keys look an entry up by conversation and id, with a plan that a connection makes once. Made while the table was small, it took the
-- index by branch for as good, and each step read all of its conversation. This one begins with what only the list of branches, and
-- where one stands, ask for.
drop index entries_by_branch;
create index entries_of_branch on entries ((branch + 0), conversation_id, sequence);
