import type { Database, Fragment, Transaction } from '../database.ts';
import { transaction } from '../transaction.ts';
import { vectorText } from './embedder.ts';
import type { MeaningSearch, TextEmbedder } from './embedder.ts';
import { inTime } from './filtered-passages.ts';
import type { SearchFilter } from './filtered-passages.ts';
import { passageColumns, toCandidate } from './find-candidates.ts';
import type { PassageRow } from './find-candidates.ts';
import type { Candidate, RankedCandidate } from './candidate.ts';
import { BLOCK_PASSAGES } from './postings.ts';
import { bestFirst } from './rank.ts';
import type { SearchedScope } from './scope.ts';
import { modelKey, requireVectors } from './vector-table.ts';

/** Passages of nearest meaning that are looked at. */
const NEAREST = 50;
/** Up to so many vectors are compared with that of the query one by one. */
const ALL_COMPARED = 5_000;
/** Vectors that the index looks at in one go, and at most (hnsw.ef_search: 40 by default, 1,000 at most). */
const LOOKED_AT = 100;
const MOST_LOOKED_AT = 1_000;
/** Milliseconds after which a search goes by words alone. */
const PATIENCE_MILLISECONDS = 2_000;
/** Reciprocal rank fusion's constant, as in its paper (Cormack, Clarke, Büttcher 2009): how little the first rank outweighs the next. */
const RANK_CONSTANT = 60;

/** Passages of like meaning, nearest first. None when the query has no vector: that search goes by words alone, and says so. */
export async function findByMeaning(
  sql: Database,
  scope: SearchedScope,
  text: string,
  filter: SearchFilter,
  { embedder, onFailure }: MeaningSearch,
): Promise<readonly Candidate[]> {
  try {
    // Before the model is asked: what is not there cannot be searched.
    await requireVectors(sql);
    const [vector] = await embedder.embed([text], AbortSignal.timeout(PATIENCE_MILLISECONDS));
    if (vector === undefined) return [];
    const rows = await transaction(sql, (open) => nearest(open, scope, filter, { embedder, text: vectorText(vector) }));
    return rows.map((row) => toCandidate(row));
  } catch (error) {
    onFailure?.(error);
    return [];
  }
}

/** Of the query, as pgvector reads it. */
interface QueryVector {
  readonly embedder: TextEmbedder;
  readonly text: string;
}

/**
 * Of few vectors all are compared. Among many pgvector's index leads, which knows nothing of conversations, kinds and times: it goes
 * on until enough of what it finds is in scope (from pgvector 0.8), or looks at as many as it can at once.
 */
async function nearest(
  sql: Transaction,
  scope: SearchedScope,
  filter: SearchFilter,
  vector: QueryVector,
): Promise<readonly PassageRow[]> {
  const { conversationId, agentNumber } = scope;
  const model = modelKey(vector.embedder);
  const counted =
    conversationId === null
      ? // Each row counts one passage at least, so it is known of these whether there are more than are compared.
        sql`select sum(passages)::int from (
          select passages from embedding_progress where agent_number = ${agentNumber} and model = ${model}
          limit ${ALL_COMPARED + 1}) counted`
      : sql`select passages from embedding_progress where conversation_id = ${conversationId} and model = ${model}`;
  const [known] = await sql<{ vectors: number; goes_on: boolean }[]>`
    select coalesce((${counted}), 0) as vectors,
      (select string_to_array(extversion, '.')::int[] >= '{0,8}' from pg_extension where extname = 'vector') as goes_on`;
  const isSmall = known === undefined || known.vectors <= ALL_COMPARED;
  if (!isSmall) {
    await sql`select set_config('hnsw.ef_search', ${known.goes_on ? LOOKED_AT : MOST_LOOKED_AT}::text, true)`;
    if (known.goes_on) await sql`select set_config('hnsw.iterative_scan', 'relaxed_order', true)`;
  }
  // As the index of so many dimensions has it; a type takes no parameter.
  const distance = sql`e.embedding::${sql.unsafe(`vector(${vector.embedder.dimensions})`)} <=> ${vector.text}::vector`;
  return sql<PassageRow[]>`
    with found as materialized (
      select p.*, ${distance} as distance
      from (${isSmall ? allVectors(sql, scope, model) : ledVectors(sql, scope, vector.embedder)}) e join passages p on p.id = e.passage_id
      where true ${filter.kinds === undefined ? sql`` : sql`and p.kind = any(${[...filter.kinds]})`} ${inTime(sql, filter)}
      order by ${distance} limit ${NEAREST})
    select ${passageColumns(sql)} from found p order by p.distance`;
}

/** Few, and "offset 0" keeps the planner from the index by meaning. */
function allVectors(sql: Transaction, { conversationId, agentNumber }: SearchedScope, model: string): Fragment {
  return sql`
    select passage_id, embedding from embeddings
    where embedding is not null and model = ${model} and conversation_id ${
      conversationId === null
        ? sql`in (select conversation_id from embedding_progress where agent_number = ${agentNumber} and model = ${model})`
        : sql`= ${conversationId}`
    } offset 0`;
}

/** Whose a vector is its block tells: a search of an agent must not gather its conversations, of which there may be a hundred thousand. */
function ledVectors(
  sql: Transaction,
  { conversationId, agentNumber }: SearchedScope,
  embedder: TextEmbedder,
): Fragment {
  return sql`
    select passage_id, embedding from embeddings
    where vector_dims(embedding) = ${sql.unsafe(String(embedder.dimensions))} and model = ${modelKey(embedder)} and ${
      conversationId === null
        ? sql`(select b.agent_number from search_blocks b where b.number = (passage_id / ${BLOCK_PASSAGES})::int) = ${agentNumber}`
        : sql`conversation_id = ${conversationId}`
    }`;
}

/** Both rankings as one by reciprocal ranks; what has the query as it is stays first. */
export function fuse(byWords: readonly RankedCandidate[], byMeaning: readonly Candidate[]): RankedCandidate[] {
  if (byMeaning.length === 0) return [...byWords];
  const fused = new Map<string, RankedCandidate>();
  for (const [rank, candidate] of byWords.entries()) {
    fused.set(keyOf(candidate), { ...candidate, score: reciprocal(rank), scoreByWords: candidate.score });
  }
  for (const [rank, candidate] of byMeaning.entries()) {
    const known = fused.get(keyOf(candidate));
    fused.set(keyOf(candidate), {
      ...(known ?? { ...candidate, match: 'meaning', matched: [], isSaidByAsked: false, asks: false }),
      score: (known?.score ?? 0) + reciprocal(rank),
    });
  }
  return [...fused.values()].toSorted(bestFirst);
}

function reciprocal(rank: number): number {
  return 1 / (RANK_CONSTANT + rank + 1);
}

function keyOf({ sourceId, offset }: Candidate): string {
  return `${sourceId} ${offset}`;
}
