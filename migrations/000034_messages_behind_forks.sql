-- A message that is said again, or in other words, is sent with the fork before it, and is nothing without it.

alter table messages add column follows_id text references messages deferrable initially deferred
  check (follows_id is null or kind = 'message');
create index messages_following on messages (follows_id) where follows_id is not null;

comment on column messages.follows_id is 'The fork behind which it is to be answered; when that is not carried out, the message is taken back: consumed by no turn.';
