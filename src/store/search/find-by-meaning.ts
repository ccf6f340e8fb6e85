import type { EmbeddingClient } from '../../models/embedder.ts';
import type { Database, Transaction, Queries } from '../database/database.ts';
import { transaction } from '../database/transaction.ts';
import { arrange } from './arrange.ts';
import type { ArrangedPassage } from './arrange.ts';
import { plain } from './phrases.ts';
import { WITHOUT_WORDS } from './rank.ts';
import { isOfScope, passageColumns } from './read-passages.ts';
import type { ReadPassage } from './read-passages.ts';
import { isWanted } from './scope.ts';
import type { SearchedScope } from './scope.ts';
import type { RecallFilter } from '../../tools/tool.ts';

/** Passages of nearest meaning that are looked at. */
const NEAREST = 50;
/** Up to so many vectors are compared with that of the query one by one. */
const ALL_COMPARED = 5_000;
/** Reciprocal rank fusion: smaller numbers let the first ranks count more. */
const RANK_OFFSET = 10;
/** What a rank by meaning counts of one by words: of 1.5 to 3, measured, the one that finds most without harm to near questions. */
const SHARE_OF_MEANING = 2;
/** Milliseconds after which a search goes by words alone. */
const PATIENCE_MILLISECONDS = 2_000;
const NO_VECTORS =
  'this database has no table for vectors: `npx holdfast db migrate --embeddings <dimensions>` makes it';

/** What words found, joined with passages of like meaning. Words alone where the query has no vector; `onFailure` is told why. */
export async function joinByMeaning(
  sql: Database,
  scope: SearchedScope,
  query: RecallFilter & { readonly text: string; readonly exceptEntryId?: string },
  { embedder, onFailure }: MeaningSearch,
  byWords: readonly ArrangedPassage[],
): Promise<readonly ArrangedPassage[]> {
  try {
    // Before the model is asked: what is not there cannot be searched.
    if (!(await hasVectors(sql))) throw new Error(NO_VECTORS);
    const [vector] = await embedder.embed([query.text], AbortSignal.timeout(PATIENCE_MILLISECONDS), 'query');
    if (vector === undefined) return byWords;
    const near = await transaction(sql, (open) => nearest(open, scope, query, embedder, vectorText(vector)));
    return fuse(
      byWords,
      near.filter(({ sourceId, offset }) => sourceId !== query.exceptEntryId || offset > 0),
    );
  } catch (error) {
    onFailure?.(error);
    return byWords;
  }
}

/** With their inner product with the query, negative: vectors of passages have at most the length 1. */
type NearPassage = ReadPassage & { readonly distance: number };

/** Of few vectors all are compared. Among many pgvector's index leads, which knows nothing of conversations, kinds and times. */
async function nearest(
  sql: Transaction,
  scope: SearchedScope,
  filter: RecallFilter,
  embedder: TextEmbedder,
  vector: string,
): Promise<readonly NearPassage[]> {
  const isSmall = scope.passages <= ALL_COMPARED;
  if (!isSmall) {
    await sql`select set_config('hnsw.ef_search', '100', true), set_config('hnsw.iterative_scan', 'relaxed_order', true)`;
  }
  // As the index of so many dimensions has it; a type takes no parameter.
  const distance = sql`e.embedding::${sql.unsafe(`vector(${embedder.dimensions})`)} <#> ${vector}::vector`;
  const dimensions = sql`vector_dims(e.embedding) = ${sql.unsafe(String(embedder.dimensions))}`;
  return sql<NearPassage[]>`
    select f.distance, ${passageColumns(sql)}
    from (
      select p.id, ${distance} as distance
      from embeddings e join passages p on p.id = e.passage_id join conversations c on c.id = e.conversation_id
      where e.model = ${modelKey(embedder)} and ${isSmall ? sql`e.embedding is not null` : dimensions}
        and ${isOfScope(sql, scope)} ${isWanted(sql, filter)}
      order by ${isSmall ? sql`2` : distance} limit ${NEAREST}) f
    join passages p on p.id = f.id join conversations c on c.id = p.conversation_id
    order by f.distance`;
}

/** Ranks by both lists. What words put first stays first, and so do phrases: a weak model must not push an exact hit down. */
function fuse(byWords: readonly ArrangedPassage[], near: readonly NearPassage[]): readonly ArrangedPassage[] {
  const known = new Map(byWords.map((passage) => [passage.id, passage]));
  const texts = new Set(byWords.map(({ text }) => plain(text)));
  const byMeaning = arrange(
    near
      .filter(({ id, text }) => known.has(id) || !texts.has(plain(text)))
      .map((passage) => {
        const alone = Object.assign({ match: 'meaning' as const }, WITHOUT_WORDS, passage);
        return Object.assign({}, known.get(passage.id) ?? alone, { score: -passage.distance });
      }),
  );
  const scores = new Map(byWords.map(({ id, match }, rank) => [id, byRank(rank, match === 'phrase' || rank === 0)]));
  for (const [rank, { id }] of byMeaning.entries()) {
    scores.set(id, (scores.get(id) ?? 0) + SHARE_OF_MEANING * byRank(rank));
  }
  const all = new Map([...byMeaning, ...byWords].map((passage) => [passage.id, passage]));
  return [...all.values()].toSorted((one, other) => (scores.get(other.id) ?? 0) - (scores.get(one.id) ?? 0));
}

function byRank(rank: number, isFirst = false): number {
  return 1 / (RANK_OFFSET + rank) + (isFirst ? 1 : 0);
}

/** The same, for clients, which do not import `src/models`. */
export type TextEmbedder = EmbeddingClient;

export interface MeaningSearch {
  readonly embedder: TextEmbedder;
  readonly onFailure?: (error: unknown) => void;
}

export function vectorText(vector: readonly number[]): string {
  return `[${vector.join(',')}]`;
}

/** Names vectors that can be compared with each other: those of one model in one number of dimensions. */
export function modelKey({ model, dimensions }: TextEmbedder): string {
  return `${model}:${dimensions}`;
}

export async function hasVectors(sql: Queries): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`select to_regclass('holdfast.embeddings') is not null as found`;
  return row?.found === true;
}
