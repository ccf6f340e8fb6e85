import type { Database } from '../database.ts';
import { transaction } from '../transaction.ts';
import { vectorText } from './embedder.ts';
import type { TextEmbedder } from './embedder.ts';

/** Texts of one request: endpoints take at least so many, and a crash repeats no more. */
const TEXTS_PER_REQUEST = 64;
const CONVERSATIONS_AT_ONCE = 20;
/** After so many conversations that failed it is the server, not a text that it does not take. */
const MOST_FAILED = 3;

/**
 * Makes the tables of vectors where pgvector is installed, and anew when model or dimensions are others than before. They are
 * no migration: Holdfast works without the extension. `false`: this Postgres has no pgvector.
 */
export async function ensureEmbeddings(sql: Database, { model, dimensions }: TextEmbedder): Promise<boolean> {
  const made = `${model}, ${dimensions} dimensions`;
  const [found] = await sql<{ has_vector: boolean; made: string | null }[]>`
    select exists (select from pg_available_extensions where name = 'vector') as has_vector,
      obj_description(to_regclass('passage_embeddings'), 'pg_class') as made`;
  if (found?.has_vector !== true) return false;
  if (found.made === made) return true;
  await transaction(sql, async (open) => {
    await open`select pg_advisory_xact_lock(hashtext('passage_embeddings'))`;
    const [now] = await open<{ made: string | null }[]>`
      select obj_description(to_regclass('passage_embeddings'), 'pg_class') as made`;
    if (now?.made === made) return;
    await open.unsafe(tables(dimensions));
    await open.unsafe(`comment on table passage_embeddings is '${made.replaceAll("'", "''")}'`);
  });
  return true;
}

/** The trigger is kept where a large deletion switches triggers off (delete_conversation). */
function tables(dimensions: number): string {
  return `
    create extension if not exists vector;
    drop table if exists passage_embeddings;
    drop table if exists embedding_progress;
    create table passage_embeddings (
      passage_id bigint primary key, conversation_id uuid not null, embedding vector(${dimensions}) not null);
    create index passage_embeddings_by_conversation on passage_embeddings (conversation_id);
    create index passage_embeddings_by_meaning on passage_embeddings using hnsw (embedding vector_cosine_ops);
    create table embedding_progress (conversation_id uuid primary key, passages integer not null);
    comment on table embedding_progress is 'How many passages of a conversation have a vector: as many as search_progress counts, or indexing is behind.';
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
    alter table passages enable always trigger forget_embeddings`;
}

/**
 * Gives vectors to passages that have none, of the conversations that are behind; off the step path, in batches, each kept
 * when the next one fails. A conversation that fails is left to the next time, and keeps none of the others from theirs.
 * Returns how many were made.
 * @param options.signal stops it, with what is made until then
 * @throws what the first of those that failed failed with, once the others are done; at the third at once
 */
export async function embedBehind(
  sql: Database,
  embedder: TextEmbedder,
  { signal }: { readonly signal: AbortSignal },
): Promise<number> {
  if (!(await ensureEmbeddings(sql, embedder))) return 0;
  let made = 0;
  const failures: { readonly id: string; readonly error: unknown }[] = [];
  for (;;) {
    const failedBefore = failures.length;
    const behind = await sql<{ id: string }[]>`
      select s.conversation_id as id from search_progress s left join embedding_progress e using (conversation_id)
      where s.passages > coalesce(e.passages, 0) and s.conversation_id <> all(${failures.map(({ id }) => id)}::uuid[])
      order by s.passages - coalesce(e.passages, 0) desc
      limit ${CONVERSATIONS_AT_ONCE}`;
    let progress = 0;
    for (const { id } of behind) {
      try {
        for (let batch = -1; batch !== 0 && !signal.aborted; progress += batch)
          batch = await embedBatch(sql, embedder, id, signal);
      } catch (error) {
        failures.push({ id, error });
        if (signal.aborted) return made + progress;
        if (failures.length >= MOST_FAILED) throw error;
      }
    }
    made += progress;
    if (signal.aborted || (progress === 0 && failures.length === failedBefore)) break;
  }
  const [first] = failures;
  if (first !== undefined) throw first.error;
  return made;
}

async function embedBatch(sql: Database, embedder: TextEmbedder, id: string, signal: AbortSignal): Promise<number> {
  const passages = await sql<{ id: string; text: string }[]>`
    select p.id, p.text from passages p
    where p.conversation_id = ${id} and not exists (select from passage_embeddings e where e.passage_id = p.id)
    order by p.created_at desc, p.id desc limit ${TEXTS_PER_REQUEST}`;
  if (passages.length === 0) return 0;
  const vectors = await embedder.embed(
    passages.map(({ text }) => text),
    signal,
  );
  return transaction(sql, async (open) => {
    // Passages that were deleted meanwhile get none; nobody deletes those that do until this is committed.
    const { count } = await open`
      insert into passage_embeddings (passage_id, conversation_id, embedding)
      select p.id, p.conversation_id, v.embedding::vector
      from unnest(${passages.map((passage) => passage.id)}::bigint[], ${vectors.map(vectorText)}::text[]) as v (id, embedding)
      join (select id, conversation_id from passages where id = any(${passages.map((passage) => passage.id)}::bigint[]) for key share) p
        on p.id = v.id
      on conflict do nothing`;
    await open`
      insert into embedding_progress as e (conversation_id, passages) select ${id}, ${count} where ${count} > 0
      on conflict (conversation_id) do update set passages = e.passages + excluded.passages`;
    return count;
  });
}
