-- A talk that is imported says at the head of its entries when it was held. Who asks for that time asks for those entries, not
-- for the day of the import. Passages of before stay without until `holdfast reindex`.

alter table passages add column said_at timestamptz;
comment on column passages.said_at is 'Day that the heading of the entry names ("[2025-03-05 10:00] Ada: …"), for all passages of the entry; only of what users and assistants said. Null: none is named, then created_at counts.';

drop index passages_by_time;
create index passages_by_time on passages (conversation_id, coalesce(said_at, created_at), id);
