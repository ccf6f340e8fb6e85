import type { RecallPassage } from '../tools/tool.ts';
import type { Database, Queries } from './database.ts';
import { isId } from './ids.ts';
import { indexConversation } from './search-index.ts';
import { queryTerms } from './search-terms.ts';
import { isoTime, plainText } from './stored-text.ts';

export { indexConversation } from './search-index.ts';

export type PassageKind = 'user' | 'assistant' | 'tool_result' | 'note' | 'branch_summary' | 'summary';

export interface MemoryQuery {
  readonly conversationId: string;
  readonly query: string;
  /** Default 10, at most 100. */
  readonly limit?: number;
  /** Default: all. */
  readonly kinds?: readonly PassageKind[];
  /** Tools whose results are not searched: a search must not find earlier searches. */
  readonly excludeTools?: readonly string[];
}

/** `entryId` is the compaction's id for a passage of a summary. */
export interface FoundPassage extends RecallPassage {
  readonly kind: PassageKind;
  /** Of the entry; `null` for a summary. */
  readonly sequence: number | null;
  readonly score: number;
  /** Why it is listed: the query stands in it as it is, words of it do, or something like it. */
  readonly match: 'phrase' | 'words' | 'similar';
}

const DEFAULT_LIMIT = 10;
const LARGEST_LIMIT = 100;
/** Shorter queries would find their letters everywhere. Characters. */
const SHORTEST_PHRASE = 3;
/** Below this likeness of letters (pg_trgm's word_similarity) two words are strangers; pg_trgm's own default is 0.6. */
const SMALLEST_SIMILARITY = 0.5;

/**
 * Ranked passages over originals, summaries, notes and tool results of a conversation, all its
 * branches; indexes first what came since the last search. Passages that have the query as it is
 * come first, then those with its words, rare words counting more; when words find nothing, what
 * looks alike.
 * Summaries come after originals: they repeat what these say, and the newest is in the view anyhow.
 */
export async function searchMemory(sql: Database, query: MemoryQuery): Promise<FoundPassage[]> {
  const phrase = plainText(query.query.trim());
  if (phrase === '' || !isId(query.conversationId)) return [];
  const [conversation] = await sql`select 1 from conversations where id = ${query.conversationId}`;
  if (conversation === undefined) return [];
  await indexConversation(sql, query.conversationId);
  const limit = Math.min(query.limit ?? DEFAULT_LIMIT, LARGEST_LIMIT);
  const found = await findByWords(sql, query, { phrase, terms: queryTerms(phrase), limit });
  return found.length > 0 ? found : findSimilar(sql, query, phrase, limit);
}

interface PassageColumns {
  readonly source_id: string;
  readonly kind: PassageKind;
  readonly sequence: number | null;
  readonly character_offset: number;
  readonly text: string;
  readonly created_at: Date;
  readonly score: number;
  readonly exact: boolean;
}

function inScope(sql: Queries, { conversationId, kinds, excludeTools }: MemoryQuery) {
  return sql`p.conversation_id = ${conversationId}
    ${kinds === undefined ? sql`` : sql`and p.kind = any(${[...kinds]})`}
    ${excludeTools === undefined ? sql`` : sql`and (p.tool_name is null or p.tool_name <> all(${[...excludeTools]}))`}`;
}

/** A term that more of the passages have than this tells little; it counts only when no rarer one is found. */
const COMMON_SHARE = 0.3;

/**
 * The score of a passage is the sum over the query's terms that it has of ln(1 + (N − n + ½) / (n + ½)),
 * BM25's weight of a term that n of N passages have: frequencies inside short passages say little.
 */
async function findByWords(
  sql: Database,
  query: MemoryQuery,
  { phrase, terms, limit }: { readonly phrase: string; readonly terms: readonly string[]; readonly limit: number },
): Promise<FoundPassage[]> {
  const like = `%${phrase.replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`;
  const weighted = await weighTerms(sql, query, terms);
  const rows = await sql<PassageColumns[]>`
    with hits as (
      select p.id, false as exact, t.weight from unnest(
        ${weighted.map(({ term }) => quoteTerm(term))}::text[], ${weighted.map(({ weight }) => weight)}::float8[]) as t (quoted, weight)
      cross join lateral (
        select p.id from passages p where ${inScope(sql, query)} and p.terms @@ t.quoted::tsquery) as p
      union all
      select p.id, true, 0 from passages p
      where ${phrase.length >= SHORTEST_PHRASE} and ${inScope(sql, query)} and p.text ilike ${like}
    ), scores as (
      select id, bool_or(exact) as exact, sum(weight) as score from hits group by id
    )
    select p.source_id, p.kind, p.sequence, p.character_offset, p.text, p.created_at, s.exact, s.score
    from scores s join passages p on p.id = s.id
    order by s.exact desc, p.kind = 'summary', s.score desc, p.created_at desc, p.sequence desc, p.source_id, p.character_offset
    limit ${limit}`;
  return rows.map((row) => toFound(row, row.exact ? 'phrase' : 'words'));
}

/** The terms worth looking for, with their weights. */
async function weighTerms(
  sql: Database,
  query: MemoryQuery,
  terms: readonly string[],
): Promise<{ readonly term: string; readonly weight: number }[]> {
  const counts = await sql<{ term: string; passages: number; total: number }[]>`
    select t.term, total.passages as total,
      (select count(*) from passages p where ${inScope(sql, query)} and p.terms @@ t.quoted::tsquery)::int as passages
    from unnest(${[...terms]}::text[], ${terms.map(quoteTerm)}::text[]) as t (term, quoted)
    cross join (select count(*)::int as passages from passages p where ${inScope(sql, query)}) as total`;
  const found = counts.filter(({ passages }) => passages > 0);
  const telling = found.filter(({ passages, total }) => passages <= total * COMMON_SHARE);
  return (telling.length > 0 ? telling : found).map(({ term, passages, total }) => ({
    term,
    weight: Math.log(1 + (total - passages + 0.5) / (passages + 0.5)),
  }));
}

/** A lexeme as a query understands it, whatever characters it has. */
function quoteTerm(term: string): string {
  return `'${term.replaceAll(/['\\]/gu, String.raw`$&$&`)}'`;
}

async function findSimilar(sql: Database, query: MemoryQuery, phrase: string, limit: number): Promise<FoundPassage[]> {
  const [extension] = await sql`select 1 from pg_extension where extname = 'pg_trgm'`;
  if (extension === undefined) return [];
  const rows = await sql<PassageColumns[]>`
    select p.source_id, p.kind, p.sequence, p.character_offset, p.text, p.created_at, false as exact,
      word_similarity(${phrase}, p.text)::float8 as score
    from passages p
    where ${inScope(sql, query)} and word_similarity(${phrase}, p.text) >= ${SMALLEST_SIMILARITY}
    order by score desc, p.created_at desc, p.sequence desc, p.source_id, p.character_offset
    limit ${limit}`;
  return rows.map((row) => toFound(row, 'similar'));
}

function toFound(row: PassageColumns, match: FoundPassage['match']): FoundPassage {
  return {
    entryId: row.source_id,
    kind: row.kind,
    sequence: row.sequence,
    createdAt: isoTime(row.created_at),
    offset: row.character_offset,
    text: row.text,
    score: row.score,
    match,
  };
}
