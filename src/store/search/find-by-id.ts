import type { Database } from '../database.ts';
import { inTime } from './filtered-passages.ts';
import type { SearchFilter } from './filtered-passages.ts';
import type { RankedCandidate } from './candidate.ts';
import { headColumns, headOf } from './passage-rows.ts';
import type { PassageHeadRow } from './passage-rows.ts';
import type { SearchedScope } from './scope.ts';

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/giu;
/** Ids of one query that are looked up. */
const MOST_IDS = 10;

/** The beginnings of entries and summaries that a query names by their ids. */
export async function findByIds(
  sql: Database,
  scope: SearchedScope,
  text: string,
  filter: SearchFilter,
): Promise<RankedCandidate[]> {
  const { kinds } = filter;
  const ids = [...new Set([...text.matchAll(UUID)].map(([id]) => id.toLowerCase()))].slice(0, MOST_IDS);
  if (ids.length === 0) return [];
  const rows = await sql<(PassageHeadRow & { readonly text: string })[]>`
    select distinct on (p.source_id) p.text, ${headColumns(sql)}
    from passages p
    where p.source_id = any(${ids}::uuid[]) and ${
      scope.conversationId === null
        ? sql`p.conversation_id in (select id from conversations where agent = ${scope.agent})`
        : sql`p.conversation_id = ${scope.conversationId}`
    }
      ${kinds === undefined ? sql`` : sql`and p.kind = any(${[...kinds]})`}
      ${inTime(sql, filter)}
    order by p.source_id, p.character_offset`;
  return rows.map((row) =>
    Object.assign(headOf(row), {
      text: row.text,
      vector: '',
      gathered: 0,
      score: 0,
      match: 'id' as const,
      isSaidByAsked: false,
      asks: false,
      matched: [],
    }),
  );
}
