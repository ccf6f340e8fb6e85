import type { Database, Queries, Transaction } from '../database.ts';
import { StoreError } from '../errors.ts';
import { transaction } from '../transaction.ts';
import type { TextEmbedder } from './embedder.ts';

const NO_VECTORS =
  'this database has no vectors: its Postgres has no pgvector, or upkeep has not made any yet (`npx holdfast reindex` does)';

interface TableState {
  readonly has_vector: boolean;
  /** Model and dimensions that the table was made for; `null`: there is none. */
  readonly made: string | null;
  /** Made by a version that passed no text over. */
  readonly takes_all: boolean;
  /** Made by a version that did not count the vectors of an agent. */
  readonly is_uncounted: boolean;
}

/**
 * Makes the tables of vectors where pgvector is installed. Those of another model or other dimensions are made anew only when told so:
 * of two workers with different models neither drops what the other makes. They are no migration: Holdfast works without the extension.
 * @returns `false`: this Postgres has no pgvector
 * @throws StoreError `vectors_differ` when the table is of another model, and is not to be made anew
 */
export async function ensureEmbeddings(
  sql: Database,
  embedder: TextEmbedder,
  { isAnew }: { readonly isAnew: boolean },
): Promise<boolean> {
  const wanted = describe(embedder);
  const found = await readState(sql);
  if (!found.has_vector) return false;
  if (found.made === wanted && !found.takes_all && !found.is_uncounted) return true;
  await transaction(sql, async (open) => {
    await open`select pg_advisory_xact_lock(hashtext('passage_embeddings'))`;
    const now = await readState(open);
    if (now.made === wanted) {
      if (now.takes_all) await open`alter table passage_embeddings alter column embedding drop not null`;
      if (now.is_uncounted) await open`select keep_vectors_of_agents()`;
      return;
    }
    if (now.made !== null && !isAnew) throw otherModel(now.made, wanted);
    await open.unsafe(tables(embedder.dimensions));
    await open.unsafe(`comment on table passage_embeddings is '${wanted.replaceAll("'", "''")}'`);
  });
  return true;
}

/** @throws Error when there are no vectors; StoreError `vectors_differ` when they cannot be compared with those of this model */
export async function requireVectorsOf(sql: Queries, embedder: TextEmbedder): Promise<void> {
  const [table] = await sql<{ made: string | null }[]>`
    select obj_description(to_regclass('passage_embeddings'), 'pg_class') as made`;
  const made = table?.made ?? null;
  if (made === null) throw new Error(NO_VECTORS);
  if (made !== describe(embedder)) throw otherModel(made, describe(embedder));
}

/** Until the transaction ends the table stays that of this model. @throws StoreError `vectors_differ` when it is another one's by now */
export async function holdVectorsOf(open: Transaction, embedder: TextEmbedder): Promise<void> {
  await open`select pg_advisory_xact_lock_shared(hashtext('passage_embeddings'))`;
  await requireVectorsOf(open, embedder);
}

function describe({ model, dimensions }: TextEmbedder): string {
  return `${model}, ${dimensions} dimensions`;
}

function otherModel(made: string, wanted: string): StoreError {
  return new StoreError(
    'vectors_differ',
    `the vectors of this database are of ${made}; embeddings in holdfast.yaml names ${wanted}: name one model for all workers and commands; ` +
      'a worker that starts, or `npx holdfast reindex`, makes all vectors anew with its own',
  );
}

async function readState(sql: Queries): Promise<TableState> {
  const [state] = await sql<TableState[]>`
    select exists (select from pg_available_extensions where name = 'vector') as has_vector,
      obj_description(to_regclass('passage_embeddings'), 'pg_class') as made,
      exists (
        select from pg_attribute a where a.attrelid = to_regclass('passage_embeddings') and a.attname = 'embedding' and a.attnotnull
      ) as takes_all,
      not exists (
        select from pg_attribute a where a.attrelid = to_regclass('embedding_progress') and a.attname = 'agent_number' and not a.attisdropped
      ) as is_uncounted`;
  return state ?? { has_vector: false, made: null, takes_all: false, is_uncounted: false };
}

/** The trigger is kept where a large deletion switches triggers off (delete_conversation). */
function tables(dimensions: number): string {
  return `
    create extension if not exists vector;
    drop table if exists passage_embeddings;
    drop table if exists embedding_progress;
    create table passage_embeddings (
      passage_id bigint primary key, conversation_id uuid not null, embedding vector(${dimensions}));
    comment on column passage_embeddings.embedding is 'Null: the model does not take the text, which is found by its words alone.';
    create index passage_embeddings_by_conversation on passage_embeddings (conversation_id);
    create index passage_embeddings_by_meaning on passage_embeddings using hnsw (embedding vector_cosine_ops);
    create table embedding_progress (conversation_id uuid primary key, passages integer not null);
    comment on table embedding_progress is 'How many passages of a conversation have a vector or were passed over: as many as search_progress counts, or indexing is behind.';
    create or replace function forget_embeddings() returns trigger language plpgsql as $$
    begin
      with gone as (
        delete from passage_embeddings e using gone_passages g where e.passage_id = g.id returning e.conversation_id)
      update embedding_progress p set passages = p.passages - c.passages
      from (select conversation_id, count(*)::integer as passages from gone group by 1) c
      where p.conversation_id = c.conversation_id;
      delete from embedding_progress where passages <= 0;
      return null;
    end $$;
    drop trigger if exists forget_embeddings on passages;
    create trigger forget_embeddings after delete on passages referencing old table as gone_passages
      for each statement execute function forget_embeddings();
    alter table passages enable always trigger forget_embeddings;
    select keep_vectors_of_agents()`;
}
