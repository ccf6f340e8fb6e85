-- What a tool has written so far, so that a call whose worker died can tell more than when it began.

alter table tool_calls
  add column partial_output json,
  add column partial_bytes bigint,
  add column partial_at timestamptz,
  add constraint tool_calls_partial_whole check (
    (partial_output is null) = (partial_bytes is null) and (partial_output is null) = (partial_at is null)),
  -- Once there is a result, the result is what counts.
  add constraint tool_calls_partial_open check (state = 'claimed' or partial_output is null);

comment on column tool_calls.partial_output is 'Beginning and end of what the running claim has written so far, keys masked: a JSON string. Null when nothing was written, and once the call is finished.';
comment on column tool_calls.partial_bytes is 'Bytes that it had written by then.';
comment on column tool_calls.partial_at is 'When this was noted.';
comment on column model_calls.failure_kind is 'overflow, retryable, permanent, aborted, refused, superseded (answered after a newer try) or lost (its worker never reported; usage and cost are those of the try that was answered).';
