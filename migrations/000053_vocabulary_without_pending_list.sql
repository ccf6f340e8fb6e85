-- New words waited in the pending list of the index until autovacuum came by, and every search for a word that is in no text read
-- that list from end to end: right after much was indexed a search took five times as long (20,000 entries: p95 84 ms, 17 ms after
-- a vacuum). pg_trgm may be missing, and the index with it.
do $$
begin
  if to_regclass('search_vocabulary_likeness') is not null then
    alter index search_vocabulary_likeness set (fastupdate = off);
    perform gin_clean_pending_list('search_vocabulary_likeness'::regclass);
  end if;
end $$;
