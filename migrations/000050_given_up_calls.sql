-- A call that waits for its provider in the workflow comes back under another number. An attempt of it that was frozen meanwhile
-- must neither answer nor begin the number that was left.
alter table turns add column left_call integer not null default 0;
comment on column turns.left_call is 'Newest call number that the turn left without an answer, to wait for the provider or to go on with another model: no try of it or of one before it is registered any more.';

comment on column model_calls.failure_kind is 'overflow, retryable, rate_limited, permanent, aborted, refused, superseded (answered after a newer try) or lost (its worker never reported; usage and cost are those of the try that was answered, or of the estimated input when there is none).';
