import type { Database } from '../database/database.ts';
import { transaction } from '../database/transaction.ts';
import { vectorText } from './embedder.ts';
import type { TextEmbedder } from './embedder.ts';
import { hasVectors, modelKey } from './vector-table.ts';

/** Texts of one request: endpoints take at least so many, and a crash repeats no more. */
const TEXTS_PER_REQUEST = 64;
const CONVERSATIONS_AT_ONCE = 20;
/** After so many conversations that failed it is the server, not a text that it does not take. */
const MOST_FAILED = 3;

/** What an endpoint answers that does not take a text: it is not as it should be, or too long. */
const TEXT_REFUSED: ReadonlySet<unknown> = new Set([400, 413, 422]);
/** Taken by any model that works at all: by it shows whether the server refuses a text or everything. */
const HARMLESS_TEXT = 'hello';

/**
 * Gives vectors to passages that have none, of the conversations that are behind; off the step path, in batches, each kept
 * when the next one fails. A conversation that fails is left to the next time, and keeps none of the others from theirs.
 * A text that the model does not take is passed over for good, and keeps no other from its vector. Vectors of other models stay.
 * Returns how many were made: none in a database without the optional migration of vectors.
 * @param signal stops it, with what is made until then
 * @throws what the first of those that failed failed with, once the others are done; at the third at once
 */
export async function embedBehind(sql: Database, embedder: TextEmbedder, signal: AbortSignal): Promise<number> {
  if (!(await hasVectors(sql))) return 0;
  const model = modelKey(embedder);
  let made = 0;
  const failures: { readonly id: string; readonly error: unknown }[] = [];
  for (;;) {
    const failedBefore = failures.length;
    const behind = await sql<{ id: string }[]>`
      select s.id from (
        select conversation_id as id, passages - coalesce((embedded ->> ${model})::int, 0) as missing from search_progress) s
      where s.missing > 0 and s.id <> all(${failures.map(({ id }) => id)}::uuid[])
      order by s.missing desc limit ${CONVERSATIONS_AT_ONCE}`;
    let progress = 0;
    for (const { id } of behind) {
      try {
        for (let isDone = false; !isDone && !signal.aborted;) {
          const batch = await embedBatch(sql, embedder, id, signal);
          isDone = batch.done === 0;
          progress += batch.done;
          made += batch.made;
        }
      } catch (error) {
        failures.push({ id, error });
        if (signal.aborted) return made;
        if (failures.length >= MOST_FAILED) throw error;
      }
    }
    if (signal.aborted || behind.length < CONVERSATIONS_AT_ONCE || (progress === 0 && failures.length === failedBefore))
      break;
  }
  const [first] = failures;
  if (first !== undefined) throw first.error;
  return made;
}

interface Passage {
  readonly id: string;
  readonly text: string;
}

/** Returns how many passages are done; 0 when none is left. */
async function embedBatch(sql: Database, embedder: TextEmbedder, id: string, signal: AbortSignal): Promise<Batch> {
  const passages = await sql<Passage[]>`
    select p.id, p.text from passages p
    where p.conversation_id = ${id} and not exists (
      select from embeddings e where e.passage_id = p.id and e.model = ${modelKey(embedder)})
    order by p.created_at desc, p.id desc limit ${TEXTS_PER_REQUEST}`;
  if (passages.length === 0) return { done: 0, made: 0 };
  return embedPassages(sql, embedder, { conversationId: id, passages, signal });
}

interface Batch {
  readonly done: number;
  /** Of them, those that have a vector. */
  readonly made: number;
}

interface PassagesToEmbed {
  readonly conversationId: string;
  readonly passages: readonly Passage[];
  readonly signal: AbortSignal;
}

/** What is refused is asked for by halves, until the text that is not taken stands alone. */
async function embedPassages(sql: Database, embedder: TextEmbedder, wanted: PassagesToEmbed): Promise<Batch> {
  const { passages, signal } = wanted;
  try {
    const texts = passages.map(({ text }) => text);
    const vectors = (await embedder.embed(texts, signal)).map(vectorText);
    const done = await storeVectors(sql, embedder, wanted, vectors);
    return { done, made: done };
  } catch (error) {
    if (signal.aborted || !isTextRefused(error)) throw error;
    if (passages.length === 1) {
      // A server that takes nothing fails here: what is the server's fault passes no text over.
      await embedder.embed([HARMLESS_TEXT], signal);
      return { done: await storeVectors(sql, embedder, wanted, [null]), made: 0 };
    }
  }
  const middle = Math.ceil(passages.length / 2);
  const first = await embedPassages(sql, embedder, { ...wanted, passages: passages.slice(0, middle) });
  const second = await embedPassages(sql, embedder, { ...wanted, passages: passages.slice(middle) });
  return { done: first.done + second.done, made: first.made + second.made };
}

function isTextRefused(error: unknown): boolean {
  return error instanceof Error && 'status' in error && TEXT_REFUSED.has(error.status);
}

/** @param vectors of the passages, in order; `null` for one that is passed over */
async function storeVectors(
  sql: Database,
  embedder: TextEmbedder,
  { conversationId, passages }: PassagesToEmbed,
  vectors: readonly (string | null)[],
): Promise<number> {
  const ids = passages.map(({ id }) => id);
  return transaction(sql, async (open) => {
    const model = modelKey(embedder);
    // Before the passages, as `forget_passages` locks them.
    await open`select from search_progress where conversation_id = ${conversationId} for no key update`;
    // Passages that were deleted meanwhile get none; nobody deletes those that do until this is committed.
    const { count } = await open`
      insert into embeddings (passage_id, model, conversation_id, embedding)
      select p.id, ${model}, p.conversation_id, v.embedding::vector
      from unnest(${ids}::bigint[], ${[...vectors]}::text[]) as v (id, embedding)
      join (select id, conversation_id from passages where id = any(${ids}::bigint[]) for key share) p
        on p.id = v.id
      on conflict do nothing`;
    await open`
      update search_progress
      set embedded = embedded || jsonb_build_object(${model}::text, coalesce((embedded ->> ${model})::int, 0) + ${count}::int)
      where conversation_id = ${conversationId}`;
    return count;
  });
}
