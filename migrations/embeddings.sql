-- For search by meaning, where pgvector is installed: applied by `holdfast migrate --embeddings <dimensions>`.

create table if not exists embeddings (
  passage_id bigint not null references passages on delete cascade,
  model text not null,
  conversation_id uuid not null,
  embedding vector,
  primary key (passage_id, model)
);
create index if not exists embeddings_by_conversation on embeddings (conversation_id, model);
comment on table embeddings is 'Vectors of passages, of any number of models side by side.';
comment on column embeddings.passage_id is 'The passage.';
comment on column embeddings.model is 'provider/model:dimensions that made it; only vectors of one model are compared.';
comment on column embeddings.conversation_id is 'The conversation.';
comment on column embeddings.embedding is 'Null: the model does not take the text, which is found by its words alone.';

create table if not exists embedding_models (model text primary key);
comment on table embedding_models is 'Models that embed or embedded here, by the name in embeddings.model.';
comment on column embedding_models.model is 'As in embeddings.';

create table if not exists unembedded (
  model text not null references embedding_models on delete cascade,
  conversation_id uuid not null references search_progress on delete cascade,
  primary key (model, conversation_id)
);
create index if not exists unembedded_by_conversation on unembedded (conversation_id);
comment on table unembedded is 'Conversations with passages that a model may not have embedded.';
comment on column unembedded.model is 'The model that embeds them next.';
comment on column unembedded.conversation_id is 'The conversation.';

create or replace function mark_unembedded() returns trigger language plpgsql as $$
begin
  insert into unembedded (model, conversation_id) select model, new.conversation_id from embedding_models
  on conflict do nothing;
  return null;
end $$;
comment on function mark_unembedded is 'Tells every model of passages that were indexed.';
create or replace trigger mark_unembedded after update of passages on search_progress
  for each row when (new.passages > old.passages) execute function mark_unembedded();

select grant_rights();
