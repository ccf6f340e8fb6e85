import type { Database } from '../database.ts';
import type { SearchFilter } from './find-candidates.ts';
import type { PassageKind } from './found-passage.ts';
import type { RankedCandidate } from './candidate.ts';
import type { SearchedScope } from './scope.ts';

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/giu;
/** Ids of one query that are looked up. */
const MOST_IDS = 10;

/** The beginnings of entries and summaries that a query names by their ids. */
export async function findByIds(
  sql: Database,
  scope: SearchedScope,
  text: string,
  { kinds }: SearchFilter,
): Promise<RankedCandidate[]> {
  const ids = [...new Set([...text.matchAll(UUID)].map(([id]) => id.toLowerCase()))].slice(0, MOST_IDS);
  if (ids.length === 0) return [];
  const rows = await sql<
    {
      conversation_id: string;
      source_id: string;
      kind: PassageKind;
      sequence: number | null;
      tool_name: string | null;
      character_offset: number;
      text: string;
      words: number;
      created_at: Date;
    }[]
  >`
    select distinct on (source_id) conversation_id, source_id, kind, sequence, tool_name, character_offset, text, words, created_at
    from passages
    where source_id = any(${ids}::uuid[]) and ${
      scope.conversationId === null
        ? sql`conversation_id in (select id from conversations where agent = ${scope.agent})`
        : sql`conversation_id = ${scope.conversationId}`
    }
      ${kinds === undefined ? sql`` : sql`and kind = any(${[...kinds]})`}
    order by source_id, character_offset`;
  return rows.map((row) => ({
    conversationId: row.conversation_id,
    sourceId: row.source_id,
    kind: row.kind,
    sequence: row.sequence,
    toolName: row.tool_name,
    offset: row.character_offset,
    text: row.text,
    vector: '',
    words: row.words,
    createdAt: row.created_at,
    gathered: 0,
    score: 0,
    match: 'id',
    isSaidByAsked: false,
    matched: [],
  }));
}
