-- For search by meaning, where pgvector is installed: applied by `holdfast db migrate --embeddings <dimensions>`.

create table embeddings (
  passage_id bigint not null references passages on delete cascade, -- The passage.
  model text not null, -- provider/model:dimensions that made it; only vectors of one model are compared.
  conversation_id uuid not null, -- The conversation.
  embedding vector, -- Null: the model does not take the text, which is found by its words alone.
  primary key (passage_id, model)
);
create index embeddings_by_conversation on embeddings (conversation_id, model);
comment on table embeddings is 'Vectors of passages, of any number of models side by side.';

create table embedding_models (
  model text primary key -- As in embeddings.
);
comment on table embedding_models is 'Models that embed or embedded here, by the name in embeddings.model.';

create table unembedded (
  model text not null references embedding_models on delete cascade, -- The model that embeds them next.
  conversation_id uuid not null references search_progress on delete cascade, -- The conversation.
  primary key (model, conversation_id)
);
create index unembedded_by_conversation on unembedded (conversation_id);
comment on table unembedded is 'Conversations with passages that a model may not have embedded.';

create function mark_unembedded() returns trigger language plpgsql as $$
begin
  insert into unembedded (model, conversation_id) select model, new.conversation_id from embedding_models
  on conflict do nothing;
  return null;
end $$;
comment on function mark_unembedded is 'Tells every model of passages that were indexed.';
create trigger mark_unembedded after update of passages on search_progress
  for each row when (new.passages > old.passages) execute function mark_unembedded();
comment on trigger mark_unembedded on search_progress is 'Tells every model of passages that were indexed.';

select grant_rights();
