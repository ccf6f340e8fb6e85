-- What the loop guard is told of a result is kept with it: it cannot be told from the result's text, which may name times and be clipped.

alter table tool_calls add column fingerprint text check (length(fingerprint) between 1 and 64);
comment on column tool_calls.fingerprint is 'Tells the call with its result from others of the turn, eight hexadecimal digits; null while there is no result, and when an older version stored it.';
