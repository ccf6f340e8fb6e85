import type { RecallKind, RecallFilter } from '../../tools/tool.ts';
import type { Fragment, Queries } from '../database/database.ts';
import { isWanted } from './scope.ts';
import type { SearchedScope } from './scope.ts';
import type { ScoredPlace } from './rank.ts';

export interface ReadPassage {
  readonly id: string;
  readonly conversationId: string;
  /** Of the entry, or of the compaction. */
  readonly sourceId: string;
  readonly kind: RecallKind;
  readonly sequence: number | null;
  readonly toolName: string | null;
  readonly path: string | null;
  /** Characters (UTF-16 code units) from the start of the whole text. */
  readonly offset: number;
  readonly text: string;
  readonly place: number | null;
  readonly isQuestion: boolean;
  readonly createdAt: Date;
  readonly saidAt: Date;
  readonly user: string | null;
  /** The branch that it was said on, if its conversation goes on with another. */
  readonly leftBranch: number | null;
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/giu;
const MOST_IDS = 10;

/** Columns of `ReadPassage`, of `passages p` and its `conversations c`. */
export function passageColumns(sql: Queries): Fragment {
  return sql`p.id, p.conversation_id, p.source_id, p.kind, p.sequence,
    p.tool_name, p.path, p.character_offset as "offset", p.text, p.place, p.is_question,
    p.created_at, p.said_at, c.user_name as "user", ${leftBranch(sql)} as left_branch`;
}

/** Of `passages p` and its `conversations c`. A summary was left only if what it is of does not stand on the active path. */
export function leftBranch(sql: Queries): Fragment {
  // Not "exists": Postgres would read the branches of all conversations once for it.
  return sql`case when (select true from branches f where f.conversation_id = c.id and f.branch > 0 limit 1) then (
      select e.branch from (select) as one left join compactions k on k.id = p.source_id
        left join entries r on r.conversation_id = k.conversation_id and r.sequence = k.covered_through_sequence
        join entries e on e.id = coalesce(k.marker_entry_id, p.source_id)
      where not exists (
        select from branches b where b.conversation_id = c.id and b.branch = c.branch
          and b.ancestor = coalesce(r.branch, e.branch) and coalesce(r.sequence, e.sequence) <= b.through_sequence)
    ) end`;
}

export async function readPlaces(
  sql: Queries,
  places: readonly ScoredPlace[],
  filter: RecallFilter,
): Promise<readonly ReadPassage[]> {
  const ids = places.flatMap(({ candidate }) => candidate?.id ?? []);
  const beside = places.filter(({ candidate }) => candidate === null);
  return sql<ReadPassage[]>`
    select ${passageColumns(sql)} from (
      select p.* from passages p where p.id = any(${ids}::bigint[])
      union all
      select p.* from unnest(${beside.map(({ conversationId }) => conversationId)}::uuid[],
        ${beside.map(({ place }) => place)}::int[]) as b (conversation_id, place)
      join passages p on p.conversation_id = b.conversation_id and p.place = b.place) p
    join conversations c on c.id = p.conversation_id
    where true ${isWanted(sql, filter)}`;
}

/** The beginnings of entries and summaries that a query names by their ids. */
export async function readByIds(
  sql: Queries,
  scope: SearchedScope,
  text: string,
  filter: RecallFilter,
): Promise<readonly ReadPassage[]> {
  const ids = (text.match(UUID) ?? []).slice(0, MOST_IDS);
  if (ids.length === 0) return [];
  return sql<ReadPassage[]>`
    select distinct on (p.source_id) ${passageColumns(sql)}
    from passages p join conversations c on c.id = p.conversation_id
    where p.source_id = any(${ids}::uuid[]) and ${isOfScope(sql, scope)} ${isWanted(sql, filter)}
    order by p.source_id, p.character_offset`;
}

/** Condition on `conversations c`. */
export function isOfScope(sql: Queries, { tenant, agent, conversationId }: SearchedScope): Fragment {
  const isSearched = conversationId === null ? sql`` : sql`and c.id = ${conversationId}`;
  return sql`c.tenant = ${tenant} and c.agent = ${agent} ${isSearched}`;
}
