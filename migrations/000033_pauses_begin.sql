-- A pause tells when it began, so that one of a clock that was ahead does not last until that time comes.

alter table provider_pauses add column paused_at timestamptz not null default holdfast_now();

comment on column provider_pauses.paused_at is 'When the provider asked for it last; one that begins in the future is of a clock that jumped back since, and void.';
