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

select grant_rights();
