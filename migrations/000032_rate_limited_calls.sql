-- Rate limits are no failures of the model: they pass by themselves and use up none of its tries.
comment on column model_calls.failure_kind is 'overflow, retryable, rate_limited, permanent, aborted, refused, superseded (answered after a newer try) or lost (its worker never reported; usage and cost are those of the try that was answered).';
