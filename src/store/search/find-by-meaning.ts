import type { Database, Transaction } from '../database/database.ts';
import { transaction } from '../database/transaction.ts';
import { arrange } from './arrange.ts';
import type { ArrangedPassage } from './arrange.ts';
import { hasVectors, modelKey, vectorText } from './embedder.ts';
import type { MeaningSearch, TextEmbedder } from './embedder.ts';
import { plain } from './phrases.ts';
import { WITHOUT_WORDS } from './rank.ts';
import { passageColumns } from './read-passages.ts';
import type { ReadPassage } from './read-passages.ts';
import { isWanted } from './scope.ts';
import type { SearchedScope, SearchFilter } from './scope.ts';

/** Passages of nearest meaning that are looked at. */
const NEAREST = 50;
/** Up to so many vectors are compared with that of the query one by one. */
const ALL_COMPARED = 5_000;
/** Passages that words put first stay there, so that a weak model cannot harm: meaning fills what is behind. */
const FIRST_BY_WORDS = 7;
/** Milliseconds after which a search goes by words alone. */
const PATIENCE_MILLISECONDS = 2_000;

const NO_VECTORS =
  'this database has no table for vectors: `npx holdfast db migrate --embeddings <dimensions>` makes it';

interface MeaningQuery extends SearchFilter {
  readonly text: string;
  readonly exceptEntryId?: string;
}

/** What words found, with passages of like meaning. Words alone where the query has no vector; `onFailure` is told why. */
export async function fillByMeaning(
  sql: Database,
  scope: SearchedScope,
  { text, exceptEntryId, ...filter }: MeaningQuery,
  { embedder, onFailure }: MeaningSearch,
  byWords: readonly ArrangedPassage[],
): Promise<readonly ArrangedPassage[]> {
  try {
    // Before the model is asked: what is not there cannot be searched.
    if (!(await hasVectors(sql))) throw new Error(NO_VECTORS);
    const [vector] = await embedder.embed([text], AbortSignal.timeout(PATIENCE_MILLISECONDS), 'query');
    if (vector === undefined) return byWords;
    const query = { embedder, text: vectorText(vector) };
    const near = await transaction(sql, (open) => nearest(open, scope, filter, query));
    return fill(
      byWords,
      near.filter(({ sourceId, offset }) => sourceId !== exceptEntryId || offset > 0),
    );
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
    await sql`select set_config('hnsw.ef_search', '100', true), set_config('hnsw.iterative_scan', 'relaxed_order', true)`;
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

function fill(byWords: readonly ArrangedPassage[], near: readonly NearPassage[]): readonly ArrangedPassage[] {
  const known = new Map(byWords.map((passage) => [passage.id, passage]));
  const isFirst = ({ match }: ArrangedPassage, rank: number): boolean => rank < FIRST_BY_WORDS || match === 'phrase';
  const first = byWords.filter(isFirst);
  const isListed = new Set(first.map(({ text }) => plain(text)));
  const byMeaning = near
    .filter(({ text }) => !isListed.has(plain(text)))
    .map((passage) => {
      const alone = Object.assign({ match: 'meaning' as const }, WITHOUT_WORDS, passage);
      return Object.assign({}, known.get(passage.id) ?? alone, { score: 1 - passage.distance });
    });
  const second = arrange(byMeaning).map((passage) => known.get(passage.id) ?? passage);
  for (const { text } of second) isListed.add(plain(text));
  return [...first, ...second, ...byWords.filter(({ text }) => !isListed.has(plain(text)))];
}
