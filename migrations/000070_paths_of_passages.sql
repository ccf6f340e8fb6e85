-- A search ranks and compares what tools read of files by the name of the file: read from the calls, of which some write megabytes, that
-- would take longer than all else.
alter table passages add column path text;

comment on column passages.path is 'Tool results: the path with which the tool was called, its end if it is long; empty: it was called with none. Null: indexed before this column was there.';
