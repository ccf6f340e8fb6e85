-- What has to do with a task is chosen among all memories in force, however old, not among the newest. The program takes the words of a
-- text apart, as it does with those of the task; memories of before are taken apart when their scopes are next looked at.

alter table memories add column terms text[];
comment on column memories.terms is 'By what it is found: the beginnings of its words and, with "=", a hash of the whole text, each behind a key of its scope (src/store/memory-terms.ts). Null until its scope is looked at, when it was written by hand, imported, or by an older version.';

-- Without a waiting list, which each turn that begins would have to read.
create index memories_by_terms on memories using gin (terms) with (fastupdate = off) where superseded_by is null;
create index memories_without_terms on memories (scope, scope_name) where terms is null and superseded_by is null;
create index memories_preferred on memories (scope, scope_name, created_at desc) where superseded_by is null and kind = 'preference';
create index memories_flushed on memories (scope, scope_name, created_at desc) where superseded_by is null and kind = 'summary';
