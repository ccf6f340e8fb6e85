-- A sender beside an open turn notes its ring too: what is sent behind a row that the turn was rung for needs no ring of its own.
comment on column messages.rung_at is 'When a ring for it arrived last, of upkeep or of its sender beside an open turn; null: none was noted.';
comment on column messages.rings is 'How many rings for it were noted.';
