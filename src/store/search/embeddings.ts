import type { Database } from '../database/database.ts';
import { transaction } from '../database/transaction.ts';
import { hasVectors, modelKey, vectorText } from './find-by-meaning.ts';
import type { TextEmbedder } from './find-by-meaning.ts';
import type { ReadPassage } from './read-passages.ts';

/** Passages of one request, most of them with three texts: endpoints take at least so many, and a crash repeats no more. */
const PASSAGES_PER_REQUEST = 32;
/** Turns of the talk behind which a passage is embedded too. */
const TURNS_BEFORE = 2;
/** After so many conversations that failed the server is at fault, not a text. */
const MOST_FAILED = 3;
/** Statuses of an endpoint that does not take a text: it is not as it should be, or too long. */
const TEXT_REFUSED: ReadonlySet<unknown> = new Set([400, 413, 422]);
/** Any model that works takes it: it tells a refused text from a server that refuses everything. */
const HARMLESS_TEXT = 'hello';

/**
 * Gives vectors to passages that have none, conversation by conversation, each batch kept when the next one fails. A conversation
 * that fails is left to the next call. A text that the model does not take is passed over for good. Vectors of other models stay.
 * @param of.taskQueue only conversations of this queue: its workers' provider is told no text of others. Default: all
 * @returns how many vectors were made; 0 in a database without the optional migration of vectors
 * @throws the first failure, once the other conversations are done; at the third at once
 */
export async function embedBehind(
  sql: Database,
  embedder: TextEmbedder,
  { signal, taskQueue = null }: { readonly signal: AbortSignal; readonly taskQueue?: string | null },
): Promise<number> {
  if (!(await hasVectors(sql))) return 0;
  const model = modelKey(embedder);
  await registerModel(sql, model);
  const failures = new Map<string, unknown>();
  let made = 0;
  while (!signal.aborted) {
    const [next] = await sql<{ id: string }[]>`
      select u.conversation_id as id from unembedded u
      ${taskQueue === null ? sql`` : sql`join conversations c on c.id = u.conversation_id and c.task_queue = ${taskQueue}`}
      where u.model = ${model} and u.conversation_id <> all(${[...failures.keys()]}::uuid[]) limit 1`;
    if (next === undefined) break;
    try {
      made += await embedBatch(sql, embedder, next.id, signal);
    } catch (error) {
      if (signal.aborted) return made;
      failures.set(next.id, error);
      if (failures.size >= MOST_FAILED) throw error;
    }
  }
  for (const error of failures.values()) throw error;
  return made;
}

/**
 * A model that the database does not know has to embed every conversation. Once in its life indexing waits for this, of all tenants: no
 * step does, and without the lock a batch that is being indexed might never be embedded.
 */
async function registerModel(sql: Database, model: string): Promise<void> {
  const known = await sql`select from embedding_models where model = ${model}`;
  if (known.length > 0) return;
  await transaction(sql, async (open) => {
    await open`lock table search_progress in share row exclusive mode`;
    await open`insert into embedding_models (model) values (${model}) on conflict do nothing`;
    await open`
      insert into unembedded (model, conversation_id)
      select ${model}, conversation_id from search_progress where passages > 0 on conflict do nothing`;
  });
}

async function embedBatch(sql: Database, embedder: TextEmbedder, id: string, signal: AbortSignal): Promise<number> {
  const model = modelKey(embedder);
  const isMissing = sql`
    p.conversation_id = ${id} and not exists (
      select from embeddings e where e.passage_id = p.id and e.model = ${model})`;
  const passages = await sql<Passage[]>`
    select p.id, p.conversation_id, p.text, array(
        select b.text from passages b
        where b.conversation_id = p.conversation_id and b.place between p.place - ${TURNS_BEFORE} and p.place - 1
        order by b.place) as before
    from passages p where ${isMissing} order by p.created_at desc, p.id desc limit ${PASSAGES_PER_REQUEST}`;
  if (passages.length > 0) return embedPassages(sql, embedder, passages, signal);
  await transaction(sql, async (open) => {
    // Whoever indexes has it locked, and marks the conversation again.
    await open`select from search_progress where conversation_id = ${id} for no key update`;
    await open`
      delete from unembedded where model = ${model} and conversation_id = ${id}
        and not exists (select from passages p where ${isMissing})`;
  });
  return 0;
}

type Passage = Pick<ReadPassage, 'id' | 'conversationId' | 'text'> & { readonly before: readonly string[] };

/** Halves what is refused until the text that is not taken stands alone. */
async function embedPassages(
  sql: Database,
  embedder: TextEmbedder,
  passages: readonly Passage[],
  signal: AbortSignal,
): Promise<number> {
  try {
    const vectors = await embedder.embed(passages.flatMap(textsOf), signal);
    let used = 0;
    const means = passages.map((passage) => meanOf(vectors.slice(used, (used += textsOf(passage).length))));
    return await storeVectors(sql, embedder, passages, means.map(vectorText));
  } catch (error) {
    if (signal.aborted || !isTextRefused(error)) throw error;
  }
  if (passages.length === 1) {
    // A server that takes nothing fails here: no text is passed over for the server's fault.
    await embedder.embed([HARMLESS_TEXT], signal);
    await storeVectors(sql, embedder, passages, [null]);
    return 0;
  }
  const middle = Math.ceil(passages.length / 2);
  const first = await embedPassages(sql, embedder, passages.slice(0, middle), signal);
  return first + (await embedPassages(sql, embedder, passages.slice(middle), signal));
}

/** "In Porto" means little without its question, so a turn counts by itself, behind the one before, and twice behind both before. */
function textsOf({ text, before }: Passage): readonly string[] {
  return [text, ...before.map((_, turn) => [...before.slice(before.length - 1 - turn), text].join('\n'))];
}

/** Shorter where the texts point in other directions: such a passage is of less than one meaning. */
function meanOf(vectors: readonly (readonly number[])[]): readonly number[] {
  const weights = vectors.map((_, index) => (index === TURNS_BEFORE ? 2 : 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = vectors.map((vector, index) => (weights[index] ?? 0) / total / (Math.hypot(...vector) || 1));
  const [first = []] = vectors;
  return first.map((_, at) =>
    vectors.reduce((sum, vector, index) => sum + (shares[index] ?? 0) * (vector[at] ?? 0), 0),
  );
}

function isTextRefused(error: unknown): boolean {
  return error instanceof Error && 'status' in error && TEXT_REFUSED.has(error.status);
}

/** @param vectors of the passages, all of one conversation, in order; `null` for one that is passed over */
async function storeVectors(
  sql: Database,
  embedder: TextEmbedder,
  passages: readonly Passage[],
  vectors: readonly (string | null)[],
): Promise<number> {
  return transaction(sql, async (open) => {
    // Before the passages, as `forget_passages` locks them.
    await open`
      select from search_progress where conversation_id = ${passages[0]?.conversationId ?? null} for no key update`;
    // Passages that were deleted meanwhile get none; nobody deletes those that do until this is committed.
    const { count } = await open`
      insert into embeddings (passage_id, model, conversation_id, embedding)
      select p.id, ${modelKey(embedder)}, p.conversation_id, v.embedding::vector
      from unnest(${passages.map(({ id }) => id)}::bigint[], ${[...vectors]}::text[]) as v (id, embedding)
      cross join lateral (select id, conversation_id from passages where id = v.id for key share) p
      on conflict do nothing`;
    return count;
  });
}
