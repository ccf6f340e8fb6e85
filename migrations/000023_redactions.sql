-- How many secrets were left out of a conversation's summaries, without reading its timeline.

create index events_redactions on events (conversation_id) where kind = 'secrets_redacted';
