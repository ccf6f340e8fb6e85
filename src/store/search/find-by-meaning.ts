import type { Database } from '../database.ts';
import { vectorText } from './embedder.ts';
import type { MeaningSearch } from './embedder.ts';
import { inTime, passageColumns, toCandidate } from './find-candidates.ts';
import type { PassageRow, SearchFilter } from './find-candidates.ts';
import type { Candidate, RankedCandidate } from './rank.ts';
import { bestFirst } from './rank.ts';
import type { SearchedScope } from './scope.ts';

/** Passages of nearest meaning that are looked at. */
const NEAREST = 50;
/** Milliseconds after which a search goes by words alone. */
const PATIENCE_MILLISECONDS = 2_000;
/** Reciprocal rank fusion's constant, as in its paper (Cormack, Clarke, Büttcher 2009): how little the first rank outweighs the next. */
const RANK_CONSTANT = 60;

const NO_VECTORS =
  'this database has no vectors: its Postgres has no pgvector, or upkeep has not made any yet (`npx holdfast reindex` does)';

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
    const [table] = await sql<{ exists: boolean }[]>`select to_regclass('passage_embeddings') is not null as exists`;
    if (table?.exists !== true) throw new Error(NO_VECTORS);
    const [vector] = await embedder.embed([text], AbortSignal.timeout(PATIENCE_MILLISECONDS));
    if (vector === undefined) return [];
    const rows = await sql<PassageRow[]>`
      select ${passageColumns(sql)} from passage_embeddings e join passages p on p.id = e.passage_id
      where ${
        scope.conversationId === null
          ? sql`e.conversation_id in (select id from conversations where agent = ${scope.agent})`
          : sql`e.conversation_id = ${scope.conversationId}`
      } ${filter.kinds === undefined ? sql`` : sql`and p.kind = any(${[...filter.kinds]})`} ${inTime(sql, filter)}
      order by e.embedding <=> ${vectorText(vector)}::vector limit ${NEAREST}`;
    return rows.map((row) => toCandidate(row, 0));
  } catch (error) {
    onFailure?.(error);
    return [];
  }
}

/** Both rankings as one by reciprocal ranks; what has the query as it is stays first. */
export function fuse(byWords: readonly RankedCandidate[], byMeaning: readonly Candidate[]): RankedCandidate[] {
  if (byMeaning.length === 0) return [...byWords];
  const fused = new Map<string, RankedCandidate>();
  for (const [rank, candidate] of byWords.entries()) {
    fused.set(keyOf(candidate), { ...candidate, score: reciprocal(rank) });
  }
  for (const [rank, candidate] of byMeaning.entries()) {
    const known = fused.get(keyOf(candidate));
    fused.set(keyOf(candidate), {
      ...(known ?? { ...candidate, match: 'meaning', matched: [], isSaidByAsked: false }),
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
