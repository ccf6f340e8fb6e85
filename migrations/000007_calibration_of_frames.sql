-- The estimate learns two numbers per model: a factor for text, and what a message or a tool call costs besides its text.

alter table model_calibrations
  add column frame_tokens double precision check (frame_tokens >= 0),
  add column lessons json;
comment on column model_calibrations.frame_tokens is 'Tokens of one frame; null while only the factor was learned.';
comment on column model_calibrations.lessons is 'Weighted sums that factor and frame are computed from, as in src/context/plan.ts; null while only the factor was learned.';
