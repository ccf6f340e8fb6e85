-- Which entries show a part of a long original: without it every entry of the conversation was read at each search of an agent that has
-- one such result (140,000 entries: 30 ms), and at the deletion of an original.
create index entries_by_original on entries (original_id) where original_id is not null;
