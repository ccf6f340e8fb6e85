import type { Database, Transaction } from '../database/database.ts';
import { transaction } from '../database/transaction.ts';
import { vectorText } from './embedder.ts';
import type { MeaningSearch, TextEmbedder } from './embedder.ts';
import { bestFirst } from './rank.ts';
import type { RankedPassage } from './rank.ts';
import { passageColumns } from './read-passages.ts';
import type { ReadPassage } from './read-passages.ts';
import { isWanted } from './scope.ts';
import type { SearchedScope, SearchFilter } from './scope.ts';
import { modelKey, requireVectors } from './vector-table.ts';

/** Passages of nearest meaning that are looked at. */
const NEAREST = 50;
/** Up to so many vectors are compared with that of the query one by one. */
const ALL_COMPARED = 5_000;
/** Vectors that pgvector's index examines (hnsw.ef_search): before 0.8 all at once, and 1,000 is the most. */
const EXAMINED = 100;
const MOST_EXAMINED = 1_000;
/** How little the first rank outweighs the next, and what meaning counts of words. */
const RANK_CONSTANT = 10;
const MEANING_WEIGHT = 0.6;
/** Milliseconds after which a search goes by words alone. */
const PATIENCE_MILLISECONDS = 2_000;

interface MeaningQuery {
  readonly text: string;
  readonly query: SearchFilter;
  readonly meaning: MeaningSearch;
  readonly limit: number;
}

/** What words found, with passages of like meaning. Words alone where the query has no vector; `onFailure` is told why. */
export async function fillByMeaning(
  sql: Database,
  scope: SearchedScope,
  { text, query, meaning: { embedder, onFailure } }: MeaningQuery,
  byWords: readonly RankedPassage[],
): Promise<readonly RankedPassage[]> {
  try {
    // Before the model is asked: what is not there cannot be searched.
    await requireVectors(sql);
    const [vector] = await embedder.embed([text], AbortSignal.timeout(PATIENCE_MILLISECONDS));
    if (vector === undefined) return byWords;
    const found = await transaction(sql, (open) => nearest(open, scope, query, { embedder, text: vectorText(vector) }));
    return fuse(byWords, found);
  } catch (error) {
    onFailure?.(error);
    return byWords;
  }
}

interface NearPassage extends ReadPassage {
  /** Cosine distance, 0 to 2. */
  readonly distance: number;
}

interface QueryVector {
  readonly embedder: TextEmbedder;
  /** As pgvector reads it. */
  readonly text: string;
}

/** Of few vectors all are compared. Among many pgvector's index leads, which knows nothing of conversations, kinds and times. */
async function nearest(
  sql: Transaction,
  scope: SearchedScope,
  filter: SearchFilter,
  { embedder, text }: QueryVector,
): Promise<readonly NearPassage[]> {
  const isSmall = scope.passages <= ALL_COMPARED;
  if (!isSmall) {
    const [row] = await sql<{ iterates: boolean }[]>`
      select string_to_array(extversion, '.')::int[] >= '{0,8}' as iterates from pg_extension where extname = 'vector'`;
    const iterates = row?.iterates === true;
    await sql`select set_config('hnsw.ef_search', ${iterates ? EXAMINED : MOST_EXAMINED}::text, true)`;
    if (iterates) await sql`select set_config('hnsw.iterative_scan', 'relaxed_order', true)`;
  }
  // As the index of so many dimensions has it; a type takes no parameter.
  const distance = sql`e.embedding::${sql.unsafe(`vector(${embedder.dimensions})`)} <=> ${text}::vector`;
  const dimensions = sql`vector_dims(e.embedding) = ${sql.unsafe(String(embedder.dimensions))}`;
  return sql<NearPassage[]>`
    select f.distance, ${passageColumns(sql)}
    from (
      select p.id, ${distance} as distance
      from embeddings e join passages p on p.id = e.passage_id join conversations c on c.id = p.conversation_id
      where e.model = ${modelKey(embedder)} and ${isSmall ? sql`e.embedding is not null` : dimensions}
        and c.tenant = ${scope.tenant} and c.agent = ${scope.agent}
        ${scope.conversationId === null ? sql`` : sql`and e.conversation_id = ${scope.conversationId}`}
        ${isWanted(sql, filter)}
      order by ${isSmall ? sql`2` : distance} limit ${NEAREST}) f
    join passages p on p.id = f.id join conversations c on c.id = p.conversation_id
    order by f.distance`;
}

/**
 * Both rankings as one by weighted reciprocal ranks (Cormack, Clarke, Büttcher 2009). The weight lets the nearest few by meaning alone
 * in behind the best by words, and none of them before these.
 */
function fuse(byWords: readonly RankedPassage[], byMeaning: readonly NearPassage[]): readonly RankedPassage[] {
  const fused = new Map<string, RankedPassage>();
  for (const [rank, passage] of byWords.entries()) {
    fused.set(passage.id, { ...passage, score: 1 / (RANK_CONSTANT + rank) });
  }
  for (const [rank, passage] of byMeaning.entries()) {
    const score = MEANING_WEIGHT / (RANK_CONSTANT + rank);
    const known = fused.get(passage.id);
    const alone = {
      match: 'meaning',
      matched: [],
      isSaidByAsked: false,
      asks: false,
    } as const;
    fused.set(
      passage.id,
      known === undefined ? { ...passage, ...alone, score } : { ...known, score: known.score + score },
    );
  }
  return [...fused.values()].toSorted(bestFirst);
}
