-- What users and final answers say to each other, by branch: a search shows the answer beside its question whatever tools were called in
-- between. Without it all calls and results between them are read, up to a thousand for each passage that is found.
create index entries_talk on entries (conversation_id, branch, sequence)
  where kind = 'user' or kind = 'assistant' and tool_call_count = 0;
